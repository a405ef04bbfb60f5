"""Score files: JSON with the results of all runs of all methods on one problem."""

import pydantic
from pydantic import Field

from narxbench._io.files import StrPath
from narxbench._io.settings import Line, Settings, read_result
from narxbench._study.condition import MOST, ProblemKey

# The references that methods are compared with. No method may have their names.
REFERENCES = TRUTH, EVERYTHING = "truth", "all-candidates"
# The failure of a method that is not run on a data set, because it would need too long.
TIME = "time"


class ScoredRun(Settings):
    """One run. ``fitness`` is null when it failed or every structure was divergent."""

    seed: int = Field(ge=-MOST, le=MOST)
    fitness: float | None
    evaluations: int = Field(ge=0, le=MOST)
    terms: list[str]
    fresh_error: float | None = Field(ge=0)
    """RRSE of the free run on fresh data; null when it diverges."""
    failure: Line
    """Why the run failed, or "" if it did not."""

    @pydantic.model_validator(mode="after")
    def _consistent(self) -> "ScoredRun":
        if (self.fitness is None) != (not self.terms):
            raise ValueError("found terms without a fitness, or a fitness without terms")
        return self


class ScoredMethod(Settings):
    """All runs of one method. A deterministic one has one run."""

    method: Line = Field(min_length=1)
    algorithm: Line
    minimises: bool = True
    """Whether it searches for the lowest J."""
    reference: bool = False
    """Whether it is no method but a reference: the system terms, or all candidate terms."""
    budget: int = Field(ge=1, le=MOST)
    runs: list[ScoredRun] = Field(min_length=1)

    @pydantic.model_validator(mode="after")
    def _each_seed_once(self) -> "ScoredMethod":
        if len({run.seed for run in self.runs}) != len(self.runs):
            raise ValueError("found a seed twice; allowed: each once")
        return self


class Score(ProblemKey):
    """The content of a score file."""

    data_seed: int = Field(ge=-MOST, le=MOST)
    held_out: bool = False
    """Whether no method was developed or tuned on its system and data seed."""
    n_terms: int = Field(ge=1, le=MOST)
    samples: int = Field(ge=1, le=MOST)
    n_validation: int = Field(ge=1, le=MOST)
    """L, the samples that J is computed on."""
    data_sha256: str
    true_terms: list[str]
    """The system terms; none if they are not among the candidate terms."""
    true_fitness: float | None
    """J of the system terms; null where it is not finite or there are no such terms."""
    methods: list[ScoredMethod] = Field(min_length=1)
    seals: dict[str, str]
    """The seals of the runs, by method, criterion and seed."""

    @pydantic.model_validator(mode="after")
    def _each_method_once(self) -> "Score":
        if len({method.method for method in self.methods}) != len(self.methods):
            raise ValueError("found a method twice; allowed: each once")
        return self


def read_score(path: StrPath) -> Score:
    """Read a score file. One that is missing, damaged or of another version raises NarxbenchError."""
    return read_result(Score, path, "score file")

"""Results of methods that others ran with programs of their own: the file, what is checked, what is taken on trust.

A file names structures; J, hits and errors on fresh data are computed here from them, like those of every other run.
The number of evaluations and the history are claims: they cannot be made again, and are only held against the checked
J.
"""

import math
import sys
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator
from functools import lru_cache
from typing import Annotated, Any, Literal

import pydantic
import pydantic_core
from pydantic import AfterValidator, Field, JsonValue

from narxbench.experiment.condition import History
from narxbench.experiment.runs import Run, finite
from narxbench.experiment.score_file import REFERENCES
from narxbench.fitness.problem import StructureProblem
from narxbench.io.errors import NarxbenchError
from narxbench.io.files import StrPath, canonical_json, read_text
from narxbench.io.settings import Problem, Settings, SettingsError, described_as, flattened, show, validated
from narxbench.model.dataset import snr_label

MOST_BYTES = 50_000_000
# Other programs round otherwise: J may differ by this times L, which is the squared error by this share.
TOLERANCE = 1e-6
_MOST_SETTINGS, _LONGEST_SETTING = 100, 200


def _plain(text: str) -> str:
    if not text.isprintable():
        raise ValueError(f"found {show(text, kind=False)}; allowed: plain text of one line, no control characters")
    return text


def _showable(settings: dict[str, JsonValue]) -> dict[str, JsonValue]:
    # As the page shows them, one line for each.
    lines = list(flattened(settings))
    if len(lines) > _MOST_SETTINGS:
        raise ValueError(f"found {len(lines)} settings; allowed: up to {_MOST_SETTINGS}")
    for name, value in lines:
        if len(name + value) > _LONGEST_SETTING or not (name + value).isprintable():
            text = f"found {show(name, kind=False)} with {show(value, kind=False)}; allowed: plain text of one line, "
            raise ValueError(f"{text}name and value of up to {_LONGEST_SETTING} characters together")
    return settings


MethodName = Annotated[
    str,
    Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9_-]*$", max_length=40),
    described_as("a name of up to 40 letters, digits, _ and - that starts with a letter or digit"),
]
_PLAIN = Field(min_length=1), AfterValidator(_plain)
Label = Annotated[str, *_PLAIN, Field(max_length=100), described_as("plain text of one line, 1 to 100 characters")]
Text = Annotated[str, *_PLAIN, Field(max_length=500), described_as("plain text of one line, 1 to 500 characters")]
Address = Annotated[
    str,
    Field(pattern=r"^https?://[^\s<>\"'\\]+$", max_length=300),
    AfterValidator(_plain),
    described_as("an address that starts with https:// or http://, up to 300 characters"),
]
Digest = Annotated[
    str, Field(pattern=r"^[0-9a-f]{64}$"), described_as("a SHA-256 digest of 64 hexadecimal digits, a to f small")
]
Whole = Annotated[int, Field(ge=0, le=1_000_000_000)]


class ClaimedHistory(Settings):
    """The best J so far, at each improvement. It ends at J of the structure that the run returned."""

    evaluations: list[Whole] = Field(min_length=1, max_length=100_000)
    """Evaluations made, ascending."""
    fitness: list[float] = Field(min_length=1, max_length=100_000)
    """J, falling."""

    @pydantic.model_validator(mode="after")
    def _in_order(self) -> "ClaimedHistory":
        made, best = self.evaluations, self.fitness
        for wrong, text in (
            (len(made) != len(best), f"{len(made)} evaluations and {len(best)} values of J; allowed: equally many"),
            (made != sorted(set(made)), "evaluations in another order; allowed: ascending, each once"),
            (best != sorted(set(best), reverse=True), "a J that does not fall; allowed: improvements only"),
            (made[0] < 1, "an improvement before the first evaluation; allowed: from 1 on"),
        ):
            if wrong:
                raise ValueError(f"found {text}")
        return self


class Result(Settings):
    """What one run on one problem returned."""

    problem: Label
    """SCENARIO/SYSTEM/SNRdB/data-SEED/CRITERION, as the export of the problems names it."""
    data_sha256: Digest
    """SHA-256 digest of the data set that the run saw."""
    seed: Whole
    """Number of the run."""
    terms: list[Annotated[str, Field(max_length=200)]] = Field(max_length=10_000)
    """The structure, e.g. ``["y(k-1)", "u(k-1)^2"]``. Empty: the run failed or found nothing."""
    coefficients: list[float] | None = Field(default=None, max_length=10_000)
    """Weights in the order of the terms; they are judged on fresh data. None: least squares, as in J."""
    evaluations: Whole
    """Evaluations of J that the run made; a method that uses no J has the 1 of its structure."""
    history: ClaimedHistory | None = None
    """The course of the run. None: it counts as if the structure was found by the last evaluation."""

    @pydantic.model_validator(mode="after")
    def _consistent(self) -> "Result":
        terms, weights, last = len(self.terms), self.coefficients, self.history and self.history.evaluations[-1]
        for wrong, text in (
            (weights is not None and len(weights) != terms, f"{terms} terms, and weights for another number of them"),
            (terms and not self.evaluations, "a structure without an evaluation; allowed: at least 1, its own"),
            (last and not terms, "a history without a structure; allowed: with one"),
            ((last or 0) > self.evaluations, f"a history of {last} evaluations in a run of {self.evaluations}"),
        ):
            if wrong:
                raise ValueError(f"found {text}")
        return self


class Contribution(Settings):
    """The content of a result file: a method of others, and what its runs returned."""

    format: Annotated[Literal[1], described_as("1")]
    """Version of this format."""
    method: MethodName
    """Name of the method in tables."""
    title: Label
    """The method in a few words."""
    reference: Text
    """Where it is published."""
    authors: Text
    """Who contributes the results."""
    url: Address | None = None
    """Where program or publication can be found."""
    version: Label
    """Version of the program that made the runs."""
    deterministic: bool
    """Whether the method draws no random numbers; it then has one run on each problem."""
    minimises: bool = True
    """Whether the method searches for the lowest J. Others are not compared by the J that they reach."""
    settings: Annotated[dict[str, JsonValue], AfterValidator(_showable)]
    """Settings of the method, for readers."""
    results: list[Result] = Field(min_length=1, max_length=100_000)
    """One for each problem and seed."""

    @pydantic.model_validator(mode="after")
    def _each_run_once(self) -> "Contribution":
        seeds: dict[str, list[int]] = defaultdict(list)
        problems = []
        for i, result in enumerate(self.results):
            if result.seed in seeds[result.problem]:
                text = f"found a second run of seed {result.seed} on {result.problem}; allowed: one"
                problems.append(Problem(("results", i), text))
            seeds[result.problem].append(result.seed)
        first = sorted(next(iter(seeds.values())))
        if self.deterministic and len(first) > 1:
            text = f"found {len(first)} runs of a deterministic method on a problem; allowed: one"
            problems.append(Problem(("results",), text))
        for name, own in seeds.items():
            # Runs that are left out here and there could be the bad ones.
            if sorted(own) != first and not problems:
                text = f"found the seeds {show(sorted(own), kind=False)} on {name}; allowed: {show(first, kind=False)}"
                problems.append(Problem(("results",), f"{text}, as on the first problem; failed runs have no terms"))
        if problems:
            raise SettingsError(problems)
        return self


def load_contribution(path: StrPath) -> Contribution:
    """Read a result file.

    Raises
    ------
    NarxbenchError
        One line for each mistake: file, place, what was found, what is allowed.
    """
    return _read(str(path), read_text(path, MOST_BYTES))


@lru_cache(maxsize=32)  # the scores of every problem read the same files
def _read(path: str, text: str) -> Contribution:
    try:
        content = pydantic_core.from_json(text)
    except ValueError as error:
        raise NarxbenchError(f"{path}: not valid JSON: {error}") from None
    # Python and others write what JSON has not got.
    if wrong := next(_not_finite(content), None):
        raise SettingsError([wrong], path)
    return validated(Contribution, content, path)


def _not_finite(value: object, path: tuple[str | int, ...] = ()) -> Iterator[Problem]:
    if isinstance(value, float) and not math.isfinite(value):
        found = "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
        yield Problem(path, f"found {found}; allowed: a number or null")
    elif isinstance(value, (dict, list)):
        for key, entry in value.items() if isinstance(value, dict) else enumerate(value):
            yield from _not_finite(entry, (*path, key))


def load_contributions(paths: Iterable[StrPath], taken: Collection[str] = ()) -> list[Contribution]:
    """Read result files; ``taken`` are the methods of the study, whose names are not free.

    Raises
    ------
    NarxbenchError
        In one line for a method that there is already, and as :func:`load_contribution`.
    """
    found: list[Contribution] = []
    for path in paths:
        contribution = load_contribution(path)
        check_name(contribution, path, [*taken, *(earlier.method for earlier in found)])
        found.append(contribution)
    return found


def check_name(contribution: Contribution, path: StrPath, taken: Collection[str]) -> None:
    """Raise NarxbenchError if the method's name, in whatever case, is taken."""
    if contribution.method.casefold() in map(str.casefold, (*taken, *REFERENCES)):
        text = f"method: found {contribution.method!r}, which there is already; allowed: any other name"
        raise NarxbenchError(f"{path}: {text}")


def problem_name(*, scenario: str, system: str, snr_db: float, data_seed: int, criterion: str) -> str:
    """Return what result files call a problem.

    Examples
    --------
    >>> problem_name(scenario="base", system="S1", snr_db=40.0, data_seed=1, criterion="bic")
    'base/S1/40dB/data-1/bic'
    """
    return f"{scenario}/{system}/{snr_label(snr_db)}dB/data-{data_seed}/{criterion}"


def contributed_runs(
    contribution: Contribution,
    path: StrPath,
    *,
    problem: str,
    searched: StructureProblem,
    data_sha256: str,
    budget: int,
) -> list[Run]:
    """Return the runs of a contribution on a problem in the order of their seeds, every structure evaluated here.

    Terms are brought into canonical order. A history is followed down to the checked J, at which it must end: a better
    structure that was not returned cannot be checked.

    Raises
    ------
    NarxbenchError
        One line for each result that is of other data, over the budget, or of unknown terms, and for each history that
        does not end at J of its structure.
    """
    runs, problems = [], []
    for i, result in enumerate(contribution.results):
        if result.problem == problem:
            try:
                runs.append(_checked(result, searched, data_sha256, budget))
            except SettingsError as error:
                problems += [Problem(("results", i, *wrong.path), wrong.text) for wrong in error.problems]
    if problems:
        raise SettingsError(problems, str(path))
    return sorted(runs, key=lambda run: run.seed)


def _checked(result: Result, searched: StructureProblem, data_sha256: str, budget: int) -> Run:
    if result.data_sha256 != data_sha256:
        text = f"found {show(result.data_sha256, kind=False)}; needed: {show(data_sha256, kind=False)}, the digest of "
        raise SettingsError([Problem(("data_sha256",), f"{text}the data set of {result.problem}")])
    if result.evaluations > budget:
        text = f"found {result.evaluations}; allowed: up to {budget}, the budget of every method"
        raise SettingsError([Problem(("evaluations",), text)])
    try:
        found = searched.evaluate(result.terms)
    except NarxbenchError as error:
        raise SettingsError([Problem(("terms",), str(error))]) from None
    fitness, weights, failure = finite(found.fitness), {}, ""
    if fitness is not None:
        weights = dict(zip(found.terms, result.coefficients or found.coefficients, strict=True))
    elif result.history:
        text = f"found J = {result.history.fitness[-1]!r} at its end; the structure of the run has no finite J"
        raise SettingsError([Problem(("history",), text)])
    else:
        failure = "its structure has no finite J" if result.terms else "it returned no structure"
    terms = [term for term in searched.terms if term in weights]
    return Run(
        seed=result.seed,
        data_sha256=result.data_sha256,
        evaluations=result.evaluations,
        fitness=fitness,
        sse=None if fitness is None else finite(found.sse),
        terms=terms,
        coefficients=[weights[term] for term in terms],
        history=_history(result, fitness, TOLERANCE * len(searched.data.measured)),
        failure=failure,
    )


def _history(result: Result, fitness: float | None, tolerance: float) -> History:
    if fitness is None:
        return History(evaluations=[], fitness=[])
    if result.history is None:
        return History(evaluations=[result.evaluations], fitness=[fitness])
    made, best = result.history.evaluations, result.history.fitness
    if abs(best[-1] - fitness) > tolerance:
        text = f"found J = {best[-1]!r} at its end; the structure of the run has {fitness!r}; leave out the history, "
        raise SettingsError([Problem(("history",), f"{text}or let it end where this structure was found")])
    above = sum(value > fitness + tolerance for value in best)
    return History(evaluations=made[: above + 1], fitness=[*best[:above], fitness])


def about_contributions(contributions: Iterable[Contribution]) -> dict[str, dict[str, Any]]:
    """Return what the leaderboard says of contributed methods, as ``Plan.about_methods`` does of the study's own."""
    return {
        found.method: {
            "algorithm": "contributed",
            "description": f"{found.title}, version {found.version}",
            "reference": " ".join(filter(None, (found.reference, found.url))),
            "deterministic": found.deterministic,
            # What the program looked at is not known.
            "needs_objective": True,
            "minimises": found.minimises,
            "settings": found.settings,
            "contributed": found.authors,
        }
        for found in contributions
    }


if __name__ == "__main__":
    sys.stdout.write(canonical_json(Contribution.model_json_schema(), indent=1))

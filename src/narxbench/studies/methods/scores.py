"""The scores of a problem: what all runs of all methods on it found, checked, and judged on fresh data.

Ranks, targets and tests are the analysis's: a score file only collects.
"""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from narxbench.algorithms.contract import OwnCriterion
from narxbench.algorithms.objective import view_of
from narxbench.algorithms.registry import algorithm
from narxbench.algorithms.search import budget
from narxbench.algorithms.training import whole_record
from narxbench.fitness.kernel.problem_data import DIVERGENCE_FACTOR
from narxbench.fitness.problem import StructureProblem
from narxbench.io.errors import NarxbenchError
from narxbench.io.files import canonical_json, read_bytes, sha256
from narxbench.model.dataset import Signals, read_signals
from narxbench.model.excitation import excitation_of
from narxbench.model.narx import scores
from narxbench.model.prediction import simulated
from narxbench.model.system import System
from narxbench.model.terms import parse_term
from narxbench.studies.methods.score_file import EVERYTHING, TRUTH, Score, ScoredMethod, ScoredRun
from narxbench.study.condition import ConditionKey, History, ProblemKey
from narxbench.study.runs import RunRecord, finite, load_problem, read_run_file, read_runs, size_of

# The realisation of a system's data that no run sees: those of runs count from 1.
FRESH = 0


def score(
    runs: Mapping[str, Sequence[str]],
    data: str,
    *,
    problem: Mapping[str, Any],
    methods: Mapping[str, Mapping[str, Any]],
    system: Mapping[str, Any],
    structure: Mapping[str, Any],
    fresh: Mapping[str, Any],
    held_out: bool = False,
) -> str:
    """Read the run files of all methods on a problem and return the text of its score file.

    The structure of every run is evaluated again, so that an edited J is found. Its model, with the weights of the run,
    is judged on fresh data: another input to the same system, without noise. So are two references: the system terms,
    and all candidate terms, both with weights by least squares over all samples.

    ``runs`` are the run files of each method in the order of its seeds, ``problem`` the fields of :class:`ProblemKey`,
    ``system`` and ``structure`` the arguments of :class:`~narxbench.model.system.System` and of
    :class:`~narxbench.fitness.problem.StructureProblem`. ``methods`` says what each method's runs were made with, and
    ``fresh`` what the fresh data have of ``samples``, ``washout`` and ``excitation`` (None: that of the system). Where
    the terms of the system are no candidates, no structure is right.
    """
    key = ProblemKey(**problem)
    known = System(**system)
    digest = sha256(read_bytes(data))
    searched = load_problem(data, digest, criterion=key.criterion, **structure)
    true = known.terms if {*known.terms} <= {*searched.terms} else []
    excitation = None if fresh["excitation"] is None else excitation_of(fresh["excitation"])
    unseen = known.simulate(**{**fresh, "excitation": excitation}, seed=key.data_seed, realisation=FRESH)
    judge = _Judge(searched, true, unseen)
    found = []
    for name, files in runs.items():
        made = methods[name]
        allowed = budget(made["settings"], made["evaluations"])
        file, of_seeds = read_runs(
            files,
            dict.fromkeys(made["seeds"], digest),
            allowed,
            searched.terms,
            stops_early=made["stops_early"],
            condition=ConditionKey(**dict(key), method=name),
            algorithm=made["algorithm"],
            settings=made["settings"],
            problem=size_of(searched),
        )
        for run in of_seeds:
            if wrong := judge.mistake(run):
                path = next(path for path in files if run in read_run_file(path).runs)
                raise NarxbenchError(f"{path}: seed {run.seed}: {wrong}; delete it and run again")
        own = judge.own_criterion(made)
        found.append(
            ScoredMethod(
                method=name,
                algorithm=made["algorithm"],
                deterministic=made["deterministic"],
                minimises=made["minimises"],
                versions=file.versions,
                algorithm_sha256=file.algorithm_sha256,
                budget=allowed,
                runs=[judge.scored(run, own) for run in of_seeds],
            )
        )
    found += judge.references(file.versions)
    content = Score(
        **dict(key),
        n_terms=len(searched.terms),
        samples=len(read_signals(data, ("y",))[0]),
        n_validation=len(searched.data.measured),
        penalty=float(searched.data.penalties[1]),
        data_sha256=digest,
        held_out=held_out,
        true_terms=len(true),
        true_fitness=finite(searched.evaluate(true).fitness),
        methods=found,
    )
    return canonical_json(content.model_dump(mode="json"))


class _Judge:
    """Checks and scores the runs on one problem; equal models are judged once."""

    def __init__(self, problem: StructureProblem, true: Sequence[str], fresh: Signals) -> None:
        self._problem, self._true, self._fresh = problem, {*true}, fresh
        self._view = view_of(problem)
        self._errors: dict[tuple[Any, ...], float | None] = {}

    def mistake(self, run: RunRecord) -> str:
        """Return what a run file says wrongly of a run, or nothing."""
        fitness, best = finite(self._problem.evaluate(run.terms).fitness), run.history.fitness
        if run.fitness != fitness:
            return f"found the fitness {run.fitness}; its structure has {fitness}"
        if best != sorted(set(best), reverse=True) or (fitness is not None and min(best, default=math.inf) > fitness):
            return "found a history that does not fall to the fitness"
        return ""

    def own_criterion(self, made: Mapping[str, Any]) -> OwnCriterion | None:
        """Return the criterion by which a method chooses, of a structure; None where it is not known.

        It is J where the method minimises J. Other algorithms of this package may say it themselves.
        """
        if made["minimises"]:
            return self.fitness
        return algorithm(made["algorithm"]).own_criterion(self._view, made["settings"])

    def fitness(self, position: NDArray[np.uint8]) -> float:
        """Return J of a structure, shape (N_t,)."""
        return float(self._problem.evaluate_positions(position[None])[0][0])

    def references(self, versions: Mapping[str, str]) -> list[ScoredMethod]:
        """Return what methods are held against, as methods of one run: the system terms, and all candidate terms."""
        whole, found = whole_record(self._view), []
        structures = {TRUTH: [term for term in self._problem.terms if term in self._true], EVERYTHING: whole.terms}
        for name, terms in structures.items():
            if not terms:
                continue
            fitness, weights = finite(self._problem.evaluate(terms).fitness), whole.evaluate(terms).coefficients
            if fitness is None or not any(weights):
                fitness, terms, weights = None, [], []
            best = [] if fitness is None else [fitness]
            run = RunRecord(
                seed=1,
                data_sha256="",
                evaluations=1,
                fitness=fitness,
                sse=None,
                terms=terms,
                coefficients=weights,
                history=History(evaluations=[1] * len(best), fitness=best),
                failure="" if best else "its structure has no finite J",
            )
            found.append(
                ScoredMethod(
                    method=name,
                    algorithm="least squares",
                    deterministic=True,
                    minimises=False,
                    reference=True,
                    versions=dict(versions),
                    algorithm_sha256="",
                    budget=1,
                    runs=[self.scored(run)],
                )
            )
        return found

    def _excess(self, terms: Sequence[str], own: OwnCriterion | None) -> float | None:
        """Return how far a criterion at a structure lies above that at the system terms."""
        if own is None or not terms or not self._true:
            return None
        positions = ([term in chosen for term in self._problem.terms] for chosen in (terms, self._true))
        found, true = (own(np.array(position, np.uint8)) for position in positions)
        return finite(found - true)

    def scored(self, run: RunRecord, own: OwnCriterion | None = None) -> ScoredRun:
        """Return a run with the scores of its structure; ``own`` is the criterion of its method."""
        model = tuple(run.terms), tuple(run.coefficients)
        if run.terms and model not in self._errors:
            first = max(self._problem.n_u, self._problem.n_y)
            self._errors[model] = fresh_error(*model, self._fresh, first)
        return ScoredRun(
            seed=run.seed,
            fitness=run.fitness,
            evaluations=run.evaluations,
            terms=run.terms,
            hits=len({*run.terms} & self._true),
            fresh_error=self._errors.get(model),
            excess=self._excess(run.terms, own),
            failure=" ".join(run.failure.split()),
            history=run.history,
        )


def fresh_error(terms: Sequence[str], coefficients: Sequence[float], data: Signals, first: int) -> float | None:
    """Return the RRSE of a model's free run from the sample ``first`` on; the outputs before it are given.

    None for one that diverges, by the bound that holds for the fitness, and where the outputs are all the same.
    """
    bound = DIVERGENCE_FACTOR * float(abs(data.y).max())
    y, end = simulated([parse_term(term) for term in terms], coefficients, data.u, data.y[:first], bound=bound)
    return scores(data.y[first:], y[first:]).rrse if end == len(y) else None

"""The scores of a problem: the runs of all methods on it, checked and judged on fresh data.

A score file only collects. Ranks, targets and tests belong to the analysis.
"""

import math
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from narxbench._algorithms.objective import view_of
from narxbench._algorithms.search import budget
from narxbench._algorithms.training import whole_record
from narxbench._fitness.problem import StructureProblem
from narxbench._io.errors import NarxbenchError
from narxbench._io.files import canonical_json, read_bytes, sha256
from narxbench._model.dataset import DIVERGENCE_FACTOR, Signals, read_signals
from narxbench._model.excitation import excitation_of
from narxbench._model.narx import scores
from narxbench._model.prediction import simulated
from narxbench._model.system import System
from narxbench._model.terms import parse_term
from narxbench._studies.methods.score_file import EVERYTHING, TIME, TRUTH, Score, ScoredMethod, ScoredRun
from narxbench._study.condition import ConditionKey, ProblemKey
from narxbench._study.runs import Run, finite, load_problem, read_runs, seals, size_of


def score(
    runs: Mapping[str, Sequence[str]],
    data: str,
    *,
    problem: Mapping[str, Any],
    methods: Mapping[str, Mapping[str, Any]],
    system: Mapping[str, Any],
    structure: Mapping[str, Any],
    fresh: Mapping[str, Any],
    too_slow: Mapping[str, Mapping[str, Any]] | None = None,
    held_out: bool = False,
) -> str:
    """Read the run files of all methods on a problem and return the text of its score file.

    The structure of every run is evaluated again, so that an edited J is found. Its model, with the weights of the run,
    is judged on fresh data: another input to the same system, without noise. Two references are judged likewise: the
    system terms and all candidate terms, both with weights by least squares over all samples.

    ``runs`` are the run files of each method in the order of its seeds, and ``problem`` are the fields of
    :class:`ProblemKey`. ``system`` and ``structure`` are the arguments of :class:`~narxbench._model.system.System` and
    of :class:`~narxbench._fitness.problem.StructureProblem`. ``methods`` has the arguments of each method's runs.
    ``fresh`` has ``samples``, ``washout`` and ``excitation`` of the fresh data (None: the excitation of the system).
    ``too_slow`` has the methods that are not run on the problem, because they would need too long: each counts as one
    run that has failed.
    Where the terms of the system are not candidates, no structure is right.
    """
    key = ProblemKey(**problem)
    true_system = System(**system)
    digest = sha256(read_bytes(data))
    structure_problem = load_problem(data, digest, criterion=key.criterion, **structure)
    true_terms = true_system.terms
    if not set(structure_problem.terms).issuperset(true_terms):
        true_terms = []
    judge = _Judge(structure_problem, true_terms, _fresh_data(true_system, key.data_seed, fresh))
    scored_methods, run_seals = [], dict[str, str]()
    for name, files in runs.items():
        arguments = methods[name]
        n_evaluations = budget(arguments["settings"], arguments["evaluations"])
        run_files, method_runs = read_runs(
            files,
            dict.fromkeys(arguments["seeds"], digest),
            n_evaluations,
            structure_problem.terms,
            stops_early=arguments["stops_early"],
            condition=ConditionKey(**dict(key), method=name),
            algorithm=arguments["algorithm"],
            settings=arguments["settings"],
            problem=size_of(structure_problem),
        )
        for run in method_runs:
            mistake = judge.mistake(run)
            if mistake:
                path = next(path for path, file in run_files.items() if run in file.runs)
                raise NarxbenchError(f"{path}: seed {run.seed}: {mistake}; delete it and run again")
        run_seals |= seals(run_files.values())
        scored_methods.append(
            ScoredMethod(
                method=name,
                algorithm=arguments["algorithm"],
                minimises=arguments["minimises"],
                budget=n_evaluations,
                runs=[judge.scored(run) for run in method_runs],
            )
        )
    scored_methods += [_not_run(name, about) for name, about in (too_slow or {}).items()]
    scored_methods += judge.references()
    content = Score(
        **dict(key),
        n_terms=len(structure_problem.terms),
        samples=len(read_signals(data, ("y",))[0]),
        n_validation=len(structure_problem.data.measured),
        data_sha256=digest,
        held_out=held_out,
        true_terms=true_terms,
        true_fitness=finite(structure_problem.evaluate(true_terms).fitness),
        methods=scored_methods,
        seals=run_seals,
    )
    return canonical_json(content.model_dump(mode="json"))


def _fresh_data(system: System, data_seed: int, fresh: Mapping[str, Any]) -> Signals:
    """Return signals of a system that no run has seen, without noise."""
    excitation = None
    if fresh["excitation"] is not None:
        excitation = excitation_of(fresh["excitation"])
    # The realisations of runs count from 1.
    return system.simulate(**{**fresh, "excitation": excitation}, seed=data_seed, realisation=0)


def _not_run(name: str, about: Mapping[str, Any]) -> ScoredMethod:
    """Return a method that would need too long on a problem, with one run that has found nothing."""
    run = ScoredRun(
        seed=1,
        fitness=None,
        evaluations=0,
        terms=[],
        fresh_error=None,
        failure=TIME,
    )
    n_evaluations = budget(about["settings"], about["evaluations"])
    facts = {fact: about[fact] for fact in ("algorithm", "minimises")}
    return ScoredMethod(method=name, **facts, budget=n_evaluations, runs=[run])


class _Judge:
    """Checks and scores the runs on one problem. Equal models are judged once."""

    def __init__(self, problem: StructureProblem, true_terms: Sequence[str], fresh: Signals) -> None:
        self._problem, self._true_terms, self._fresh = problem, {*true_terms}, fresh
        self._view = view_of(problem)
        self._errors: dict[tuple[Any, ...], float | None] = {}

    def mistake(self, run: Run) -> str:
        """Return the mistake in a run of a run file, or "" without one."""
        fitness = finite(self._problem.evaluate(run.terms).fitness)
        if run.fitness != fitness:
            return f"found the fitness {run.fitness}; its structure has {fitness}"
        history = run.history_fitness
        falls = history == sorted(set(history), reverse=True)
        if not falls or (fitness is not None and min(history, default=math.inf) > fitness):
            return "found a history that does not fall to the fitness"
        return ""

    def references(self) -> list[ScoredMethod]:
        """Return the references as methods of one run: the system terms, and all candidate terms."""
        whole = whole_record(self._view)
        true_terms = [term for term in self._problem.terms if term in self._true_terms]
        references = []
        for name, terms in {TRUTH: true_terms, EVERYTHING: whole.terms}.items():
            if terms:
                reference = ScoredMethod(
                    method=name,
                    algorithm="least squares",
                    minimises=False,
                    reference=True,
                    budget=1,
                    runs=[self.scored(self._least_squares(whole, terms))],
                )
                references.append(reference)
        return references

    def _least_squares(self, whole: StructureProblem, terms: list[str]) -> Run:
        """Return a run that ends at a structure, with weights by least squares over all samples."""
        fitness = finite(self._problem.evaluate(terms).fitness)
        weights = whole.evaluate(terms).coefficients
        run = partial(Run, seed=1, data_sha256="", evaluations=1, history_evaluations=[], history_fitness=[])
        if fitness is None or not any(weights):
            return run(fitness=None, terms=[], coefficients=[], failure="its structure has no finite J")
        return run(fitness=fitness, terms=terms, coefficients=weights)

    def scored(self, run: Run) -> ScoredRun:
        """Return a run with the scores of its structure."""
        model = tuple(run.terms), tuple(run.coefficients)
        if run.terms and model not in self._errors:
            first = max(self._problem.n_u, self._problem.n_y)
            self._errors[model] = fresh_error(*model, self._fresh, first)
        return ScoredRun(
            seed=run.seed,
            fitness=run.fitness,
            evaluations=run.evaluations,
            terms=run.terms,
            fresh_error=self._errors.get(model),
            failure=" ".join(run.failure.split()),
        )


def fresh_error(terms: Sequence[str], coefficients: Sequence[float], data: Signals, first: int) -> float | None:
    """Return the RRSE of a model's free run from the sample ``first`` on, after measured outputs.

    It is None for a run that diverges, by the bound of the fitness, and where the outputs are all equal.
    """
    bound = DIVERGENCE_FACTOR * float(abs(data.y).max())
    y, end = simulated(list(map(parse_term, terms)), coefficients, data.u, data.y[:first], bound=bound)
    return scores(data.y[first:], y[first:]).rrse if end == len(y) else None

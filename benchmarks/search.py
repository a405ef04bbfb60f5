"""Whole searches: narxbench's algorithms, peers' algorithms on our fitness, MetaMSS, and a greedy baseline.

A method is a function of (problem, u, y, seed, evaluations) that returns its best 0/1 row and the number of evaluations
that it made.
"""

import contextlib
import logging
import math
import tempfile
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

import narxbench
from benchmarks.common import (
    N_VALIDATION,
    SYSTEMS,
    Part,
    cpu_seconds,
    installed,
    make_problem,
    median,
    number,
    result_rows,
    size_of,
    table,
    version,
)
from benchmarks.evaluation import sysidentpy_codes, terms_of
from narxbench import StructureProblem
from narxbench._algorithms.stepwise import best_of, flips, swaps

EVALUATIONS = 6000
DATA_SEEDS = {"full": (1, 2, 3, 4, 5), "quick": (1,)}
# MetaMSS: agents and iterations; one evaluation costs some 20 ms, so 6000 of them would take two minutes per run.
METAMSS = {"full": (10, 30), "quick": (10, 4)}
UNSTABLE = 1e9  # J of divergent structures for peers that cannot take infinities

Floats = NDArray[np.float64]
Best = tuple[NDArray[Any], int]
Method = Callable[[StructureProblem, Floats, Floats, int, int], Best]


def _narxbench(**settings: Any) -> Method:
    def method(problem: StructureProblem, u: Floats, y: Floats, seed: int, evaluations: int) -> Best:
        result = narxbench.search(problem, seed=seed, evaluations=evaluations, **settings)
        return np.isin(problem.terms, result.terms), result.evaluations

    return method


def _finite(problem: StructureProblem, positions: NDArray[Any]) -> Floats:
    fitness = problem.evaluate_positions(positions.astype(np.uint8))[0]
    return np.where(np.isfinite(fitness), fitness, UNSTABLE)


def pymoo_ga(problem: StructureProblem, u: Floats, y: Floats, seed: int, evaluations: int) -> Best:
    """Run pymoo's GA with uniform crossover, bit-flip mutation of rate 1/N_t and no duplicates."""
    from pymoo.algorithms.soo.nonconvex.ga import GA
    from pymoo.core.problem import Problem
    from pymoo.operators.crossover.ux import UniformCrossover
    from pymoo.operators.mutation.bitflip import BitflipMutation
    from pymoo.operators.sampling.rnd import BinaryRandomSampling
    from pymoo.optimize import minimize

    n_terms = len(problem.terms)

    class Structure(Problem):
        """The structure problem as pymoo takes it."""

        def _evaluate(self, x: NDArray[Any], out: dict[str, Any], *args: Any, **kwargs: Any) -> None:
            out["F"] = _finite(problem, x)

    algorithm = GA(
        pop_size=80,
        sampling=BinaryRandomSampling(),
        crossover=UniformCrossover(),
        mutation=BitflipMutation(prob=1.0, prob_var=1.0 / n_terms),
        eliminate_duplicates=True,
    )
    task = Structure(n_var=n_terms, n_obj=1, xl=0, xu=1, vtype=bool)
    result = minimize(task, algorithm, ("n_eval", evaluations), seed=seed)
    return result.X, result.algorithm.evaluator.n_eval


def pyswarms_binary(problem: StructureProblem, u: Floats, y: Floats, seed: int, evaluations: int) -> Best:
    """Run pyswarms' BinaryPSO: ring of radius 1, 30 particles."""
    # Its import opens a report.log in the current folder; its runs would take over the root logger.
    with contextlib.chdir(tempfile.gettempdir()):
        from pyswarms.discrete import BinaryPSO
        from pyswarms.utils.reporter import Reporter
    Reporter._setup_logger = lambda *_: None
    logging.getLogger("pyswarms").setLevel(logging.ERROR)
    np.random.seed(seed)
    options = {"w": 0.729, "c1": 1.49, "c2": 1.49, "k": 3, "p": 2}
    swarm = BinaryPSO(n_particles=30, dimensions=len(problem.terms), options=options)
    _, best = swarm.optimize(lambda x: _finite(problem, x), iters=evaluations // 30, verbose=False)
    return best, evaluations // 30 * 30


def metamss(problem: StructureProblem, u: Floats, y: Floats, seed: int, evaluations: int) -> Best:
    """Run SysIdentPy's MetaMSS as released, loss ``bic``; ``evaluations`` is agents times iterations."""
    from sysidentpy.basis_function import Polynomial
    from sysidentpy.model_structure_selection import MetaMSS
    from sysidentpy.parameter_estimation import LeastSquares

    agents = METAMSS["full"][0]
    np.random.seed(seed)
    search = MetaMSS(
        basis_function=Polynomial(degree=problem.degree),
        estimator=LeastSquares(),
        xlag=problem.n_u,
        ylag=problem.n_y,
        n_agents=agents,
        maxiter=evaluations // agents,
        loss_func="bic",
        random_state=seed,
        test_size=N_VALIDATION / len(y),
    )
    search.fit(X=u[:, None], y=y[:, None])
    codes = sysidentpy_codes(problem)
    best = np.zeros(len(codes), np.uint8)
    best[[codes.index(tuple(code)) for code in search.final_model.astype(int).tolist()]] = 1
    return best, evaluations // agents * agents


def greedy(problem: StructureProblem, u: Floats, y: Floats, seed: int, evaluations: int) -> Best:
    """Add or drop the best term while J falls, else swap the best pair, from the empty structure; no randomness."""
    position, best, n_evaluations = np.zeros(len(problem.terms), np.uint8), math.inf, 0

    def fitness_of(structures: NDArray[np.uint8]) -> Floats:
        nonlocal n_evaluations
        n_evaluations += len(structures)
        return problem.evaluate_positions(structures)[0]

    while True:
        for neighbours in (flips, swaps):
            candidate, fitness = best_of(neighbours(position), fitness_of)
            if candidate is not None and fitness < best:
                position, best = candidate, fitness
                break
        else:
            return position, n_evaluations


# Name: (method, package it needs).
METHODS: dict[str, tuple[Method, str]] = {
    "narxbench 2D-UPSO": (_narxbench(algorithm="upso2d"), "narxbench"),
    "narxbench GA": (_narxbench(algorithm="ga"), "narxbench"),
    "narxbench GA, tournament and elitism": (
        _narxbench(algorithm="ga", selection="tournament", elitism=True),
        "narxbench",
    ),
    "add/drop/swap on our J": (greedy, "narxbench"),
    "pymoo GA on our J": (pymoo_ga, "pymoo"),
    "pyswarms BinaryPSO on our J": (pyswarms_binary, "pyswarms"),
    "SysIdentPy MetaMSS": (metamss, "sysidentpy"),
}


def run(quick: bool) -> Part:
    """Run every method on every data set, one after the other within a data set."""
    # Divergent structures overflow inside the peers.
    warnings.filterwarnings("ignore", category=RuntimeWarning)
    size = size_of(quick)
    present = installed(METHODS)
    outcomes: dict[tuple[str, str], list[dict[str, float]]] = {}
    for system_name in SYSTEMS:
        for seed in DATA_SEEDS[size]:
            system, problem, u, y = make_problem(system_name, seed)
            true, fitness_by_name = problem.evaluate(system.terms), {}
            for name, (method, _) in present.items():
                budget = math.prod(METAMSS[size]) if method is metamss else EVALUATIONS
                if (system_name, seed) == (SYSTEMS[0], DATA_SEEDS[size][0]):
                    method(problem, u, y, seed, 100)  # imports and compilation
                results: list[Best] = []
                call = lambda: results.append(method(problem, u, y, seed, budget))  # noqa: B023, E731
                seconds = cpu_seconds(call)
                position, n_evaluations = results[0]
                terms, fitness = terms_of(problem, position), math.inf
                if terms:
                    fitness = problem.evaluate(terms).fitness
                fitness_by_name[name] = fitness
                outcome = {
                    "cpu_seconds": seconds,
                    "evaluations": n_evaluations,
                    "fitness": fitness,
                    "exact": set(terms) == set(system.terms),
                    "gap_to_true": fitness - true.fitness,
                }
                outcomes.setdefault((name, system_name), []).append(outcome)
            best = min(*fitness_by_name.values(), true.fitness)
            for name in present:
                outcomes[name, system_name][-1]["gap_to_best"] = fitness_by_name[name] - best
    return _report(outcomes, len(DATA_SEEDS[size]))


def _report(outcomes: dict[tuple[str, str], list[dict[str, float]]], seeds: int) -> Part:
    rows, lines = [], []
    for name, (_, package) in METHODS.items():
        if (name, SYSTEMS[0]) not in outcomes:
            lines.append([name, f"{package} is not installed", *[""] * (1 + 2 * len(SYSTEMS))])
            continue
        evaluations, seconds, exact, gaps = [], [], [], []
        for system in SYSTEMS:
            runs = pd.DataFrame(outcomes[name, system]).astype(float)
            evaluations += runs["evaluations"].tolist()
            seconds += runs["cpu_seconds"].tolist()
            over_runs = runs.median()
            over_runs["exact"] = runs["exact"].sum()
            exact.append(f"{over_runs['exact']:.0f}")
            gaps.append(_gap(over_runs["gap_to_best"]))
            rows += result_rows("search", system, name, over_runs)
        lines.append([name, f"{median(evaluations):.0f}", number(median(seconds)), *exact, *gaps])
    header = ["method", "evaluations", "CPU s", *map("{} exact".format, SYSTEMS), *map("{} gaps of J".format, SYSTEMS)]
    text = (
        f"## Whole searches\n\nS1 to S4 at 30 dB, BIC, {seeds} data seed(s). CPU time of one thread without preparing "
        "the problem, median. Exact: runs that end at the true structure. Gaps: median J less the lowest J found on "
        "the data set. MetaMSS is SysIdentPy "
        f"{version('sysidentpy') or '(not installed)'} as released, with fewer evaluations. Its `bic` adds n + ln(L) "
        "instead of n ln(L).\n\n" + table(header, lines)
    )
    return Part(text, rows)


def _gap(value: float) -> str:
    return f"{value:.1f}".replace("-0.0", "0.0") if math.isfinite(value) else "inf"

"""The cost of one fitness evaluation: narxbench, its peers, and three other ways of writing it.

Each implementation is a function of (problem, u, y) that prepares what all structures share and returns a function
from 0/1 rows (structures, N_t) to the free-run errors (structures,). Only the latter is timed.
"""

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from tests import reference

from benchmarks.common import (
    N_VALIDATION,
    SYSTEMS,
    cpu_seconds,
    installed,
    make_problem,
    median,
    number,
    size_of,
    table,
)
from narxbench import StructureProblem
from narxbench._model.terms import INPUT, OUTPUT, Monomial

TERMS = 20
BATCH = 30  # structures evaluated together: the default swarm
ONE_BY_ONE = 3  # of them that implementations without batches get
ROUNDS = {"full": 11, "quick": 3}
SECONDS_PER_MEASUREMENT = 0.02
TOLERANCE = 1e-6

Floats = NDArray[np.float64]
Evaluate = Callable[[NDArray[np.uint8]], Any]


def narxbench_batch(problem: StructureProblem, u: Floats, y: Floats) -> Evaluate:
    """Evaluate all structures at once with the kernel."""
    return lambda positions: problem.evaluate_positions(positions)[1]


def narxbench_single(problem: StructureProblem, u: Floats, y: Floats) -> Evaluate:
    """Evaluate one structure at a time, by the names of its terms."""
    return _one_by_one(lambda position: problem.evaluate(terms_of(problem, position)).sse)


def _one_by_one(evaluate: Callable[[NDArray[np.uint8]], float]) -> Evaluate:
    return lambda positions: [evaluate(position) for position in positions]


def readable_loop(problem: StructureProblem, u: Floats, y: Floats) -> Evaluate:
    """Evaluate with a plain numpy loop: ``lstsq``, then at each step the product of each term's factors."""
    start = len(y) - N_VALIDATION
    # Row k of the lagged signals is 1, y(k-1), ..., u(k-1), ...; a term is the product of `degree` of its entries.
    factors = np.zeros((len(problem.terms), problem.degree), int)
    for row, monomial in zip(factors, problem.monomials, strict=True):
        for i, (signal, lag) in enumerate(monomial):
            row[i] = lag + problem.n_y * (signal == INPUT)
    first_row = max(problem.n_u, problem.n_y)

    def lagged(outputs: Floats, k: int) -> Floats:
        past_y, past_u = outputs[k - problem.n_y : k][::-1], u[k - problem.n_u : k][::-1]
        return np.concatenate(([1.0], past_y, past_u))

    signals = np.array([lagged(y, k) for k in range(first_row, start)])

    def evaluate(position: NDArray[np.uint8]) -> float:
        chosen = factors[position == 1]
        weights = np.linalg.lstsq(signals[:, chosen].prod(axis=2), y[first_row:start], rcond=None)[0]
        simulated = y.copy()
        for k in range(start, len(y)):
            simulated[k] = lagged(simulated, k)[chosen].prod(axis=1) @ weights
        return float(np.sum((y[start:] - simulated[start:]) ** 2))

    return _one_by_one(evaluate)


class Shared:
    """The arrays that faster alternatives compute once for all structures: Gram matrix and input parts of terms."""

    def __init__(self, problem: StructureProblem, u: Floats, y: Floats) -> None:
        start = len(y) - N_VALIDATION
        rows, later = np.arange(max(problem.n_u, problem.n_y), start), np.arange(start, len(y))
        columns = np.array([_product(m, u, y, rows) for m in problem.monomials])
        self.gram, self.moments = columns @ columns.T, columns @ y[rows]
        self.inputs = np.ones((len(problem.monomials), N_VALIDATION))
        self.output_lags: list[tuple[int, ...]] = []
        for column, monomial in zip(self.inputs, problem.monomials, strict=True):
            column[:] = _product([factor for factor in monomial if factor[0] == INPUT], u, y, later)
            self.output_lags.append(tuple(lag for signal, lag in monomial if signal == OUTPUT))
        self.initial, self.measured = y[start - problem.n_y : start], y[start:]


def _product(monomial: Monomial | list[Any], u: Floats, y: Floats, rows: NDArray[Any]) -> Floats:
    column = np.ones(len(rows))
    for signal, lag in monomial:
        column *= (y if signal == OUTPUT else u)[rows - lag]
    return column


def pure_python(problem: StructureProblem, u: Floats, y: Floats) -> Evaluate:
    """Solve normal equations with numpy, and run freely in a pure Python loop over the terms with an output."""
    shared = Shared(problem, u, y)
    n_y = len(shared.initial)

    def evaluate(position: NDArray[np.uint8]) -> float:
        chosen = np.flatnonzero(position)
        weights = np.linalg.solve(shared.gram[np.ix_(chosen, chosen)], shared.moments[chosen])
        weighted = shared.inputs[chosen] * weights[:, None]
        input_columns, terms = [], []
        for term, column in zip(chosen, weighted, strict=True):
            if shared.output_lags[term]:
                terms.append((column.tolist(), shared.output_lags[term]))
            else:
                input_columns.append(column)
        input_part = np.reshape(input_columns, (-1, N_VALIDATION)).sum(axis=0).tolist()
        simulated = shared.initial.tolist()
        for k, value in enumerate(input_part, start=n_y):
            for column, term_lags in terms:
                product = column[k - n_y]
                for lag in term_lags:
                    product *= simulated[k - lag]
                value += product
            simulated.append(value)
        return float(np.sum((shared.measured - simulated[n_y:]) ** 2))

    return _one_by_one(evaluate)


def numpy_batch(problem: StructureProblem, u: Floats, y: Floats) -> Evaluate:
    """Evaluate all structures in one array program: stacked normal equations and a free run of vectors."""
    shared = Shared(problem, u, y)
    nodes = list(dict.fromkeys(shared.output_lags))
    node_of = np.array(list(map(nodes.index, shared.output_lags)))
    # Monomials of y as products of `depth` lagged outputs; entry 0 of the lagged outputs is 1.
    depth = max(map(len, nodes))
    factors = np.zeros((len(nodes), depth), int)
    for row, lags in zip(factors, nodes, strict=True):
        row[: len(lags)] = lags
    by_node = [np.flatnonzero(node_of == n) for n in range(len(nodes))]

    def evaluate(positions: NDArray[np.uint8]) -> Floats:
        sizes = positions.sum(axis=1, dtype=np.int64)
        member = np.argsort(1 - positions.astype(np.int8), axis=1, kind="stable")[:, : sizes.max()]
        absent = np.arange(sizes.max()) >= sizes[:, None]
        gram = shared.gram[member[:, :, None], member[:, None, :]]
        gram[absent[:, :, None] | absent[:, None, :]] = 0.0
        gram[:, np.arange(sizes.max()), np.arange(sizes.max())] += absent
        solved = np.linalg.solve(gram, np.where(absent, 0.0, shared.moments[member])[..., None])[..., 0]
        weights = np.zeros(positions.shape)
        np.put_along_axis(weights, member, solved, axis=1)
        # c[k, structure, node]: the input part of each monomial of y.
        c = np.stack([(weights[:, terms] @ shared.inputs[terms]).T for terms in by_node], axis=2)
        past = np.ones((1 + len(shared.initial), len(positions)))
        past[1:] = shared.initial[::-1, None]
        simulated = np.empty((len(shared.measured), len(positions)))
        for k, c_k in enumerate(c):
            monomials = past[factors[:, 0]]
            for j in range(1, depth):
                monomials *= past[factors[:, j]]
            simulated[k] = np.einsum("ij,ji->i", c_k, monomials)
            past[2:] = past[1:-1]
            past[1] = simulated[k]
        return np.sum((shared.measured[:, None] - simulated) ** 2, axis=0)

    return evaluate


def sysidentpy_codes(problem: StructureProblem) -> list[tuple[int, ...]]:
    """Return the candidate terms as SysIdentPy codes them: 1002 is y(k-2), 2001 is u(k-1)."""
    codes = []
    for monomial in problem.monomials:
        factors = sorted((1000 * (1 + signal) + lag for signal, lag in monomial), reverse=True)
        codes.append((*factors, *[0] * (problem.degree - len(factors))))
    return codes


def sysidentpy_simulate(problem: StructureProblem, u: Floats, y: Floats) -> Evaluate:
    """Use SysIdentPy's SimulateNARMAX with least squares; it takes the lags from the structure."""
    from sysidentpy.basis_function import Polynomial
    from sysidentpy.parameter_estimation import LeastSquares
    from sysidentpy.simulation import SimulateNARMAX

    codes, start, lag = np.array(sysidentpy_codes(problem)), len(y) - N_VALIDATION, max(problem.n_u, problem.n_y)
    basis = Polynomial(degree=problem.degree)
    u, y = u[:, None], y[:, None]

    def evaluate(position: NDArray[np.uint8]) -> float:
        simulated = SimulateNARMAX(basis_function=basis, estimator=LeastSquares()).simulate(
            X_train=u[:start],
            y_train=y[:start],
            X_test=u[start - lag :],
            y_test=y[start - lag :],
            model_code=codes[position == 1],
        )
        return float(np.sum((y[start - lag :] - simulated) ** 2))

    return _one_by_one(evaluate)


def sysidentpy_metamss(problem: StructureProblem, u: Floats, y: Floats) -> Evaluate:
    """Do the work of SysIdentPy's MetaMSS for an agent: two simulations and a t-test (here it keeps every term)."""
    from sysidentpy.basis_function import Polynomial
    from sysidentpy.model_structure_selection import MetaMSS
    from sysidentpy.parameter_estimation import LeastSquares

    class ErrorMSS(MetaMSS):
        """MetaMSS whose loss is the free-run error."""

        def sse(self, y_test: Floats, yhat: Floats, n_theta: int) -> float:
            """Return the sum of squared errors."""
            return float(np.sum((y_test - yhat) ** 2))

    start, lag = len(y) - N_VALIDATION, max(problem.n_u, problem.n_y)
    u, y = u[:, None], y[:, None]
    basis, orders = Polynomial(degree=problem.degree), {"xlag": problem.n_u, "ylag": problem.n_y}
    search = ErrorMSS(basis_function=basis, estimator=LeastSquares(), loss_func="sse", p_value=1.0, **orders)
    search.n_inputs, search.max_lag, search.tested_models = 1, lag, []
    search.regressor_code = search.regressor_space(1)
    ours = sysidentpy_codes(problem)
    order = [ours.index(tuple(code)) for code in search.regressor_code.astype(int).tolist()]
    parts = u[:start], y[:start], u[start - lag :], y[start - lag :]
    return lambda positions: search.evaluate_objective_function(*parts, positions[:, order].T.copy())


def fastcan_narx(problem: StructureProblem, u: Floats, y: Floats) -> Evaluate:
    """Use fastcan's NARX: ``fit`` one step ahead, ``predict`` freely."""
    from fastcan.narx import NARX

    degree, start, lag = problem.degree, len(y) - N_VALIDATION, max(problem.n_u, problem.n_y)
    # Feature 0 is u and 1 is y; -1 fills up.
    features = np.full((len(problem.terms), degree), -1)
    delays = features.copy()
    for row, monomial in enumerate(problem.monomials):
        for place, (signal, delay) in enumerate(monomial, degree - len(monomial)):
            features[row, place], delays[row, place] = signal == OUTPUT, delay

    def evaluate(position: NDArray[np.uint8]) -> float:
        chosen = np.flatnonzero(position[1:]) + 1
        model = NARX(feat_ids=features[chosen], delay_ids=delays[chosen], fit_intercept=bool(position[0]))
        model.fit(u[:start, None], y[:start])
        simulated = model.predict(u[start - lag :, None], y_init=y[start - lag : start])
        return float(np.sum((y[start - lag :] - simulated) ** 2))

    return _one_by_one(evaluate)


# Name: (implementation, package it needs, whether it evaluates a whole batch at once).
IMPLEMENTATIONS = {
    "narxbench, batch of 30": (narxbench_batch, "narxbench", True),
    "narxbench, `.evaluate`": (narxbench_single, "narxbench", False),
    "numpy, batch of 30": (numpy_batch, "numpy", True),
    "pure Python free run": (pure_python, "numpy", False),
    "readable numpy loop": (readable_loop, "numpy", False),
    "SysIdentPy simulate": (sysidentpy_simulate, "sysidentpy", False),
    "SysIdentPy MetaMSS evaluation": (sysidentpy_metamss, "sysidentpy", False),
    "fastcan NARX": (fastcan_narx, "fastcan", False),
}
OURS = next(iter(IMPLEMENTATIONS))


def terms_of(problem: StructureProblem, position: NDArray[np.uint8]) -> list[str]:
    """Return the names of the terms of one 0/1 row."""
    return [problem.terms[i] for i in np.flatnonzero(position)]


def structures(problem: StructureProblem, y: Floats, cardinality: int, count: int = BATCH) -> NDArray[np.uint8]:
    """Return random structures of a cardinality whose free run stays with the data, each with a term of largest lag.

    The term of largest lag makes peers, which take the lags from the structure, estimate on the same rows; a free run
    that runs away would multiply the rounding errors in which implementations differ.
    """
    rng, largest = np.random.default_rng(cardinality), max(problem.n_u, problem.n_y)
    has_largest = np.zeros(len(problem.terms), np.bool_)
    for term, monomial in enumerate(problem.monomials):
        for _, lag in monomial:
            has_largest[term] |= lag == largest
    stable: list[NDArray[np.uint8]] = []
    limit = float(np.sum((y[-N_VALIDATION:] - y.mean()) ** 2))
    while len(stable) < count:
        ranks = np.argsort(np.argsort(rng.random((200, len(problem.terms))), axis=1), axis=1)
        positions = (ranks < cardinality).astype(np.uint8)
        sse = problem.evaluate_positions(positions)[1]
        for position, error in zip(positions, sse, strict=True):
            if error < limit and position[has_largest].any():
                stable.append(position)
    return np.array(stable[:count])


def check_equal(name: str, case: str, errors: Any, expected: Any) -> None:
    """Stop when an implementation does not compute the error that narxbench computes."""
    if not np.allclose(errors, expected, rtol=TOLERANCE, atol=0):
        raise SystemExit(f"FAIL: {name} on {case}: sum of squared errors {errors}; narxbench: {expected}")


def run(quick: bool) -> str:
    """Measure every implementation on the same structures, interleaved, and return the section of the page."""
    warnings.filterwarnings("ignore", module="sysidentpy|fastcan|sklearn")
    present = installed(IMPLEMENTATIONS)
    times: dict[tuple[str, str], list[float]] = {}
    for system_name in SYSTEMS:
        system, problem, u, y = make_problem(system_name)
        prepared = {}
        for name, (make, _, _) in present.items():
            prepared[name] = make(problem, u, y)
        positions = structures(problem, y, TERMS)
        expected = problem.evaluate_positions(positions)[1]
        for row, error in zip(positions[:ONE_BY_ONE], expected, strict=False):
            orders = {"n_u": system.n_u, "n_y": system.n_y}
            check_equal("reference", system_name, reference.evaluate(u, y, terms_of(problem, row), **orders)[1], error)
        calls = {}
        for name, (_, _, batched) in present.items():
            part = positions if batched else positions[:ONE_BY_ONE]
            check_equal(name, system_name, prepared[name](part), expected[: len(part)])
            call = lambda evaluate=prepared[name], part=part: evaluate(part)  # noqa: E731
            calls[name] = call, max(1, round(SECONDS_PER_MEASUREMENT / cpu_seconds(call))), len(part)
        for _ in range(ROUNDS[size_of(quick)]):
            for name, (call, repeats, count) in calls.items():
                microseconds = 1e6 * cpu_seconds(call, repeats) / count
                times.setdefault((name, system_name), []).append(microseconds)
    return _report(times, present)


def _report(times: dict[tuple[str, str], list[float]], present: dict[str, Any]) -> str:
    lines = []
    for name, (_, package, _) in IMPLEMENTATIONS.items():
        if name not in present:
            lines.append([name, f"{package} is not installed", ""])
            continue
        by_system, ratios = [], []
        for system in SYSTEMS:
            by_system.append(median(times[name, system]))
            ratios.append(median(np.divide(times[name, system], times[OURS, system])))
        span = f"{number(min(ratios), 2)}-{number(max(ratios), 2)}"
        lines.append([name, number(median(by_system)), f"{number(median(ratios), 2)} ({span})"])
    header = ["implementation", f"{TERMS} terms: µs", "times narxbench"]
    return (
        "## One evaluation\n\n"
        "Least squares on 1395 to 1397 rows and a free run of 600 samples. CPU time of one thread, "
        "median over rounds of each system, then over S1 to S4. Ratios are taken within a round, with the range over "
        f"the systems in brackets. All errors agree with narxbench's to {TOLERANCE:g}.\n\n" + table(header, lines)
    )

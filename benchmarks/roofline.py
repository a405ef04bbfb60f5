"""How near the kernel comes to what the processor can do: a roofline of its parts."""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numba
import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray

from benchmarks.common import Part, Row, drawn, make_problem, number, result_rows, size_of
from benchmarks.processor import Processor, measured, nanoseconds
from benchmarks.scaling import ORDERS, SAMPLES, problem_of
from benchmarks.work import LINE_BYTES, Work, work_of
from narxbench._fitness.kernel import free_run, least_squares
from narxbench._fitness.kernel.evaluation import evaluate_structures, kernel_for
from narxbench._fitness.kernel.problem_data import ProblemData
from narxbench._fitness.kernel.simd import aligned
from narxbench._numerics.addresses import address_of, call

CARDINALITIES = (10, 20, 33)  # and all terms
PARTS = ("least squares", "least squares: gathering", "free run", "free run: inputs", "free run: recursion")
FIGURE = "roofline.svg"


@numba.njit(error_model="numpy")
def _often(address: int, times: int, *arguments: Any) -> None:
    for _ in range(times):
        call(address, *arguments)


class Measured(NamedTuple):
    """One part of the kernel on one case, per structure."""

    case: str
    part: str
    work: Work
    nanoseconds: float
    bounds: dict[str, float]  # nanoseconds that each of the processor's parts needs

    @property
    def bound(self) -> str:
        """The part of the processor that needs the longest time."""
        return max(self.bounds, key=self.bounds.__getitem__)

    @property
    def share(self) -> float:
        """The least possible time over the measured one."""
        return self.bounds[self.bound] / self.nanoseconds


def parts_of(data: ProblemData, positions: NDArray[np.uint8]) -> Iterator[tuple[str, Any, int, int, tuple[Any, ...]]]:
    """Yield the parts of the kernel for one group of structures of equal size.

    Yields
    ------
    name, function, address, structures, arguments
        The compiled function, where it is, how many structures it treats and what it is called with.
    """
    kernel, (count, n_terms), n = kernel_for(data), positions.shape, int(positions[0].sum())
    fitness, theta = np.empty(count), np.empty((count, n_terms))
    evaluate_structures(kernel, data, positions, fitness, np.empty(count), theta, np.empty((0, 0)))
    lanes = least_squares.LANES
    # The columns of the terms of each structure; all have n.
    member = np.nonzero(positions[:lanes])[1].reshape(-1, n).T.ravel()
    scratch = aligned(least_squares.factor_size(n)), np.empty(n * lanes), np.empty(lanes)
    arguments = (data, member, np.full(lanes, n), *scratch)
    yield "least squares", least_squares.estimate, kernel.estimate, lanes, arguments
    data, member, sizes, factor, *_ = arguments
    gathering = data, member, sizes, n, factor
    address = address_of(least_squares._gather, *map(numba.typeof, gathering))
    yield "least squares: gathering", least_squares._gather, address, lanes, gathering
    lanes, nodes, present = free_run.LANES, len(data.node_parent), positions.any(axis=0)
    place, plain = np.zeros(n_terms, np.int64), np.zeros(n_terms + 2 * nodes, np.int64)
    nested = np.zeros(4 * nodes, np.int64)
    fixed, moving, families = free_run.write_program(data, present, place, plain, nested)
    weights = aligned(n_terms * lanes)
    weights.reshape(n_terms, lanes)[place[present]] = theta[:, present].T
    scratch = aligned(nodes * free_run.STEPS * lanes), aligned((data.initial.shape[1] + free_run.KEPT) * lanes)
    rest = plain, nested, weights, *scratch, np.empty(lanes), np.empty(lanes), np.empty((0, 0))
    for name, programs in (
        ("free run", (fixed, moving, families)),
        ("free run: inputs", (fixed, moving, 0)),
        ("free run: recursion", (0, 0, families)),
    ):
        yield name, free_run.simulate, kernel.simulate, lanes, (data, programs, *rest)


def cases(quick: bool) -> Iterator[tuple[str, ProblemData, NDArray[np.uint8]]]:
    """Yield name, data and one full group of random structures of each case."""
    rng = np.random.default_rng(1)
    for system in ("S1", "S3"):
        data = make_problem(system)[1].data
        for count in (*CARDINALITIES, len(data.term_node)):
            yield (f"{system}, {count} of {len(data.term_node)} terms", data, _random(rng, len(data.term_node), count))
    n_orders = 1 if quick else len(ORDERS)
    for orders in ORDERS[2:][:n_orders]:
        data = problem_of(SAMPLES[0], *orders).data
        n_terms = len(data.term_node)
        yield f"S1, {n_terms // 2} of {n_terms} terms", data, _random(rng, n_terms, n_terms // 2)


def _random(rng: np.random.Generator, n_terms: int, count: int) -> NDArray[np.uint8]:
    return (np.argsort(rng.random((free_run.LANES, n_terms)), axis=1).argsort(axis=1) < count).astype(np.uint8)


def run(quick: bool) -> Part:
    """Measure the processor, then each part of the kernel on each case."""
    size = size_of(quick)
    processor = measured(size)
    measurements = []
    for case, data, positions in cases(quick):
        for part, function, address, count, arguments in parts_of(data, positions):
            work = work_of(function, *arguments, latencies=processor.latencies, cache=processor.cache)
            work = Work._make(np.divide(work, count).tolist())
            times = 1 if work.operations > 1e5 else 20
            spent = nanoseconds(lambda: _often(address, times, *arguments), size) / times / count  # noqa: B023
            measurements.append(Measured(case, part, work, spent, processor.times(work)))
    return Part(_text(processor), _rows(processor, measurements), {FIGURE: _figure(processor, measurements)})


def _rows(processor: Processor, measurements: list[Measured]) -> list[Row]:
    facts = processor._asdict() | processor.latencies._asdict()
    del facts["latencies"]
    rows = result_rows("roofline", "machine", "measured", facts)
    for m in measurements:
        values = m.work._asdict() | {"nanoseconds": m.nanoseconds, "share": m.share} | m.bounds
        rows += result_rows("roofline", m.case, m.part, values)
    return rows


def _text(processor: Processor) -> str:
    wait = processor.latencies
    return (
        f"## Roofline\n\n![Operations a second against operations a byte]({FIGURE})\n\n"
        "Per structure, in full groups; least CPU time of several measurements. Measured on this processor with "
        f"vectors of doubles: {number(processor.peak)} Gop/s from registers, without fused operations; loads of "
        f"{number(processor.first)} GB/s from the first-level cache and {number(processor.second)} GB/s from the "
        f"second; a sum is ready after {number(wait.add, 2)} ns, a product after {number(wait.multiply, 2)} ns. "
        "Operations and moves are counted by running the kernel's own loops (`work.py`). `results.csv` has each part "
        "and case.\n"
    )


def _figure(processor: Processor, measurements: list[Measured]) -> bytes:
    def plot(figure: Figure) -> None:
        axis = figure.subplots()
        for part, mark in (("least squares", "o"), ("free run: inputs", "s"), ("free run: recursion", "^")):
            x, y = [], []
            for m in measurements:
                if m.part == part:
                    x.append(m.work.operations / (m.work.moves * LINE_BYTES))
                    y.append(m.work.operations / m.nanoseconds)
            axis.loglog(x, y, mark, ms=4, label=part)
        roof = np.array([0.03, processor.peak / processor.first, 0.6])
        axis.loglog(roof, np.minimum(processor.peak, roof * processor.first), color="0.5", lw=1, zorder=0)
        loads = roof[0] * 1.2, roof[0] * 1.7 * processor.first
        axis.annotate("loads from the first-level cache", loads, rotation=31)
        axis.annotate("arithmetic", (roof[1], processor.peak * 1.1))
        ticks = (0.05, 0.1, 0.2, 0.5)
        axis.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
        axis.xaxis.minorticks_off()
        axis.set(xlabel="operations per byte moved", ylabel="Gop/s")
        axis.legend(frameon=False, loc="lower right")

    return drawn("narxbench roofline", (4.8, 3.4), plot)

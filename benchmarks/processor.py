"""The speeds of the processor with vectors of doubles, measured with small loops in the kernel's own instructions."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numba

from benchmarks.common import cpu_seconds
from benchmarks.work import LINE_BYTES, Latencies, Work
from narxbench._fitness.kernel.simd import LINE, aligned, fill, inverse_root, load, store

REPEATS = {"full": 15, "quick": 3}
SECONDS_PER_MEASUREMENT = 0.01
CYCLES = 10_000  # of the small loops
WAITING, FIRST, SECOND, ARITHMETIC = "waiting", "first level", "second level", "arithmetic"


def nanoseconds(function: Callable[[], Any], size: str) -> float:
    """Return the least CPU time of several measurements, because other processes only add to it."""
    function()
    repeats = max(1, round(SECONDS_PER_MEASUREMENT / max(cpu_seconds(function), 1e-7)))
    return 1e9 * min(cpu_seconds(function, repeats) for _ in range(REPEATS[size]))


class Processor(NamedTuple):
    """Measured speeds."""

    peak: float  # operations per nanosecond, half of them multiplications
    first: float  # bytes per nanosecond from the first-level cache
    second: float  # bytes per nanosecond from the second-level cache
    latencies: Latencies
    cache: int  # bytes of the first level

    def times(self, work: Work) -> dict[str, float]:
        """Return the nanoseconds that each of its parts needs at least."""
        return {
            ARITHMETIC: work.operations / self.peak,
            FIRST: work.moves * LINE_BYTES / self.first,
            SECOND: work.far / self.second,
            WAITING: work.path,
        }


def _arithmetic(lanes: int) -> Any:
    # Eight products and eight sums that do not wait for each other, in registers.
    @numba.njit(error_model="numpy")
    def run(x: Any, times: int) -> None:
        factor, a, b, c = load(x, 0, lanes), load(x, lanes, lanes), load(x, 2 * lanes, lanes), load(x, 3 * lanes, lanes)
        d, e, f = load(x, 4 * lanes, lanes), load(x, 5 * lanes, lanes), load(x, 6 * lanes, lanes)
        g, h = load(x, 7 * lanes, lanes), load(x, 8 * lanes, lanes)
        p, q, r, s, t, u, v, w = a + b, b + c, c + d, d + e, e + f, f + g, g + h, h + a
        for _ in range(times):
            a, p, b, q = a * factor, p + factor, b * factor, q + factor
            c, r, d, s = c * factor, r + factor, d * factor, s + factor
            e, t, f, u = e * factor, t + factor, f * factor, u + factor
            g, v, h, w = g * factor, v + factor, h * factor, w + factor
        store(x, 9 * lanes, a + b + c + d + e + f + g + h + p + q + r + s + t + u + v + w)

    return run


@numba.njit(error_model="numpy")
def _pass_over(x: Any, times: int) -> None:
    a = b = c = d = e = f = g = h = load(x, 0, LINE)
    for _ in range(times):
        for i in range(0, x.shape[0], 8 * LINE):
            a, b = a + load(x, i, LINE), b + load(x, i + LINE, LINE)
            c, d = c + load(x, i + 2 * LINE, LINE), d + load(x, i + 3 * LINE, LINE)
            e, f = e * load(x, i + 4 * LINE, LINE), f * load(x, i + 5 * LINE, LINE)
            g, h = g * load(x, i + 6 * LINE, LINE), h * load(x, i + 7 * LINE, LINE)
    store(x, 0, fill(0.0, LINE) * (a + b + c + d + e + f + g + h) + fill(1.0, LINE))


@numba.njit(error_model="numpy")
def _chain(x: Any, kind: int, times: int) -> None:
    # Operations each of which waits for the one before.
    a = line = load(x, 0, LINE)
    if kind == 0:
        for _ in range(times):
            a = a + line
    elif kind == 1:
        for _ in range(times):
            a = a * line
    elif kind == 2:
        for _ in range(times):
            a = inverse_root(a)
    store(x, LINE, a)


@numba.njit(error_model="numpy")
def _relay(x: Any, lag: int, times: int) -> None:
    # The compiler does not know the lag, so that each number goes through memory.
    for k in range(lag, times):
        to = k % 64 * LINE
        store(x, to, load(x, (k - lag) % 64 * LINE, LINE) + fill(1.0, LINE))


def measured(size: str) -> Processor:
    """Measure the processor."""
    x = aligned(64 * LINE)
    x[:] = 1.0
    chains = [nanoseconds(lambda kind=kind: _chain(x, kind, CYCLES), size) / CYCLES for kind in range(3)]
    add, multiply, root = chains
    reload = nanoseconds(lambda: _relay(x, 1, CYCLES), size) / CYCLES - add
    # Wider vectors than a processor's registers need more of them than it has.
    peaks = []
    for lanes in (LINE, LINE // 2):
        run = _arithmetic(lanes)
        peaks.append(16 * lanes * CYCLES / nanoseconds(lambda: run(x, CYCLES), size))  # noqa: B023
    first, second = _cache_bytes(1), _cache_bytes(2)
    speeds = []
    for bytes_ in (first // 2, (first + second) // 2):
        array = aligned(bytes_ // LINE_BYTES // 8 * 8 * LINE)
        array[:] = 1.0
        speeds.append(100 * array.nbytes / nanoseconds(lambda: _pass_over(array, 100), size))  # noqa: B023
    return Processor(max(peaks), *speeds, Latencies(add, multiply, root, reload), first)


def _cache_bytes(level: int) -> int:
    for folder in Path("/sys/devices/system/cpu/cpu0/cache").glob("index*"):
        kind = (folder / "type").read_text().strip()
        if kind != "Instruction" and int((folder / "level").read_text()) == level:
            return 1024 * int((folder / "size").read_text().strip().removesuffix("K"))
    raise SystemExit(f"FAIL: the machine does not say how large its level {level} cache is")

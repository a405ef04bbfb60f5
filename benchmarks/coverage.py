"""How often the intervals of r and nu_max hold the expected value: ``python -m benchmarks.coverage [--quick]``.

Writes ``benchmarks/coverage.md``. Many runs of a condition make a pool. Draws of 40 runs from it represent studies, and
their mean for the expected value of a study. The same is done with runs that choose every term independently, as often
as the pool does, because real runs choose terms together. Next to the intervals in use stand two that were rejected:
the bootstrap over runs, and the binomial interval over Chao's estimate of how many terms are chosen at all.
"""

import os

# One thread, set before numpy is imported.
os.environ |= {f"{library}_NUM_THREADS": "1" for library in ("OPENBLAS", "OMP", "MKL", "NUMBA")}

import argparse
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

import narxbench
from benchmarks.common import N_VALIDATION, ROOT, SAMPLES, size_of, table
from narxbench._io.files import write_atomically
from narxbench._numerics.intervals import selection_frequency
from narxbench._studies.paper.metrics import spurious_ratio
from narxbench._studies.paper.published import EVALUATIONS, RUNS

RESULT = ROOT / "benchmarks" / "coverage.md"
CONFIDENCE = 0.95
RUNS_OF_A_POOL, DRAWS, RESAMPLES = {"full": 1500, "quick": 200}, {"full": 1000, "quick": 100}, 1000

Chosen = NDArray[np.bool_]
Limits = tuple[float, float]


class Covered(NamedTuple):
    """How often an interval holds the expected value, and its mean width."""

    share: float
    width: float


class PoolCondition(NamedTuple):
    """A condition whose runs make a pool."""

    name: str
    system: str
    snr_db: int
    algorithm: str
    settings: dict[str, Any]


CONDITIONS = (
    PoolCondition("2D-UPSO on S2, 30 dB", "S2", 30, "upso2d", {}),
    PoolCondition("2D-UPSO on S4, 40 dB", "S4", 40, "upso2d", {}),
    PoolCondition("2D-UPSO bounded to 1.75 on S1, 50 dB", "S1", 50, "upso2d", {"velocity_bound": 1.75}),
    PoolCondition("GA on S3, 40 dB", "S3", 40, "ga", {}),
)


def pool(condition: PoolCondition, runs: int) -> Chosen:
    """Return which spurious terms (columns) each of many runs (rows) of the condition chose."""
    system = narxbench.load_system(condition.system)
    u, y = system.simulate(SAMPLES, snr_db=condition.snr_db)
    orders = {"n_u": system.n_u, "n_y": system.n_y, "degree": system.degree}
    problem = narxbench.StructureProblem(u, y, **orders, n_validation=N_VALIDATION)
    options = {"algorithm": condition.algorithm, "evaluations": EVALUATIONS, **condition.settings}
    rows = []
    for seed in range(1, runs + 1):
        rows.append(np.isin(problem.terms, narxbench.search(problem, seed=seed, **options).terms))
    chosen: Chosen = np.array(rows)
    return chosen[:, ~np.isin(problem.terms, system.terms)]


def alike(chosen: Chosen, rng: np.random.Generator) -> Chosen:
    """Return as many runs that choose each term as often, but independently of the others."""
    return rng.random(chosen.shape) < chosen.mean(axis=0)


def distinct_terms(chosen: Chosen, rng: np.random.Generator) -> dict[str, Limits]:
    """Return intervals of the number of terms that at least one run chooses, which is r N_t."""
    counts, possible = chosen.sum(axis=0), chosen.shape[1]
    observed = np.count_nonzero(counts)
    exact = spurious_ratio(observed, possible, possible, CONFIDENCE)
    once, twice = np.count_nonzero(counts == 1), np.count_nonzero(counts == 2)
    unseen = once**2 / (2 * twice) if twice else once * (once - 1) / 2
    attainable = max(1, min(possible, round(observed + (1 - 1 / len(chosen)) * unseen)))
    chao = spurious_ratio(observed, attainable, attainable, CONFIDENCE)
    return {
        "exact binomial": (exact.low * possible, exact.high * possible),
        "over Chao's number": (chao.low * attainable, chao.high * attainable),
        "bootstrap": bootstrap(chosen, np.count_nonzero, rng),
    }


def largest_count(chosen: Chosen, rng: np.random.Generator) -> dict[str, Limits]:
    """Return intervals of the number of runs that choose the most frequent term, which is nu_max times the runs."""
    wilson = selection_frequency(int(chosen.sum(axis=0).max()), len(chosen), CONFIDENCE)
    return {
        "Wilson": (wilson.low * len(chosen), wilson.high * len(chosen)),
        "bootstrap": bootstrap(chosen, np.max, rng),
    }


def bootstrap(chosen: Chosen, statistic: Callable[..., Any], rng: np.random.Generator) -> Limits:
    """Return the percentile interval over resampled runs, centred on the observed value.

    A resample holds fewer distinct runs, which shifts the statistic; hence the centring.
    """
    weights = rng.multinomial(len(chosen), np.full(len(chosen), 1 / len(chosen)), size=RESAMPLES)
    resampled = statistic(weights @ chosen.astype(np.int64), axis=1)
    observed = statistic(chosen.sum(axis=0))
    tail = (1 - CONFIDENCE) / 2
    low, high = np.quantile(resampled, [tail, 1 - tail]) + observed - resampled.mean()
    return min(observed, max(0, low)), max(observed, high)


def coverage(values: NDArray[Any], intervals: Sequence[dict[str, Limits]]) -> dict[str, Covered]:
    """Return how often each interval holds the mean of the values, and its mean width."""
    expected, covered = values.mean(), {}
    for name in intervals[0]:
        low, high = np.array([limits[name] for limits in intervals]).T
        holds_expected = (low <= expected) & (expected <= high)
        covered[name] = Covered(float(np.mean(holds_expected)), float(np.mean(high - low)))
    return covered


def draws_of(chosen: Chosen, draws: int, rng: np.random.Generator) -> list[Chosen]:
    """Return draws of as many runs as a study makes, none twice in one draw."""
    return [chosen[rng.choice(len(chosen), RUNS, replace=False)] for _ in range(draws)]


def report(pools: dict[str, Chosen], draws: int) -> str:
    """Return the text of coverage.md for pools by name."""
    rng = np.random.default_rng(1)
    sections: tuple[_Section, _Section] = {}, {}
    for name, real in pools.items():
        for kind, chosen in ((name, real), (f"{name}: terms on their own", alike(real, rng))):
            drawn = draws_of(chosen, draws, rng)
            counts = np.array(drawn).sum(axis=1)
            values = np.count_nonzero(counts, axis=1), counts.max(axis=1)
            for section, observed, possible, intervals in zip(
                sections, values, (chosen.shape[1], RUNS), (distinct_terms, largest_count), strict=True
            ):
                covered = coverage(observed, [intervals(runs, rng) for runs in drawn])
                section[kind] = f"{observed.mean():.1f} of {possible}", covered
    return TEXT.format(
        level=f"{100 * CONFIDENCE:g} %",
        runs=RUNS,
        pool=max(map(len, pools.values())),
        draws=draws,
        ratio=_as_markdown(sections[0]),
        largest=_as_markdown(sections[1]),
    )


# By the pool that runs are drawn from: the expected value in words, and how the intervals cover it.
_Section = dict[str, tuple[str, dict[str, Covered]]]


def _as_markdown(section: _Section) -> str:
    """Return the coverage of intervals as a table, with the smallest share of each interval last."""
    rows, smallest = [], dict[str, float]()
    for kind, (expected, covered) in section.items():
        row = [kind, expected]
        for name, interval in covered.items():
            row.append(f"{interval.share:.3f} ({interval.width:.1f})")
            smallest[name] = min(smallest.get(name, 1.0), interval.share)
        rows.append(row)
    rows.append(["smallest", "", *map("{:.3f}".format, smallest.values())])
    return table(["runs of", "expected", *smallest], rows)


TEXT = """# Coverage of the intervals of r and ν_max

How often intervals of {level} hold the expected value, in {draws} draws of {runs} runs from pools of {pool} real runs,
and from as many runs that choose every term as often but on its own. In brackets: the mean width, in terms or runs. The
first interval of each table is the one in use. `python -m benchmarks.coverage` makes this file.

## r: spurious terms that at least one run chose

{ratio}
The exact binomial interval takes all spurious terms as equally likely, which makes it conservative. A resample of the
runs has no new term, and Chao's number of terms is itself an estimate.

## ν_max: runs that chose the most frequent spurious term

{largest} The Wilson interval takes the most frequent term as if it had been named in advance. It is conservative
where many terms are about as frequent.
"""


def main() -> None:
    """Make the pools, and write the file."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="few runs and draws: a try, not a measurement")
    parser.add_argument("--output", type=Path, default=RESULT)
    options = parser.parse_args()
    size = size_of(options.quick)
    pools = {condition.name: pool(condition, RUNS_OF_A_POOL[size]) for condition in CONDITIONS}
    write_atomically(options.output, report(pools, DRAWS[size]))


if __name__ == "__main__":
    main()

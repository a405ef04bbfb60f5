"""How well models of several outputs run together: ``python -m benchmarks.joint [--quick]``.

Writes ``benchmarks/joint.md``. Pairs of coupled outputs are measured with and without noise, and each pair is
identified jointly. The joint free runs over a fresh record are compared with its outputs without noise.
"""

import os

# One thread, set before numpy is imported.
os.environ |= {f"{library}_NUM_THREADS": "1" for library in ("OPENBLAS", "OMP", "MKL", "NUMBA")}

import time
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

import narxbench
from benchmarks.common import ROOT, number, table, write_page

RESULT = ROOT / "benchmarks" / "joint.md"
SAMPLES, TESTED = 800, 800
SETS = {"full": 2, "quick": 1}
SETTINGS: dict[str, Any] = {"decimation": 1, "degree": 2, "effort": 3}
# Errors below this are rounding, and are shown as 0.
ROUNDING = 1e-9
KINDS = ("separate models", "inputs alone", "joint")

Floats = NDArray[np.float64]


class Pair(NamedTuple):
    """An input and two outputs."""

    u: Floats
    a: Floats
    b: Floats

    @property
    def outputs(self) -> Floats:
        """Both outputs, shape (samples, 2)."""
        return np.column_stack([self.a, self.b])


def strong(draws: np.random.Generator) -> Pair:
    """Return a pair of outputs that act strongly on each other."""
    n = SAMPLES + TESTED
    u, a, b = draws.uniform(-1, 1, n), np.zeros(n), np.zeros(n)
    for k in range(2, n):
        a[k] = 0.6 * a[k - 1] - 0.3 * b[k - 1] + 0.8 * u[k - 1] - 0.1 * a[k - 1] ** 2
        b[k] = 0.7 * b[k - 1] + 0.4 * a[k - 1] - 0.1 * a[k - 1] * b[k - 1] + 0.2 * u[k - 2]
    return Pair(u, a, b)


def weak(draws: np.random.Generator) -> Pair:
    """Return a pair of outputs that act weakly on each other."""
    n = SAMPLES + TESTED
    u, a, b = draws.uniform(-1, 1, n), np.zeros(n), np.zeros(n)
    for k in range(2, n):
        a[k] = 0.7 * a[k - 1] - 0.05 * b[k - 1] + 0.8 * u[k - 1]
        b[k] = 0.5 * b[k - 1] + 0.05 * a[k - 1] + 0.6 * u[k - 2] - 0.2 * u[k - 1] ** 2
    return Pair(u, a, b)


def in_a_row(draws: np.random.Generator) -> Pair:
    """Return the levels of two tanks, the first of which runs into the second, for a pump that changes rarely."""
    n = SAMPLES + TESTED
    u, a, b = np.repeat(draws.uniform(0.2, 1, n // 10), 10), np.zeros(n), np.zeros(n)
    for k in range(1, n):
        outflow = 0.2 * a[k - 1] - 0.02 * a[k - 1] ** 2
        a[k] = a[k - 1] + 0.3 * u[k - 1] - outflow
        b[k] = b[k - 1] + outflow - 0.15 * b[k - 1]
    return Pair(u, a, b)


class MeasuredPair(NamedTuple):
    """A pair of outputs, and the ratio of its signals to their noise."""

    make: Callable[[np.random.Generator], Pair]
    snr_db: float


CASES = {
    "strong coupling, exact": MeasuredPair(strong, np.inf),
    "strong coupling, 20 dB": MeasuredPair(strong, 20.0),
    "weak coupling, 20 dB": MeasuredPair(weak, 20.0),
    "tanks in a row, 20 dB": MeasuredPair(in_a_row, 20.0),
}


class PairOutcome(NamedTuple):
    """The outcome for one data set: by kind of models the errors of both outputs and their terms, and the seconds."""

    errors: Mapping[str, Floats]
    terms: Mapping[str, int]
    seconds: float


def outcome(case: MeasuredPair, number_of_set: int) -> PairOutcome:
    """Return how well the models of a data set run over a fresh record, compared with outputs without noise."""
    draws = np.random.default_rng([number_of_set, len(case.make.__name__)])
    pair = case.make(draws)
    noise = np.std(pair.outputs, axis=0) * 10 ** (-case.snr_db / 20) * draws.standard_normal(pair.outputs.shape)
    measured = pair.outputs + noise
    training = {"u": pair.u[:SAMPLES], "a": measured[:SAMPLES, 0], "b": measured[:SAMPLES, 1]}
    began = time.process_time()
    joint = narxbench.identify(training, ["a", "b"], input="u", joint=True, **SETTINGS)
    seconds = time.process_time() - began
    alone = {output: narxbench.identify(training, output, input="u", **SETTINGS) for output in ("a", "b")}
    models = {
        "separate models": _side_by_side(joint.identifications),
        "inputs alone": _side_by_side(alone),
        "joint": joint.model,
    }
    errors, terms = {}, {}
    fresh = pair.outputs[SAMPLES:]
    for name, model in models.items():
        errors[name] = np.full(2, np.inf)
        terms[name] = 0
        for part in model.models:
            terms[name] += len(part.terms)
        try:
            run = model.simulate(pair.u[SAMPLES:], measured[SAMPLES:])
        except narxbench.DivergedError:
            continue
        errors[name] = np.sqrt(((run - fresh) ** 2).sum(axis=0) / ((fresh - fresh.mean(axis=0)) ** 2).sum(axis=0))
    return PairOutcome(errors, terms, seconds)


def _side_by_side(identifications: Mapping[str, narxbench.Identification]) -> narxbench.JointModel:
    """Return the models of several outputs, each of which was identified by itself."""
    return narxbench.JointModel(tuple(result.model for result in identifications.values()))


def shown(error: float) -> str:
    """Return an error as the table shows it; rounding is none."""
    return number(error, 2) if error > ROUNDING else "0"


def rows_of(name: str, outcomes: list[PairOutcome]) -> list[list[str]]:
    """Return the rows of a case: for each kind of models the median errors, the worst, and the median terms."""
    rows = []
    for kind in KINDS:
        errors, terms = [], []
        for result in outcomes:
            errors.append(result.errors[kind])
            terms.append(result.terms[kind])
        medians = map(shown, np.median(errors, axis=0))
        rows.append([name, kind, *medians, shown(np.max(errors)), f"{np.median(terms):g}"])
    return rows


def report(sets: int) -> str:
    """Measure on all data sets, and return the page."""
    rows, seconds = [], []
    for name, case in CASES.items():
        outcomes = []
        for number_of_set in range(sets):
            outcomes.append(outcome(case, number_of_set))
            seconds.append(outcomes[-1].seconds)
        rows += rows_of(name, outcomes)
        for row in rows[-len(KINDS) :]:
            print(*row, sep="  ", flush=True)
    header = ["pair", "models", "RRSE of a", "RRSE of b", "largest", "terms"]
    values = {"sets": sets, "samples": SAMPLES, "tested": TESTED, "effort": f"{SETTINGS['effort']:g}"}
    return TEXT.format(table=table(header, rows), seconds=f"{np.median(seconds):.0f}", **values)


TEXT = """# Several outputs together

`python -m benchmarks.joint` makes this file. Of each pair of outputs, {sets} data sets of {samples} samples were
identified (one input, candidates of degree 2, effort {effort}), and the models ran freely over a fresh record of
{tested} samples, each with the other's output of the same run. RRSE is relative to the outputs without noise: medians
over the data sets, and the largest of both outputs. *Separate models* were identified with the other output as
measured, *inputs alone* without it, and *joint* models come from `identify(..., joint=True)`. Terms are the median of
both models. The true pairs have 8, 7 and 6. A joint identification took a median of {seconds} s of CPU time.

{table}"""


def main() -> None:
    """Measure, and write the file."""
    write_page(__doc__, RESULT, report, SETS)


if __name__ == "__main__":
    main()

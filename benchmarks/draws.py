"""How much depends on random draws: ``python -m benchmarks.draws [--quick]``.

Writes ``benchmarks/draws.md``: the same simulated records identified with other seeds, and how far the errors of a free
run over the test lie apart. The records are like measured ones: a flexible robot arm, a motor that drives a generator
and a buck converter; no candidate is the truth, so that many structures are nearly as good as the best.
"""

import os

# One thread, set before numpy is imported.
os.environ |= {f"{library}_NUM_THREADS": "1" for library in ("OPENBLAS", "OMP", "MKL", "NUMBA")}

import argparse
import math
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.signal import lfilter

from benchmarks.common import ROOT, machine_facts, number, table
from benchmarks.measured import Case, Signals, held, rrse, with_narxbench
from narxbench._io.files import write_atomically
from narxbench._numerics.random_streams import generator

RESULT = ROOT / "benchmarks" / "draws.md"
# Numbers of data sets of each record: those that were looked at while the choice was made, and those that were not.
LOOKED_AT, FRESH = 2, 2
SEEDS = 4
AIM = 1.15

Floats = NDArray[np.float64]


def _rng(name: str, part: str, number: int) -> np.random.Generator:
    return generator(purpose="benchmark of random draws", data=name, part=part, number=number)


def robot(number: int = 0) -> Case:
    """Return data of a flexible arm: two masses, a spring that stiffens and dry friction, driven by many sines."""

    def record(part: str, n: int) -> Signals:
        rng = _rng("robot", part, number)
        frequencies, phases = rng.uniform(0.02, 0.2, 20), rng.uniform(0.0, 2.0 * np.pi, 20)
        step, state, clean, u = 0.1, np.zeros(4), np.empty(n), np.empty(n)

        def slope(x: Floats, force: float) -> Floats:
            spring = 4.0 * (x[0] - x[2]) + 3.0 * (x[0] - x[2]) ** 3 + 0.15 * (x[1] - x[3])
            friction = 0.04 * np.tanh(5.0 * x[1]) + 0.3 * x[1] + 0.5 * x[0]
            return np.array([x[1], force - friction - spring, x[3], 2.0 * (spring - 0.05 * x[3])])

        for k in range(n):
            u[k] = 0.4 * np.sin(2.0 * np.pi * frequencies * k * 0.5 + phases).sum() / math.sqrt(5.0)
            clean[k] = state[3]
            for _ in range(5):
                a = slope(state, u[k])
                b = slope(state + step / 2 * a, u[k])
                c = slope(state + step / 2 * b, u[k])
                d = slope(state + step * c, u[k])
                state = state + step / 6 * (a + 2 * b + 2 * c + d)
        return Signals(u[:, None], clean + 0.01 * clean.std() * rng.normal(size=n), clean)

    about = "two masses, a spring that stiffens, dry friction, 20 sines, 1 % output noise"
    return Case("robot", about, [record("training", 600)], record("test", 424))


def motor(number: int = 0) -> Case:
    """Return data of a motor that drives a generator: a gain that saturates and a disturbance that lasts."""

    def record(part: str, n: int, size: float) -> Signals:
        rng = _rng("motor", part, number)
        u = 1.0 + size * (0.6 * held(rng, n, 12) + 0.4 * held(rng, n, 3))
        load = lfilter([1.0], [1.0, -0.9], 0.008 * rng.normal(size=n))

        def run(disturbance: Floats) -> Floats:
            y = np.zeros(n)
            y[0] = 0.8
            for k in range(1, n):
                drive = 1.2 * np.tanh(0.9 * max(u[k - 1] - 0.15, 0.0))
                y[k] = y[k - 1] + 0.18 * (drive - y[k - 1] - 0.12 * y[k - 1] * abs(y[k - 1])) + 0.18 * disturbance[k]
            return y

        clean = run(np.zeros(n))
        return Signals(u[:, None], run(load) + 0.01 * rng.normal(size=n), clean)

    about = "a dead zone, a gain that saturates, drag, a load that lasts, output noise; larger steps in the test"
    return Case("motor", about, [record("training", 500, 0.7)], record("test", 400, 0.9))


def converter(number: int = 0) -> Case:
    """Return data of a buck converter with a diode, ten samples in each time constant."""

    def record(part: str, n: int) -> Signals:
        rng = _rng("converter", part, number)
        duty = 0.35 + 0.25 * held(rng, n, 40) + 0.03 * rng.normal(size=n)
        current, voltage, clean = 0.5, 1.2, np.empty(n)
        for k in range(n):
            clean[k] = voltage
            for _ in range(4):
                # Averaged over a period; the diode lets no current flow back.
                current = max(0.0, current + 0.05 * (4.0 * float(duty[k]) - voltage - 0.15 * current))
                voltage += 0.02 * (current - voltage / 2.2 - 0.02 * voltage**2)
        noisy = clean + 0.015 * rng.normal(size=n)
        return Signals(duty[:, None], np.round(noisy / 0.01) * 0.01, clean)

    about = "averaged equations with a diode, oversampled, output noise, rounded"
    return Case("converter", about, [record("training", 1000)], record("test", 1000))


RECORDS: tuple[Callable[[int], Case], ...] = (robot, motor, converter)


class Runs(NamedTuple):
    """The outcomes of different draws on one data set: errors on the test, structures, noise models."""

    errors: list[float]
    structures: list[tuple[str, ...]]
    noise_models: list[str]

    @property
    def spread(self) -> float:
        """The largest error over the smallest."""
        return max(self.errors) / min(self.errors)


def runs_of(case: Case, seeds: int) -> Runs:
    """Identify one data set with several seeds."""
    runs = Runs([], [], [])
    for draw in range(seeds):
        identification, predicted = with_narxbench(case, draw, resamples=0)
        model = identification.model
        runs.errors.append(rrse(case.test.y, predicted, model.initial_samples))
        runs.structures.append((str(model.decimation), model.noise_model, *model.terms))
        runs.noise_models.append(model.noise_model.upper())
    return runs


def report(sets: int, seeds: int) -> str:
    """Measure, and return the page."""
    rows, spreads = [], []
    for make in RECORDS:
        for data_set in range(sets):
            runs = runs_of(make(data_set), seeds)
            spreads.append(runs.spread)
            title = f"{data_set + 1}"
            if data_set >= LOOKED_AT:
                title += ", fresh"
            terms = np.array(list(map(len, runs.structures))) - 2
            rows.append(
                [
                    make.__name__,
                    title,
                    " to ".join(dict.fromkeys(map(number, (min(runs.errors), max(runs.errors))))),
                    f"{runs.spread:.2f}",
                    str(len(set(runs.structures))),
                    " to ".join(dict.fromkeys((str(terms.min()), str(terms.max())))),
                    ", ".join(sorted(set(runs.noise_models))),
                ]
            )
            print(*rows[-1], sep="  ", flush=True)
    header = ["record", "data set", "RRSE", "spread", "structures", "terms", "noise model"]
    within = sum(spread <= AIM for spread in spreads)
    about = "\n".join(f"- **{make.__name__}**: {make(0).about}" for make in RECORDS)
    verdict = (
        f"The spread is at most {AIM:g} on {within} of {len(spreads)} data sets; the largest is {max(spreads):.2f}."
    )
    return TEXT.format(
        table=table(header, rows), seeds=seeds, about=about, verdict=verdict, looked=LOOKED_AT, machine=machine_facts()
    )


TEXT = """# What hangs on random draws

`python -m benchmarks.draws` makes this file. Each data set is identified {seeds} times with default settings and
another `seed` each time. *RRSE* is that of the free run over the test, from the smallest to the largest; *spread* is
the largest over the smallest; *structures* counts different ones. By the first {looked} data sets of each record it was
decided how near-ties are settled; the *fresh* ones were not looked at.

{about}

{table}

{verdict}

{machine}
"""


def main() -> None:
    """Measure, and write the file."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="one data set, two seeds: a try, not a measurement")
    parser.add_argument("--output", type=Path, default=RESULT)
    options = parser.parse_args()
    sets, seeds = (1, 2) if options.quick else (LOOKED_AT + FRESH, SEEDS)
    write_atomically(options.output, report(sets, seeds))


if __name__ == "__main__":
    main()

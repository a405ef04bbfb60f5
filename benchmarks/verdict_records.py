"""Simulated records for the benchmark of verdicts: each with the truth of what its output does without noise.

A record has three parts: a model is made of the first, tested on the second, and the third is kept back. A fresh record
of the same system, without noise, shows what a model is worth.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

# First: it sets one thread before numpy is imported.
from benchmarks.measured import Floats, held  # isort: skip
import numpy as np
from scipy.signal import lfilter

import narxbench
from narxbench._numerics.random_streams import generator

SAMPLES = 900
FRESH = 500
# The first part and the first two parts, as shares.
KNOWN, SHOWN = 0.5, 2 / 3
# Samples of a series ahead that its worth is judged at, by kind; the others have inputs and are judged in free run.
FREE = 0


@dataclass(frozen=True)
class System:
    """A polynomial system of at most two inputs: its true terms and coefficients."""

    name: str
    terms: tuple[str, ...]
    coefficients: tuple[float, ...]
    n_inputs: int = 1

    @property
    def model(self) -> narxbench.Model:
        """The system as a model."""
        inputs = ((), ("u",), ("u1", "u2"))[self.n_inputs]
        return narxbench.Model(terms=self.terms, coefficients=self.coefficients, inputs=inputs, output="y")


@dataclass(frozen=True)
class TrueRecord:
    """A record whose truth is known."""

    kind: str
    number: int
    system: System
    u: Floats
    y: Floats
    truth: Floats
    fresh_u: Floats
    fresh_truth: Floats
    shown: int = int(SHOWN * SAMPLES)
    known: int = int(KNOWN * SAMPLES)
    # What the values of the test are multiplied by, and what is added, when they are handed over.
    test_unit: tuple[float, float] = (1.0, 0.0)
    horizon: int = FREE
    settings: dict[str, Any] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """The kind with the number."""
        return f"{self.kind} {self.number}"


SYSTEMS = (
    System("squared", ("y(k-1)", "u(k-1)", "u(k-1)^2"), (0.8, 0.5, 0.1)),
    System("resonant", ("y(k-1)", "y(k-2)", "u(k-1)"), (1.5, -0.7, 0.2)),
    System("bilinear", ("y(k-1)", "u(k-1)", "y(k-1)*u(k-1)"), (0.6, 0.4, 0.15)),
    System("cubic", ("y(k-1)", "u(k-1)", "y(k-1)^3"), (0.9, 0.3, -0.05)),
    System("delayed", ("y(k-1)", "u(k-3)", "u(k-3)*u(k-2)"), (0.7, 0.5, 0.2)),
)
# Those of records that no rule was chosen on.
HELD_OUT_SYSTEMS = (
    System("two cross terms", ("y(k-1)", "u(k-2)", "y(k-1)*u(k-1)", "u(k-1)^2"), (0.5, 0.3, 0.3, 0.5)),
    System("every second sample", ("y(k-2)", "u(k-1)", "y(k-2)*u(k-1)"), (0.75, 0.25, -0.2)),
    System("overdamped", ("y(k-1)", "y(k-2)", "u(k-2)", "u(k-2)^2"), (1.2, -0.35, 0.2, -0.1)),
    System("heated", ("1", "y(k-1)", "u(k-1)^2"), (0.1, 0.9, 0.15)),
    System("three factors", ("y(k-1)", "y(k-3)", "u(k-1)", "y(k-1)^2*u(k-1)"), (0.4, 0.2, 0.6, -0.1)),
)
# Those that answer a single step: of first order, and resonant.
STEP_SYSTEMS = (System("first order", ("y(k-1)", "u(k-1)"), (0.85, 0.15)), SYSTEMS[1])
HELD_OUT_STEP_SYSTEMS = (
    System("first order", ("y(k-1)", "u(k-1)"), (0.9, 0.2)),
    System("slow", ("y(k-1)", "y(k-2)", "u(k-1)"), (1.7, -0.8, 0.1)),
)
VAN_DER_POL = System(
    "van der Pol",
    ("y(k-1)", "y(k-2)", "y(k-1)^3", "y(k-1)^2*y(k-2)"),
    (2.06, -1.1, -0.1, 0.1),
    0,
)
AUTOREGRESSION = System("autoregression", ("y(k-1)", "y(k-2)"), (1.5, -0.7), 0)
LOGISTIC = System("logistic map", ("y(k-1)", "y(k-1)^2"), (3.8, -3.8), 0)


def held_out(kind: str) -> str:
    """Return the name of a kind whose records have other systems and draws, and were never used to choose a rule."""
    return f"{kind}, held out"


def is_held_out(kind: str) -> bool:
    """Return whether a kind has records of other systems and draws."""
    return kind.endswith(held_out(""))


def system_of(kind: str, number: int) -> System:
    """Return one of several systems by a number."""
    systems = HELD_OUT_SYSTEMS if is_held_out(kind) else SYSTEMS
    return systems[number % len(systems)]


def simulate(system: System, u: Floats, disturbance: Floats, start: Floats | None = None) -> Floats:
    """Return the output of a system whose equation has a disturbance."""
    model = system.model
    # Monomials number the output 0, and the inputs from 1 on.
    signals = np.column_stack([np.zeros(len(disturbance)), u])
    y = signals[:, 0]
    first = model.max_lag
    if start is not None:
        y[:first] = start[:first]
    factors = list(map(list, model.monomials))
    for k in range(first, len(y)):
        y[k] = _next_output(signals, factors, model.coefficients, k, disturbance[k])
    return y.copy()


def _next_output(
    signals: Floats,
    factors: Sequence[Sequence[tuple[int, int]]],
    coefficients: Sequence[float],
    k: int,
    disturbance: float,
) -> float:
    """Return the output at a sample: the disturbance and all terms."""
    total = disturbance
    for monomial, coefficient in zip(factors, coefficients, strict=True):
        product = coefficient
        for signal, lag in monomial:
            product *= signals[k - lag, signal]
        total += product
    return total


def simulate_in_loop(system: System, reference: Floats, disturbance: Floats) -> tuple[Floats, Floats]:
    """Return the input, shape (samples, 1), and the output of a system that a PI controller leads to a reference."""
    model = system.model
    signals = np.zeros((len(reference), 2))
    factors = list(map(list, model.monomials))
    integral = 0.0
    for k in range(len(reference)):
        if k >= model.max_lag:
            signals[k, 0] = _next_output(signals, factors, model.coefficients, k, disturbance[k])
        difference = reference[k] - signals[k, 0]
        integral += 0.05 * difference
        signals[k, 1] = np.clip(0.5 * difference + integral, -1, 1)
    return signals[:, 1:].copy(), signals[:, 0].copy()


def _rng(kind: str, part: str, number: int) -> np.random.Generator:
    return generator(purpose="benchmark of verdicts", kind=kind, part=part, number=number)


def _input(rng: np.random.Generator, number: int, samples: int) -> Floats:
    """Return one of several kinds of inputs by a number: white, slow, or held."""
    if number % 3 == 0:
        return np.asarray(rng.uniform(-1, 1, samples))
    if number % 3 == 1:
        slow: Floats = lfilter([0.25], [1.0, -0.9], rng.standard_normal(samples))
        return np.clip(slow, -1, 1)
    return held(rng, samples, 15)


def plain(kind: str, number: int, samples: int = SAMPLES, noise: float = 0.02) -> TrueRecord:
    """Return a record with white noise on the output or in the equation."""
    rng = _rng(kind, "record", number)
    system = system_of(kind, number)
    u = _input(rng, number, samples)[:, None]
    fresh_u = _input(_rng(kind, "fresh", number), number, FRESH)[:, None]
    truth = simulate(system, u, np.zeros(samples))
    white = noise * truth.std() * rng.standard_normal(samples)
    y = truth + white if number % 2 else simulate(system, u, 0.5 * white)
    fresh = simulate(system, fresh_u, np.zeros(FRESH))
    parts = int(SHOWN * samples), int(KNOWN * samples)
    return TrueRecord(kind, number, system, u, y, truth, fresh_u, fresh, *parts)


def noisier(kind: str, number: int) -> TrueRecord:
    """Return a record with much white noise."""
    return plain(kind, number, noise=0.3)


def short(kind: str, number: int) -> TrueRecord:
    """Return a short record."""
    return plain(kind, number, samples=150, noise=0.05)


def outside(kind: str, number: int) -> TrueRecord:
    """Return a record whose test goes a little beyond the range of the known part."""
    record = plain(kind, number)
    wide = np.where(np.arange(len(record.u)) < record.known, 1.0, 1.3)[:, None]
    u = record.u * wide
    truth = simulate(record.system, u, np.zeros(len(u)))
    fresh = simulate(record.system, 1.3 * record.fresh_u, np.zeros(FRESH))
    return replace(
        record, u=u, y=truth + (record.y - record.truth), truth=truth, fresh_u=1.3 * record.fresh_u, fresh_truth=fresh
    )


def resting(kind: str, number: int) -> TrueRecord:
    """Return an input that is on or off until the output rests, and an output of a coarse sensor."""
    rng = _rng(kind, "record", number)
    system = system_of(kind, number)
    u = np.repeat(rng.permutation(np.tile([0.0, 1.0], 8)), -(-SAMPLES // 16))[:SAMPLES, None]
    fresh_u = np.repeat(_rng(kind, "fresh", number).permutation(np.tile([0.0, 1.0], 5)), FRESH // 10)[:, None]
    truth = simulate(system, u, np.zeros(SAMPLES))
    step = np.ptp(truth) / 60
    y = np.round(truth / step) * step
    return TrueRecord(kind, number, system, u, y, truth, fresh_u, simulate(system, fresh_u, np.zeros(FRESH)))


def unused(kind: str, number: int) -> TrueRecord:
    """Return a record with a second input without effect: a clock, a random walk, or a constant."""
    record = plain(kind, number)
    rng = _rng(kind, "second input", number)
    total = SAMPLES + FRESH
    second = (np.arange(total, dtype=float), np.cumsum(rng.standard_normal(total)), np.full(total, 3.0))[number % 3]
    system = replace(record.system, terms=tuple(term.replace("u(", "u1(") for term in record.system.terms), n_inputs=2)
    return replace(
        record,
        system=system,
        u=np.column_stack([record.u, second[:SAMPLES]]),
        fresh_u=np.column_stack([record.fresh_u, second[SAMPLES:]]),
    )


def coarse(kind: str, number: int) -> TrueRecord:
    """Return a record of a coarse sensor of the output."""
    record = plain(kind, number)
    step = np.ptp(record.truth) / (10 + 2 * number)
    return replace(record, y=np.round(record.y / step) * step)


def clipped(kind: str, number: int) -> TrueRecord:
    """Return a record whose sensor of the output is at its limit for a third of the time."""
    record = plain(kind, number)
    return replace(record, y=np.minimum(record.y, np.quantile(record.y, 0.65)))


def one_step(kind: str, number: int) -> TrueRecord:
    """Return the response to a single step, which the test rests after; fresh are levels between its two."""
    rng = _rng(kind, "record", number)
    systems = HELD_OUT_STEP_SYSTEMS if is_held_out(kind) else STEP_SYSTEMS
    system = systems[number % 2]
    u = np.repeat([0.0, 1.0], (20, SAMPLES - 20))[:, None]
    truth = simulate(system, u, np.zeros(SAMPLES))
    y = truth + 0.005 * rng.standard_normal(SAMPLES)
    fresh_u = held(_rng(kind, "fresh", number), FRESH, 25, 0.0, 1.0)[:, None]
    record = TrueRecord(kind, number, system, u, y, truth, fresh_u, simulate(system, fresh_u, np.zeros(FRESH)))
    samples = 240
    return replace(
        record,
        u=u[:samples],
        y=y[:samples],
        truth=truth[:samples],
        shown=int(SHOWN * samples),
        known=int(0.5 * samples),
    )


def constant(kind: str, number: int) -> TrueRecord:
    """Return a record in which the input never changed: what it does is not to be seen, and fresh inputs move."""
    record = plain(kind, number)
    rng = _rng(kind, "disturbance", number)
    y = simulate(record.system, np.full((SAMPLES, 1), 0.5), 0.1 * rng.standard_normal(SAMPLES))
    u = np.full((SAMPLES, 1), 0.5)
    return replace(record, u=u, y=y, truth=simulate(record.system, u, np.zeros(SAMPLES)))


def other_units(kind: str, number: int) -> TrueRecord:
    """Return a record whose test is handed over in another unit, or from another zero."""
    record = plain(kind, number)
    unit = ((1000.0, 0.0), (0.01, 0.0), (1.0, 273.15), (25.4, 0.0))[number % 4]
    return replace(record, test_unit=unit)


def coloured(kind: str, number: int) -> TrueRecord:
    """Return a record with slow noise on the output."""
    record = plain(kind, number)
    slow = lfilter([1.0], [1.0, -0.95], _rng(kind, "slow", number).standard_normal(SAMPLES))
    size = (0.1, 0.3, 0.6)[number % 3] * record.truth.std() / slow.std()
    return replace(record, y=record.truth + size * slow)


def drifting(kind: str, number: int) -> TrueRecord:
    """Return a record whose output drifts: what is to be predicted drifts on."""
    record = plain(kind, number)
    size = (0.3, 1.0, 3.0)[number % 3] * record.truth.std()
    drift = size * np.linspace(0, 1, SAMPLES) ** (1 + number % 2)
    return replace(record, y=record.y + drift, truth=record.truth + drift)


def changed(kind: str, number: int) -> TrueRecord:
    """Return a record whose sensor changes its gain after the known part, for good."""
    record = plain(kind, number)
    gain = np.where(np.arange(SAMPLES) < record.known, 1.0, (1.3, 1.8)[number % 2])
    last = gain[-1]
    return replace(record, y=gain * record.y, truth=gain * record.truth, fresh_truth=last * record.fresh_truth)


def _series(kind: str, number: int, system: System, disturbance: Floats, horizon: int, start: float) -> TrueRecord:
    nothing = np.empty((SAMPLES, 0))
    y = simulate(system, nothing, disturbance, np.full(4, start))
    if system is VAN_DER_POL or system is AUTOREGRESSION:
        y[:4] += 0.01 * np.arange(4)
        y = simulate(system, nothing, disturbance, y)
    return TrueRecord(kind, number, system, nothing, y, y, nothing[:FRESH], y[:FRESH], horizon=horizon)


def limit_cycle(kind: str, number: int) -> TrueRecord:
    """Return an oscillation that keeps itself going, whose worth is judged in free run over some periods."""
    size = (0.0, 0.0, 1e-3)[number % 3]
    disturbance = size * _rng(kind, "disturbance", number).standard_normal(SAMPLES)
    start = 0.1 + 0.2 * number + 0.1 * is_held_out(kind)
    return _series(kind, number, VAN_DER_POL, disturbance, 120, start)


def autoregressive(kind: str, number: int) -> TrueRecord:
    """Return a series that noise drives, of which little can be foreseen for long."""
    disturbance = _rng(kind, "disturbance", number).standard_normal(SAMPLES)
    return _series(kind, number, AUTOREGRESSION, disturbance, 3, 0.0)


def chaotic(kind: str, number: int) -> TrueRecord:
    """Return a logistic map, which can be foreseen for some steps only."""
    start = 0.1 + 0.017 * number + 0.009 * is_held_out(kind)
    return _series(kind, number, LOGISTIC, np.zeros(SAMPLES), 2, start)


def with_outliers(kind: str, number: int) -> TrueRecord:
    """Return a record in which single samples of the output stick out, in the parts that are shown."""
    record = plain(kind, number)
    rng = _rng(kind, "outliers", number)
    y = record.y.copy()
    places = rng.choice(record.shown, size=6 + 2 * number, replace=False)
    y[places] += rng.choice([-1.0, 1.0], len(places)) * rng.uniform(4.0, 10.0, len(places)) * record.truth.std()
    return replace(record, y=y)


def oscillating(kind: str, number: int) -> TrueRecord:
    """Return a drive without dead time whose swing back shows better than its start, for a smooth input."""
    radius, frequency = 0.94 - 0.02 * is_held_out(kind), 2 * np.pi / (26 + 3 * number)
    first, second = 2 * radius * np.cos(frequency), -(radius**2)
    system = System(
        "drive",
        ("y(k-1)", "y(k-2)", "y(k-3)", "u(k-2)", "u(k-2)^3"),
        (0.6 + first, second - 0.6 * first, -0.6 * second, -0.12, 0.05),
    )
    signals = []
    for part, samples in (("record", SAMPLES), ("fresh", FRESH)):
        rng = _rng(kind, part, number)
        levels = held(rng, samples, 20, -1.2, 1.2)
        signals.append(lfilter([0.4], [1.0, -0.6], lfilter([0.4], [1.0, -0.6], levels))[:, None])
    u, fresh_u = signals
    slow = lfilter([1.0], [1.0, -0.9], 0.03 * _rng(kind, "slow", number).standard_normal(SAMPLES))
    disturbance = slow - 0.6 * np.append(0.0, slow[:-1])
    y, truth = simulate(system, u, disturbance), simulate(system, u, np.zeros(SAMPLES))
    return TrueRecord(kind, number, system, u, y, truth, fresh_u, simulate(system, fresh_u, np.zeros(FRESH)))


def rain(kind: str, number: int) -> TrueRecord:
    """Return the runoff of a store that empties faster the fuller it is; the rain is 0 on most days."""
    coefficients = (0.92, -0.03, 0.06) if is_held_out(kind) else (0.95, -0.02, 0.05)
    system = System("reservoir", ("y(k-1)", "y(k-1)^2", "u(k-1)"), coefficients)
    signals = []
    for part, samples in (("record", SAMPLES), ("fresh", FRESH)):
        rng = _rng(kind, part, number)
        signals.append(np.where(rng.random(samples) < 0.3, rng.exponential(8.0, samples), 0.0)[:, None])
    u, fresh_u = signals
    truth = simulate(system, u, np.zeros(SAMPLES))
    y = truth * (1.0 + 0.05 * _rng(kind, "noise", number).standard_normal(SAMPLES))
    return TrueRecord(kind, number, system, u, y, truth, fresh_u, simulate(system, fresh_u, np.zeros(FRESH)))


def opposed(kind: str, number: int) -> TrueRecord:
    """Return two inputs that move against each other: their sum acts early, and their difference, later, more."""
    pole = 0.8 if is_held_out(kind) else 0.85
    names = ("y(k-1)", "u1(k-1)", "u2(k-1)", "u1(k-2)", "u2(k-2)", "u1(k-3)", "u2(k-3)")
    system = System("valves", names, (pole, 0.5, 0.5, -0.3, -0.3, 0.2, -0.2), n_inputs=2)
    signals = []
    for part, samples in (("record", SAMPLES), ("fresh", FRESH)):
        white = _rng(kind, part, number).standard_normal((2, samples))
        difference, total = lfilter([1.0], [1.0, -0.8], np.array([[0.4], [0.08]]) * white)
        signals.append(np.column_stack([total + difference, total - difference]))
    u, fresh_u = signals
    truth = simulate(system, u, np.zeros(SAMPLES))
    y = truth + 0.02 * (1 + number) * _rng(kind, "noise", number).standard_normal(SAMPLES)
    return TrueRecord(kind, number, system, u, y, truth, fresh_u, simulate(system, fresh_u, np.zeros(FRESH)))


def far_from_zero(kind: str, number: int) -> TrueRecord:
    """Return a linear system about an operating point far from zero, half of whose output is noise."""
    constant, pole, gain = (-6.0, 0.7, 0.015) if is_held_out(kind) else (-8.0, 0.6, 0.02)
    system = System("operating point", ("1", "y(k-1)", "u(k-1)"), (constant, pole, gain))
    start = np.full(1, (constant + 1000.0 * gain) / (1.0 - pole))
    signals = []
    for part, samples in (("record", SAMPLES), ("fresh", FRESH)):
        slow = lfilter([60.0], [1.0, -0.95], _rng(kind, part, number).standard_normal(samples))
        signals.append(1000.0 + slow[:, None])
    u, fresh_u = signals
    disturbance = (1.0 + number) * _rng(kind, "disturbance", number).standard_normal(SAMPLES)
    y, truth = simulate(system, u, disturbance, start), simulate(system, u, np.zeros(SAMPLES), start)
    fresh = simulate(system, fresh_u, np.zeros(FRESH), start)
    return TrueRecord(kind, number, system, u, y, truth, fresh_u, fresh)


def flat_side(kind: str, number: int) -> TrueRecord:
    """Return a curve that is steep on one side, and a test on its flat side alone: inside the range, of one unit."""
    pole = 0.7 if is_held_out(kind) else 0.8
    rest = 1.0 - pole
    system = System("titration", ("y(k-1)", "u(k-1)", "u(k-1)^2", "u(k-1)^3"), (pole, 3 * rest, -3 * rest, rest))
    rng = _rng(kind, "record", number)
    u = held(rng, SAMPLES, 10, 0.0, 1.4)
    known, shown = int(KNOWN * SAMPLES), int(SHOWN * SAMPLES)
    u[known:shown] = held(rng, shown - known, 10, 0.7, 1.3)
    fresh_u = held(_rng(kind, "fresh", number), FRESH, 10, 0.0, 1.4)[:, None]
    truth = simulate(system, u[:, None], np.zeros(SAMPLES))
    y = truth + 0.005 * (1 + number) * rng.standard_normal(SAMPLES)
    fresh = simulate(system, fresh_u, np.zeros(FRESH))
    return TrueRecord(kind, number, system, u[:, None], y, truth, fresh_u, fresh)


def closed_loop(kind: str, number: int) -> TrueRecord:
    """Return a record of a closed loop, whose controller answers the noise; fresh inputs move freely."""
    rng = _rng(kind, "record", number)
    system = system_of(kind, number)
    noise = 0.02 * (1 + number) * rng.standard_normal(SAMPLES)
    reference = simulate(system, held(rng, SAMPLES, 30, -0.8, 0.8)[:, None], np.zeros(SAMPLES))
    u, y = simulate_in_loop(system, reference, noise)
    fresh_u = _input(_rng(kind, "fresh", number), number, FRESH)[:, None]
    truth = simulate(system, u, np.zeros(SAMPLES))
    return TrueRecord(kind, number, system, u, y, truth, fresh_u, simulate(system, fresh_u, np.zeros(FRESH)))


def reversed_gain(kind: str, number: int) -> TrueRecord:
    """Return a record whose output answers the other way round after the known part, for good."""
    record = plain(kind, number, noise=0.1)
    gain = np.where(np.arange(SAMPLES) < record.known, 1.0, -1.0)
    return replace(record, y=gain * record.y, truth=gain * record.truth, fresh_truth=-record.fresh_truth)


def backlash(kind: str, number: int) -> TrueRecord:
    """Return a system behind a gear with play, which no polynomial describes."""
    record = plain(kind, number)
    width = (0.05, 0.2, 0.5)[number % 3]
    truth = simulate(record.system, _after_play(record.u, width), np.zeros(SAMPLES))
    fresh = simulate(record.system, _after_play(record.fresh_u, width), np.zeros(FRESH))
    return replace(record, y=truth + (record.y - record.truth), truth=truth, fresh_truth=fresh)


def _after_play(u: Floats, width: float) -> Floats:
    """Return what a gear hands on of a motion: it follows once the play, this wide to each side, is used up."""
    position, followed = 0.0, np.zeros_like(u)
    for k, value in enumerate(u[:, 0].tolist()):
        position = min(max(position, value - width), value + width)
        followed[k, 0] = position
    return followed


def late(kind: str, number: int) -> TrueRecord:
    """Return a record whose input acts later than the models that are judged reach back."""
    record = plain(kind, number)
    delay = 4 + 2 * number
    truth = simulate(record.system, _delayed(record.u, delay), np.zeros(SAMPLES))
    fresh = simulate(record.system, _delayed(record.fresh_u, delay), np.zeros(FRESH))
    return replace(record, y=truth + (record.y - record.truth), truth=truth, fresh_truth=fresh)


def _delayed(u: Floats, samples: int) -> Floats:
    """Return an input that was 0 before, some samples later."""
    return np.vstack([np.zeros((samples, u.shape[1])), u[:-samples]])


# How many records of each kind, and what makes them.
KINDS: dict[str, tuple[int, Callable[[str, int], TrueRecord]]] = {
    "inside the range": (15, plain),
    "much noise": (10, noisier),
    "short": (10, short),
    "just outside the range": (10, outside),
    "rest and a coarse sensor": (10, resting),
    "unused input": (12, unused),
    "coarse sensor": (10, coarse),
    "clipped sensor": (6, clipped),
    "one step": (8, one_step),
    "constant input": (6, constant),
    "test in other units": (8, other_units),
    "coloured noise": (12, coloured),
    "drift": (12, drifting),
    "changed process": (8, changed),
    "limit cycle": (9, limit_cycle),
    "autoregression": (6, autoregressive),
    "chaos": (6, chaotic),
    "outliers": (5, with_outliers),
    "oscillating drive": (5, oscillating),
    "rain and runoff": (5, rain),
    "opposed inputs": (5, opposed),
    "far from zero": (5, far_from_zero),
    "test on the flat side": (5, flat_side),
    "closed loop": (5, closed_loop),
    "reversed gain": (5, reversed_gain),
    "gear with play": (5, backlash),
    "late effect": (5, late),
}


def all_records(few: bool = False) -> list[TrueRecord]:
    """Return all records, or two of each kind, each also held out; those of the lowest numbers first."""
    records = []
    for kind, (count, make) in KINDS.items():
        n_records = 2 if few else count
        for number in range(n_records):
            records += [make(kind, number), make(held_out(kind), number)]
    return sorted(records, key=lambda record: record.number)

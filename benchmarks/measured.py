"""Data to model, against other packages: ``python -m benchmarks.measured [--quick]``.

Writes ``benchmarks/measured.md``. narxbench identifies with its default settings. The others have a grid of settings,
from which they choose by a free run over the last part of the training data. Next to their choice stands the best of
the grid on the test. Simulated data have a known truth and, for the test, an output without noise.
"""

import os

# One thread, set before numpy is imported.
os.environ |= {f"{library}_NUM_THREADS": "1" for library in ("OPENBLAS", "OMP", "MKL", "NUMBA")}

import argparse
import inspect
import math
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, product
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.integrate import solve_ivp
from scipy.signal import lfilter

import narxbench
from benchmarks.common import ROOT, machine_facts, number, table, version
from narxbench._identification.data.reading import read_recording
from narxbench._io.files import write_atomically
from narxbench._model.noise_models import noise_family
from narxbench._numerics.random_streams import generator

RESULT = ROOT / "benchmarks" / "measured.md"
BUCK = ROOT / "data" / "buck"
# The grid of the others.
LAGS, DEGREES, CRITERIA, TERMS, START = (
    (2, 3, 4, 5),
    (1, 2, 3),
    ("aic", "bic"),
    (4, 8, 12, 16),
    (None, "one_step_ahead"),
)
# Limits of the others: the terms that their information criteria consider, and the steps of a fit by simulation, which
# might not end otherwise.
MOST_TERMS, MOST_STEPS = 20, 10
# Settings of narxbench for a try.
SMALL: dict[str, Any] = {"effort": 1.0}
# Share of the training data whose free run chooses from the grid.
CHOOSES = 0.25
SAMPLES, TESTED = 1200, 800
# A model whose error is this many times the deviation of the output is of no use to anyone.
USELESS = 10.0

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Signals:
    """A record: inputs (samples, inputs), output, and for simulated test data the output without noise."""

    u: Floats
    y: Floats
    clean: Floats | None = None

    def part(self, start: int, end: int | None) -> "Signals":
        """Return some of the samples."""
        return Signals(self.u[start:end], self.y[start:end])

    def every(self, stride: int, phase: int = 0) -> "Signals":
        """Return one of every ``stride`` samples, from the one at ``phase`` on."""
        return Signals(self.u[phase::stride], self.y[phase::stride])

    def delayed(self, samples: int) -> "Signals":
        """Return the record with its inputs delayed by some samples."""
        return Signals(self.u[: len(self.u) - samples], self.y[samples:])

    def columns(self, inputs: Sequence[str]) -> dict[str, Floats]:
        """Return the columns of a file."""
        return {**dict(zip(inputs, self.u.T, strict=True)), "y": self.y}


@dataclass(frozen=True)
class Case:
    """A data set, and what is known about it."""

    name: str
    about: str
    training: list[Signals]
    test: Signals
    # The stride and the delay that the others try besides the data as they are.
    stride: int = 1
    delay: int = 0
    inputs: tuple[str, ...] = ("u",)


class PackageRun(NamedTuple):
    """The outcome of a package on a data set: free-run predictions of the test data, and the cost of getting them."""

    method: str
    predicted: Floats
    initial: int
    terms: int
    settings: str
    seconds: float
    # Whether the test chose it.
    hindsight: bool = False


class Fitted(NamedTuple):
    """A model of another package: how it predicts a record from its first outputs, their number, and its terms."""

    predict: Callable[[Signals], Floats]
    initial: int
    terms: int


# Simulated data


def held(rng: np.random.Generator, samples: int, hold: int, low: float = -1.0, high: float = 1.0) -> Floats:
    """Return random levels, each held for some samples."""
    levels: Floats = np.repeat(rng.uniform(low, high, -(-samples // hold)), hold)[:samples]
    return levels


def _rng(name: str, part: str, number: int) -> np.random.Generator:
    """Return the random numbers of a part of a data set; packages are compared on the data sets of number 0."""
    axes: dict[str, Any] = {"data": name, "part": part}
    if number:
        axes["number"] = number
    return generator(purpose="benchmark of measured data", **axes)


def oversampled(samples: int = SAMPLES, tested: int = TESTED, number: int = 0) -> Case:
    """Return data of a polynomial in steps of ten samples, with equation noise."""

    def record(part: str, n: int) -> Signals:
        rng = _rng("oversampled", part, number)
        u = held(rng, n, 30)
        # White at every tenth sample, and smooth in between, as the noise of a continuous process is.
        noise = 0.02 * lfilter(np.ones(10) / math.sqrt(10), [1.0], rng.normal(size=n))

        def run(e: Floats) -> Floats:
            y = np.zeros(n)
            for k in range(20, n):
                a, b, c, d = y[k - 10], y[k - 20], u[k - 10], u[k - 20]
                y[k] = 1.2 * a - 0.45 * b + 0.3 * c + 0.15 * a * c - 0.2 * d * d + e[k]
            return y

        return Signals(u[:, None], run(noise), run(np.zeros(n)))

    about = "a polynomial in steps of 10 samples, equation noise, input held for 30 samples (the truth is a candidate)"
    training, test = record("training", samples), record("test", tested)
    return Case("oversampled", about, [training], test, stride=10)


def wiener(samples: int = SAMPLES, tested: int = TESTED, number: int = 0) -> Case:
    """Return data of a linear system whose output saturates, with output noise."""

    def record(part: str, n: int) -> Signals:
        rng = _rng("wiener", part, number)
        u = held(rng, n, 5)
        x = lfilter([0.0, 0.12, 0.08], [1.0, -1.5, 0.6], u)
        clean = np.tanh(1.5 * x)
        return Signals(u[:, None], clean + 0.03 * rng.normal(size=n), clean)

    about = "a linear system and then tanh, output noise (no candidate is true)"
    return Case("saturation", about, [record("training", samples)], record("test", tested))


def hammerstein(samples: int = SAMPLES, tested: int = TESTED, number: int = 0) -> Case:
    """Return data of a dead zone before a linear system with a delay, and an input without effect."""

    def record(part: str, n: int) -> Signals:
        rng = _rng("hammerstein", part, number)
        u = np.column_stack([held(rng, n, 4), held(rng, n, 4)])
        v = np.sign(u[:, 0]) * np.maximum(np.abs(u[:, 0]) - 0.25, 0.0)
        late = np.concatenate([np.zeros(11), v])[:n]
        clean = lfilter([0.0, 0.3], [1.0, -1.2, 0.4], late)
        return Signals(u, clean + 0.02 * rng.normal(size=n), clean)

    about = "a dead zone, 12 samples of delay, a linear system, output noise, and a second input without effect"
    training, test = record("training", samples), record("test", tested)
    return Case("delay", about, [training], test, delay=12, inputs=("u1", "u2"))


def duffing(samples: int = SAMPLES, tested: int = TESTED, number: int = 0) -> Case:
    """Return data of a forced oscillator with a cubic spring, integrated, and rounded to 14 bits."""

    def record(part: str, n: int) -> Signals:
        rng = _rng("duffing", part, number)
        frequencies, phases = rng.uniform(0.05, 2.0, 12), rng.uniform(0, 2 * np.pi, 12)
        weights = rng.uniform(0.1, 0.35, 12)
        times = 0.05 * np.arange(n)

        def force(t: Any) -> Any:
            return np.sin(np.multiply.outer(t, frequencies) + phases) @ weights

        def slope(t: float, x: Floats) -> list[float]:
            return [x[1], force(t) - 0.3 * x[1] - x[0] - 0.6 * x[0] ** 3]

        clean = solve_ivp(slope, (0.0, times[-1]), [0.0, 0.0], t_eval=times, rtol=1e-8, atol=1e-10).y[0]
        step = 4.0 / 2**14
        return Signals(np.round(force(times) / step)[:, None] * step, np.round(clean / step) * step, clean)

    about = "a Duffing oscillator driven by 12 sines, integrated, 0.05 s a sample, rounded to 14 bits"
    return Case("oscillator", about, [record("training", samples)], record("test", tested), stride=10)


def two_records(samples: int = SAMPLES, tested: int = TESTED, number: int = 0) -> Case:
    """Return two records with a gap in between, of a polynomial with coloured noise."""

    def record(part: str, n: int) -> Signals:
        rng = _rng("records", part, number)
        u = held(rng, n, 2)
        noise = lfilter([1.0], [1.0, -0.8], 0.03 * rng.normal(size=n))

        def run(e: Floats) -> Floats:
            y = np.zeros(n)
            for k in range(2, n):
                y[k] = 0.9 * y[k - 1] - 0.3 * y[k - 2] + 0.5 * u[k - 1] + 0.3 * u[k - 2] ** 2
                y[k] += 0.2 * y[k - 1] * u[k - 2] + e[k]
            return y

        return Signals(u[:, None], run(noise), run(np.zeros(n)))

    about = "two records with a gap, a polynomial whose equation noise is an autoregression (the truth is a candidate)"
    parts = [record("first", samples * 3 // 5), record("second", samples * 2 // 5)]
    return Case("records", about, parts, record("test", tested))


def buck() -> Case:
    """Return the shipped data of a buck converter."""
    about = "measured: a buck converter (`data/buck/`), 1001 and 999 samples"
    return Case("buck", about, [_buck_file("id")], _buck_file("valid"), stride=12, inputs=("input",))


def _buck_file(name: str) -> Signals:
    """Return the record in one of the files of the buck converter."""
    (record,) = read_recording(BUCK / f"buck_{name}.csv", input="input", output="y").records
    return Signals(record.u, record.y)


SIMULATED = (oversampled, wiener, hammerstein, duffing, two_records)


# Methods


def with_narxbench(case: Case, **settings: Any) -> tuple[narxbench.Identification, Floats]:
    """Identify with narxbench, and return the result and the free run over the test data."""
    data = {"input": list(case.inputs), "output": "y", "test": [case.test.columns(case.inputs)]}
    experiments = [record.columns(case.inputs) for record in case.training]
    identification = narxbench.identify(experiments, **data, **settings)
    model = identification.model
    try:
        return identification, model.predict(case.test.u, case.test.y)
    except narxbench.NarxbenchError:
        # The free run diverges.
        first = model.initial_samples
        return identification, np.concatenate([case.test.y[:first], np.full(len(case.test.y) - first, np.inf)])


def with_sysidentpy(training: Sequence[Signals], degree: int, lags: int, criterion: str) -> Fitted:
    """Fit FROLS of SysIdentPy; it takes one record, the longest."""
    from sysidentpy.basis_function import Polynomial
    from sysidentpy.model_structure_selection import FROLS
    from sysidentpy.parameter_estimation import LeastSquares

    record = max(training, key=lambda candidate: len(candidate.y))
    inputs, all_lags = record.u.shape[1], list(range(1, lags + 1))
    model = FROLS(
        order_selection=True,
        n_info_values=MOST_TERMS,
        ylag=lags,
        xlag=lags if inputs == 1 else [all_lags] * inputs,
        info_criteria=criterion,
        estimator=LeastSquares(),
        basis_function=Polynomial(degree=degree),
    )
    model.fit(X=record.u, y=record.y[:, None])
    return Fitted(lambda r: model.predict(X=r.u, y=r.y[:, None])[:, 0], lags, len(model.final_model))


def with_fastcan(training: Sequence[Signals], degree: int, lags: int, terms: int, start: str | None) -> Fitted:
    """Fit a NARX model of fastcan; it takes several records, and the number of terms."""
    from fastcan.narx import make_narx

    whole, sessions = joined(training), {}
    if len(training) > 1:
        sessions = {"session_sizes": [len(record.y) for record in training]}
    quiet = {"verbose": 0, "refine_verbose": 0}
    model = make_narx(whole.u, whole.y, terms, max_delay=lags, poly_degree=degree, refine_drop=1, **sessions, **quiet)
    limit = {"max_nfev": MOST_STEPS} if start else {}
    model.fit(whole.u, whole.y, coef_init=start, **sessions, **limit)
    return Fitted(lambda r: model.predict(r.u, y_init=r.y[: model.max_delay_]), lags, terms + 1)


def free_run(model: Fitted, record: Signals, stride: int, delay: int) -> Floats:
    """Return predictions of all samples; each phase of a stride has a run of its own. The first are measured."""
    predicted, late = record.y.copy(), record.delayed(delay)
    for phase in range(stride):
        predicted[delay + phase :: stride] = model.predict(late.every(stride, phase))
    predicted[: delay + model.initial * stride] = record.y[: delay + model.initial * stride]
    return predicted


def rrse(y: Floats, predicted: Floats, first: int = 0) -> float:
    """Return the root relative squared error from a sample on; infinite where the run has diverged or is useless."""
    y, predicted = y[first:], predicted[first:]
    with np.errstate(all="ignore"):
        value = float(np.sqrt(np.sum((y - predicted) ** 2) / np.sum((y - y.mean()) ** 2)))
    return value if value < USELESS else math.inf


def grid(small: bool) -> dict[str, tuple[Callable[..., Fitted], list[tuple[Any, ...]]]]:
    """Return the other methods with their settings: degree, lags, and one or two more."""
    lags, degrees, terms, starts = LAGS, DEGREES, TERMS, START
    if small:
        lags, degrees, terms, starts = LAGS[:2], DEGREES[:2], TERMS[:2], START[:1]
    methods = {}
    if version("sysidentpy"):
        methods["SysIdentPy FROLS"] = (with_sysidentpy, list(product(degrees, lags, CRITERIA)))
    if version("fastcan"):
        methods["fastcan"] = (with_fastcan, list(product(degrees, lags, terms, starts)))
    return methods


class Trial(NamedTuple):
    """A model with some settings of a grid: its error that chooses, its error on the test, and the outcome."""

    score: float
    test_error: float
    outcome: PackageRun


def joined(records: Sequence[Signals]) -> Signals:
    """Return all samples of several records, one after the other."""
    return Signals(np.concatenate([record.u for record in records]), np.concatenate([record.y for record in records]))


def by_grid(
    case: Case, name: str, fit: Callable[..., Fitted], settings: Sequence[tuple[Any, ...]]
) -> Iterator[PackageRun]:
    """Yield the choice of a method from its grid, then the best model of the grid on the test."""
    strides = sorted({1, case.stride})
    delays = sorted({0, max(0, case.delay - 1)})
    trials, seconds = [], 0.0
    for stride, delay, values in product(strides, delays, settings):
        records = [record.delayed(delay) for record in case.training]
        started = time.process_time()
        try:
            score = validation_error(records, stride, fit, values)
            model = fit([record.every(stride) for record in records], *values)
        except (ValueError, IndexError, ArithmeticError, np.linalg.LinAlgError):
            # More terms than candidates, or weights that are not finite.
            continue
        finally:
            seconds += time.process_time() - started
        predicted, initial = free_run(model, case.test, stride, delay), delay + model.initial * stride
        outcome = PackageRun(name, predicted, initial, model.terms, _words(values, stride, delay), 0.0)
        trials.append(Trial(score, rrse(case.test.y, predicted, initial), outcome))
    if trials:
        chosen, best = min(trials, key=lambda trial: trial[:2]), min(trials, key=lambda trial: trial.test_error)
        yield chosen.outcome._replace(seconds=seconds)
        yield best.outcome._replace(seconds=seconds, hindsight=True)


def validation_error(
    records: Sequence[Signals], stride: int, fit: Callable[..., Fitted], values: Sequence[Any]
) -> float:
    """Return the largest error of a free run over the last part of a record, by a model of the parts before."""
    estimation, validation = [], []
    for record in records:
        cut = round((1 - CHOOSES) * len(record.y))
        estimation.append(record.part(0, cut).every(stride))
        validation.append(record.part(cut, None))
    model, errors = fit(estimation, *values), []
    for part in validation:
        errors.append(rrse(part.y, free_run(model, part, stride, 0), model.initial * stride))
    return max(errors)


def _words(values: Sequence[Any], stride: int, delay: int) -> str:
    """Return settings of a grid in words."""
    words = [f"every {stride}th" if stride > 1 else "as sampled", f"degree {values[0]}", f"lags {values[1]}"]
    if delay > 0:
        words.append(f"delay {delay + 1} given")
    if values[-1] in CRITERIA:
        words.append(values[-1])
    if values[-1] in START[1:]:
        words.append("by simulation")
    return ", ".join(words)


def all_outcomes(case: Case, small: bool = False) -> tuple[narxbench.Identification, list[PackageRun]]:
    """Return the identification by narxbench, and the outcomes of all methods."""
    settings = SMALL if small else {}
    identification, outcome = narxbench_outcome(case, **settings)
    return identification, [outcome, *outcomes_of_others(case, small)]


def narxbench_outcome(
    case: Case, method: str = "narxbench", **settings: Any
) -> tuple[narxbench.Identification, PackageRun]:
    """Return an identification by narxbench, and its outcome."""
    started = time.process_time()
    identification, predicted = with_narxbench(case, **settings)
    seconds = time.process_time() - started
    model, configuration = identification.model, identification.configuration
    largest_lag = max((0, *configuration["y_lags"], *chain.from_iterable(configuration["u_lags"])))
    words = [
        _sampling(model.decimation, "as sampled"),
        noise_family(model.noise_model).title,
        f"degree {configuration['degree']}",
        f"lags to {largest_lag}",
    ]
    if configuration["centred"]:
        words.append("centred")
    first, terms = model.initial_samples, len(model.terms)
    return identification, PackageRun(method, predicted, first, terms, ", ".join(words), seconds)


def outcomes_of_others(case: Case, small: bool = False) -> list[PackageRun]:
    """Return the choices of the other methods from their grids."""
    outcomes: list[PackageRun] = []
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        for name, (fit, settings) in grid(small).items():
            outcomes += by_grid(case, name, fit, settings)
    return outcomes


# The page


def _ordinal(value: int) -> str:
    return f"{value}{dict(zip((2, 3), ('nd', 'rd'), strict=True)).get(value, 'th')}"


class Line(NamedTuple):
    """The errors of an outcome over the samples that all methods predict, and that without noise where it is known."""

    outcome: PackageRun
    all_samples: float
    clean: float | None


def scored_from(case: Case, outcomes: Sequence[PackageRun]) -> int:
    """Return the first sample of phase 0 that all methods predict."""
    return -(-max(outcome.initial for outcome in outcomes) // case.stride) * case.stride


def lines_of(case: Case, outcomes: Sequence[PackageRun]) -> list[Line]:
    """Return the errors of all outcomes on a data set."""
    first, y, clean = scored_from(case, outcomes), case.test.y, case.test.clean
    lines = []
    for outcome in outcomes:
        predicted, clean_error = outcome.predicted, None
        if clean is not None:
            clean_error = rrse(clean, predicted, first)
        lines.append(Line(outcome, rrse(y, predicted, first), clean_error))
    return lines


def code_lines(*functions: Callable[..., Any]) -> int:
    """Return the lines of functions, without empty ones and docstrings."""
    count = 0
    for function in functions:
        text = inspect.getsource(function).replace(f'"""{function.__doc__}"""', "")
        count += sum(bool(line.strip()) and not line.strip().startswith("#") for line in text.splitlines())
    return count


def error_figure(value: float | None) -> str:
    """Return an error as text; empty if there is none."""
    return "" if value is None else number(value, missing="diverges")


def shown_method(outcome: PackageRun) -> str:
    """Return the method of an outcome, and whether the test chose it."""
    if outcome.hindsight:
        return f"{outcome.method}, best on the test*"
    return outcome.method


def main_table(results: Sequence[tuple[Case, Sequence[Line]]]) -> str:
    """Return the table of errors, one row for each data set and method."""
    rows = []
    for case, lines in results:
        title = f"**{case.name}**"
        for line in lines:
            outcome = line.outcome
            errors = map(error_figure, (line.all_samples, line.clean))
            chosen = str(outcome.terms), outcome.settings, f"{outcome.seconds:.1f}"
            rows.append([title, shown_method(outcome), *errors, *chosen])
            title = ""
    header = ["data", "method", "RRSE", "without noise", "terms", "chosen", "CPU s"]
    return table(header, rows)


def _sampling(stride: int, whole: str = "as it is") -> str:
    """Return in words which samples are used; ``whole`` represents all of them."""
    return f"every {_ordinal(stride)}" if stride > 1 else whole


Results = Sequence[tuple[Case, Sequence[Line]]]


def sentences(results: Results) -> str:
    """Return how narxbench compares, in words that are made of the figures."""
    methods: set[str] = set()
    for _, lines in results:
        methods.update(line.outcome.method for line in lines)
    return "\n".join(_sentence(results, method) for method in sorted(methods - {"narxbench"}))


def _sentence(results: Results, method: str) -> str:
    """Return how another method compares with narxbench."""
    ratios, hindsight_ratios, divergent = [], [], []
    for case, lines in results:
        narxbench_error = lines[0].all_samples
        for line in lines[1:]:
            if line.outcome.method != method:
                continue
            ratio = line.all_samples / narxbench_error
            if line.outcome.hindsight:
                hindsight_ratios.append(ratio)
                continue
            ratios.append(ratio)
            if not math.isfinite(line.all_samples):
                divergent.append(case.name)
    finite = list(filter(math.isfinite, ratios))
    n_larger = np.count_nonzero(np.array(ratios) > 1)
    text = f"- {method} by its own choice has a larger error than narxbench on {n_larger} of {len(ratios)} data sets"
    if finite:
        text += f", {number(min(finite), 2)} to {number(max(finite), 2)} times as large"
    if divergent:
        text += f", and it diverges on {', '.join(divergent)}"
    n_smaller = np.count_nonzero(np.array(hindsight_ratios) < 1)
    return f"{text}. The best of its grid, which only the test can tell, has a smaller one on {n_smaller}."


def report(cases: Sequence[Case], small: bool = False) -> str:
    """Compare on all data sets and return the page."""
    # The first search on a machine compiles.
    u, y = narxbench.load_system("S1").simulate(300)
    narxbench.identify(input=u, output=y, effort=1, degree=2, y_lags=2, u_lags=2)
    results = []
    for case in cases:
        _, outcomes = all_outcomes(case, small)
        results.append((case, lines_of(case, outcomes)))
        for line in results[-1][1]:
            method, seconds = line.outcome.method, line.outcome.seconds
            print(f"{case.name:12} {method:17} {line.all_samples:7.3f} {seconds:6.1f} s", flush=True)
    line_counts = [f"narxbench {code_lines(with_narxbench)}"]
    for name, (fit, _) in grid(small).items():
        line_counts.append(f"{name} {code_lines(fit, free_run, by_grid, validation_error)}")
    return TEXT.format(
        data="\n".join(f"- **{case.name}** (n = {case.stride}): {case.about}" for case in cases),
        errors=main_table(results),
        sentences=sentences(results),
        lines=", ".join(line_counts),
        lags=f"{LAGS[0]} to {LAGS[-1]}",
        degrees=f"{DEGREES[0]} to {DEGREES[-1]}",
        criteria=" and ".join(map(str.upper, CRITERIA)),
        most=MOST_TERMS,
        terms=", ".join(map(str, TERMS)),
        steps=MOST_STEPS,
        chooses=f"{100 * CHOOSES:.0f} %",
        useless=f"{USELESS:.0f}",
        machine=machine_facts(),
    )


TEXT = """# From data to a model: narxbench and others

`python -m benchmarks.measured` makes this file. narxbench has its default settings and was given only the names of
the columns.

{data}

## Errors on data that no method has seen

RRSE is of a free run over the test data. More than {useless} counts as *diverges*. A model of every n-th sample is
run in all phases, so that all methods predict the same samples. *Without noise* is the error against the output
without noise.

{errors}
\\* chosen by its error on the test data: nobody can choose so, but a better grid or choice could come near it.

{sentences}

Settings of the others:

- SysIdentPy: FROLS with its information criterion for the number of terms (up to {most}), least squares, as its
  documentation shows, and a grid of lags {lags}, degrees {degrees}, criteria {criteria}. It takes one record: the
  longest.
- fastcan: `make_narx` with one step of refinement, then `fit`, and a grid of the same lags and degrees, {terms} terms
  and the intercept, weights one step ahead or by simulation (at most {steps} steps of it).
- Both grids are searched in the data as sampled and in every n-th sample. Settings are chosen by the free run over the
  last {chooses} of the training data. Where there is a delay the inputs were also given late by it, less one sample.
- *CPU s* is of a whole grid, in one thread. Lines of this script that do it: {lines}.

{machine}
"""


def main() -> None:
    """Compare, and write the file."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="short data and small grids: a try, not a comparison")
    parser.add_argument("--output", type=Path, default=RESULT)
    options = parser.parse_args()
    samples = (600, 300) if options.quick else (SAMPLES, TESTED)
    cases = [buck()]
    for make in SIMULATED:
        cases.append(make(*samples))
    write_atomically(options.output, report(cases, options.quick))


if __name__ == "__main__":
    main()

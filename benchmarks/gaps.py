"""The gain of bridging gaps: ``python -m benchmarks.gaps [--quick]``.

Writes ``benchmarks/gaps.md``. Data sets of known systems are identified whole, and with samples of the output or of the
input removed, once with every gap cutting the record and once with short gaps bridged.
"""

import math
import warnings
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from typing import Any

# First: it sets one thread before numpy is imported.
from benchmarks.common import ROOT, number, table, write_page  # isort: skip
import numpy as np
from numpy.typing import NDArray
from scipy.signal import lfilter

import narxbench
from narxbench._identification.data.gaps import USUAL_GAP

Floats = NDArray[np.float64]
RESULT = ROOT / "benchmarks" / "gaps.md"
SYSTEMS = ("S1", "S3", "mao1997", "piroddi2003")
SAMPLES, TESTED, SNR_DB, LAGS, EFFORT = 1000, 1000, 25, 4, 4
SETS = {"full": 2, "quick": 1}
# Share of the samples that are missing, and the length of the gaps: at random, or of these lengths.
GAPS = {"1 %": (0.01, (1, 1)), "5 %": (0.05, (1, 1)), "20 %": (0.2, (1, 1)), "10 % in gaps of 2 to 8": (0.1, (2, 8))}
# A slow input: noise that passes a filter with two poles here, of this standard deviation.
SLOW_POLE, SLOW_SPREAD = 0.97, 0.2
WAYS = {"cut": 0, "bridged": USUAL_GAP}


PROCESSES = 2


@dataclass
class Agreement:
    """How the models of one way agree with a system, over data sets."""

    errors: list[float] = field(default_factory=list)  # of the free run on fresh data, by that of whole data
    exact: int = 0  # models with the terms of the system
    failed: int = 0  # data sets without a model


# By the kind of the gaps and the way.
Agreements = dict[str, dict[str, Agreement]]


def data_sets(system: narxbench.System, signal: str, sets: int) -> Iterator[tuple[Floats, Floats]]:
    """Yield inputs and outputs of a system, the noise entering the output and the equation in turn."""
    for seed in range(1, sets + 1):
        if signal == "input":
            yield _slow_data(system, seed)
            continue
        yield system.simulate(SAMPLES, snr_db=SNR_DB, seed=seed)
        yield system.simulate(SAMPLES, snr_db=SNR_DB, seed=seed, noise="equation")


def _slow_data(system: narxbench.System, seed: int) -> tuple[Floats, Floats]:
    draws = np.random.default_rng(seed)
    u = lfilter([1.0], np.poly([SLOW_POLE, SLOW_POLE]), draws.standard_normal(SAMPLES))
    u *= SLOW_SPREAD / u.std()
    model = narxbench.Model(tuple(system.terms), tuple(system.coefficients), ("u",), "y")
    y = model.predict(u, np.zeros(model.initial_samples))
    noise = 10 ** (-SNR_DB / 20) * y.std() * draws.standard_normal(SAMPLES)
    return u, y + noise


def missing(share: float, lengths: tuple[int, int], seed: int) -> NDArray[np.bool_]:
    """Return which samples are missing."""
    draws = np.random.default_rng(seed)
    if lengths == (1, 1):
        return np.asarray(draws.random(SAMPLES) < share)
    is_missing = np.zeros(SAMPLES, np.bool_)
    while is_missing.mean() < share:
        start, length = draws.integers(SAMPLES), draws.integers(lengths[0], lengths[1] + 1)
        is_missing[start : start + length] = True
    return is_missing


def identified(system: narxbench.System, u: Floats, y: Floats, bridge: int) -> narxbench.Model | None:
    """Return the model of some data; None if there is none."""
    settings: dict[str, Any] = {"degree": system.degree, "y_lags": LAGS, "u_lags": LAGS, "decimation": 1}
    try:
        data = {"u": u, "y": y}
        return narxbench.identify(data, "y", input="u", bridge=bridge, effort=EFFORT, **settings).model
    except narxbench.NarxbenchError:
        return None


def fresh_error(system: narxbench.System, model: narxbench.Model) -> float:
    """Return the error of the free run over fresh data without noise; NaN where it diverges."""
    u, y = system.simulate(TESTED, seed=99)
    rrse = model.score(u, y).rrse
    if rrse is None:
        return math.nan
    return rrse


def outcomes(name: str, signal: str, sets: int) -> Agreements:
    """Return the outcome of each way for each kind of gaps, for data of one system."""
    warnings.simplefilter("ignore")
    system = narxbench.load_system(name)
    results = {kind: {way: Agreement() for way in WAYS} for kind in GAPS}
    for place, (u, y) in enumerate(data_sets(system, signal, sets)):
        whole = identified(system, u, y, 0)
        if whole is None:
            raise SystemExit(f"FAIL: no model of the whole data of {name}")
        reference = fresh_error(system, whole)
        for kind, (share, lengths) in GAPS.items():
            is_missing = missing(share, lengths, place)
            with_gaps = {"u": u.copy(), "y": y.copy()}
            with_gaps["u" if signal == "input" else "y"][is_missing] = np.nan
            for way, bridge in WAYS.items():
                model = identified(system, with_gaps["u"], with_gaps["y"], bridge)
                outcome = results[kind][way]
                if model is None:
                    outcome.failed += 1
                    continue
                outcome.exact += set(model.terms) == set(system.terms)
                outcome.errors.append(fresh_error(system, model) / reference)
        print(signal, name, place + 1, flush=True)
    return results


def rows(results: Sequence[Agreements]) -> list[list[str]]:
    """Return a row for each kind of gaps, over all systems."""
    lines = []
    for kind in GAPS:
        line = [kind]
        for way in WAYS:
            total = Agreement()
            for result in results:
                agreement = result[kind][way]
                total.errors += agreement.errors
                total.exact += agreement.exact
                total.failed += agreement.failed
            line += [_geometric_mean(total.errors), f"{total.exact}", f"{total.failed}"]
        lines.append(line)
    return lines


def _geometric_mean(values: Sequence[float]) -> str:
    logarithms = [math.log(value) for value in values if math.isfinite(value)]
    mean = math.nan
    if logarithms:
        mean = math.exp(math.fsum(logarithms) / len(logarithms))
    text, diverged = number(mean), len(values) - len(logarithms)
    if diverged:
        text += f" ({diverged} diverge)"
    return text


def report(sets: int) -> str:
    """Measure, and return the page."""
    header = ["missing", "error, cut", "exact", "no model", "error, bridged", "exact", "no model"]
    tables = {}
    with ProcessPoolExecutor(PROCESSES) as pool:
        for signal in ("output", "input"):
            results = list(pool.map(partial(outcomes, signal=signal, sets=sets), SYSTEMS))
            tables[signal] = table(header, rows(results))
    n_sets = sets * len(SYSTEMS)
    return TEXT.format(
        **tables,
        systems=", ".join(SYSTEMS),
        n_output_sets=2 * n_sets,
        n_input_sets=n_sets,
        samples=SAMPLES,
        tested=TESTED,
        snr=SNR_DB,
        lags=LAGS,
        effort=EFFORT,
        pole=SLOW_POLE,
        spread=SLOW_SPREAD,
        gap=USUAL_GAP,
    )


TEXT = """# What bridging gaps gains

`python -m benchmarks.gaps` makes this file. Data of {systems}, {samples} samples with white noise at {snr} dB, were
identified (effort {effort}, lags up to {lags}, the degree of the system) whole and with samples removed: at random,
or in gaps. *Cut*: every gap cuts the record (`bridge=0`). *Bridged*: gaps of up to {gap} samples are bridged, as by
default. *Error* is the error of the free run over {tested} fresh samples without noise, divided by the error of the
model of the whole data, as a geometric mean. *Exact* are the models with the terms of the system, *no model* the data
sets that gave none.

## Missing outputs

{n_output_sets} data sets with a white input, the noise on the output or in the equation.

{output}
## Missing inputs

{n_input_sets} data sets with a slow input (noise through a filter with two poles at {pole}, of standard deviation
{spread}), the noise on the output. The fresh input is the input of the system, faster and larger, so some runs
diverge. Gaps of a white input cut.

{input}"""


def main() -> None:
    """Measure, and write the file."""
    write_page(__doc__, RESULT, report, SETS)


if __name__ == "__main__":
    main()

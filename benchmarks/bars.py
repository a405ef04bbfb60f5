"""Whether a change makes results worse: ``python benchmarks/bars.py [PART ...]``.

Runs benchmarks of this folder on small sets of cases and compares the figures with the kept ones, case by case
(``benchmarks/bars_today/PART.csv``). Exits with 3 where one is worse: the mean of the paired differences lies on the
wrong side of 0 with its 95 % interval, or one case exceeds its limit. Figures of a part are kept case by case in a
folder of the code that they come from, so that a run resumes. ``--keep`` makes the figures those to compare with.
"""

import os
import sys
from pathlib import Path

# One thread, set before numpy is imported; the library next to this folder, and imports by package.
os.environ |= {f"{library}_NUM_THREADS": "1" for library in ("OPENBLAS", "OMP", "MKL", "NUMBA")}
ROOT = Path(__file__).resolve().parents[1]
sys.path[:1] = [str(ROOT), str(ROOT / "src")]

import argparse  # noqa: E402
import csv  # noqa: E402
import hashlib  # noqa: E402
import math  # noqa: E402
import tempfile  # noqa: E402
from collections.abc import Callable, Iterator, Mapping, Sequence  # noqa: E402
from itertools import product  # noqa: E402
from typing import Any, NamedTuple  # noqa: E402

import numpy as np  # noqa: E402
from scipy.stats import t  # noqa: E402

import narxbench  # noqa: E402
from benchmarks import bands, budget, coverage, first_use, forecasts, gains, gaps, joint, verdicts  # noqa: E402
from benchmarks.common import SYSTEMS  # noqa: E402
from benchmarks.recovery import runs  # noqa: E402
from benchmarks.recovery.plants import LITERATURE, Plant, plants  # noqa: E402
from benchmarks.recovery.situations import make_data  # noqa: E402
from benchmarks.verdict_records import KINDS, held_out  # noqa: E402

KEPT = ROOT / "benchmarks" / "bars_today"
SOURCES = ROOT / "src" / "narxbench"
# The folder of the measured records that do not belong to the project.
RECORDS_FOLDER = "NARXBENCH_RECORDS"
WORSE = 3
CONFIDENCE = 0.95
# Errors that are this many times the deviation, or infinite, count as this.
USELESS, EXACT = 10.0, 1e-6
# A single case has no interval: it may be this many times the kept figure.
MOST_TIMES = 1.15

Figures = dict[str, float]


class Bar(NamedTuple):
    """A part of the benchmarks: the names of its cases, how one is measured, and the limit for each single case."""

    cases: Callable[[], list[str]]
    measure: Callable[[str], Figures]
    most_times: float = math.inf


# Figures: those of these names are compared as they are, and the higher one is better; of all others the logarithms are
# compared, and the lower one is better. A number of terms is only shown.
SHARES = ("exact", "held", "right")
SHOWN = "terms"


def capped(error: float | None) -> float:
    """Return an error between those that count as exact and as useless."""
    if error is None or not error < USELESS:
        return USELESS
    return max(float(error), EXACT)


# Records: inputs, output and test by file name; buck is part of the project.
RECORDS: dict[str, dict[str, Any]] = {
    "heating": {"input": "voltage", "output": "temperature"},
    "stirred_tank": {"input": "coolant_flow", "output": "concentration"},
    "winding": {"input": [f"u{i}" for i in range(1, 6)], "output": "tension_1"},
    "flutter": {"input": "u", "output": "y"},
    "glass_furnace": {"input": ["heating_1", "cooling", "heating_2"], "output": "t1"},
    "wall": {"input": ["outdoor_temperature", "indoor_temperature"], "output": "heat_flow"},
    "steam_generator": {"input": ["fuel", "air", "level_reference", "disturbance"], "output": "drum_pressure"},
    "industrial_dryer": {"input": ["fuel", "fan_speed", "raw_material"], "output": "wet_bulb"},
}
BUCK, TANKS = "buck", "cascaded_tanks"
TESTED = "30%"


def record_file(name: str) -> Path | None:
    """Return the file of a record in the folder of measured records, or None where it is not at hand."""
    folder = os.environ.get(RECORDS_FOLDER)
    if not folder:
        return None
    return next(iter(sorted(Path(folder).rglob(f"{name}.csv"))), None)


def records_at_hand() -> list[str]:
    """Return the names of the records that are at hand."""
    return [BUCK, *(name for name in (TANKS, *RECORDS) if record_file(name))]


def recorded(name: str) -> Figures:
    """Return the error of the default identification of a record on its test, and its number of terms."""
    if name == BUCK:
        folder = ROOT / "data" / "buck"
        data: dict[str, Any] = {"test": str(folder / "buck_valid.csv"), "input": "input", "output": "y"}
        identification = narxbench.identify(str(folder / "buck_id.csv"), **data)
    elif name == TANKS:
        columns: dict[str, Any] = {"input": "uEst", "output": "yEst", "test_input": "uVal", "test_output": "yVal"}
        identification = narxbench.identify(str(record_file(name)), time=False, **columns)
    else:
        identification = narxbench.identify(str(record_file(name)), test=TESTED, **RECORDS[name])
    metrics = identification.to_dict()["metrics"]["test"]["free_run"]
    return {"rrse": capped(metrics["rrse"]), "terms": float(len(identification.model.terms))}


# Recovery: the shares of exact structures of pem, and of default identifications.
NOISES = {40: "white output, 40 dB", 20: "white output, 20 dB"}
FIRST_SEED = 401


def recovery_cases() -> list[str]:
    """Return the paper's systems and those of the literature, with the noise on their outputs."""
    names = [name for name, plant in plants().items() if plant.group == LITERATURE or name in SYSTEMS]
    return [f"{name}, {level} dB" for name, level in product(names, NOISES)]


def recovered(case: str) -> Figures:
    """Return whether the true terms of a system were found, and the errors on fresh data."""
    name, _, level = case.removesuffix(" dB").rpartition(", ")
    plant, situation = plants()[name], NOISES[int(level)]
    (outcome,) = runs.run(runs.Job(name, situation, FIRST_SEED, (runs.PEM,))).outcomes
    figures = {"pem exact": float(outcome.is_exact), "pem error": capped(outcome.error)}
    return figures | identified(plant, situation)


def identified(plant: Plant, situation: str) -> Figures:
    """Return whether the default identification of a system has the true terms, and its error on fresh data."""
    data = make_data(plant, situation, FIRST_SEED)
    if data is None:
        raise ValueError(f"{plant.name}: has no data in the situation {situation}")
    model = narxbench.identify(data.record.inputs, data.record.output).model
    fresh_inputs, fresh_output = data.fresh
    error = model.score(fresh_inputs, fresh_output).rrse
    is_exact = model.decimation == 1 and set(model.terms) == set(plant.terms)
    return {"exact": float(is_exact), "error": capped(error)}


# Verdicts: every this many records of each kind that no rule was chosen on are searched too.
def verdict_cases() -> list[str]:
    """Return records that no rule of the verdicts was chosen on, those of each kind that are searched first."""
    return [f"{kind} {number}" for kind in KINDS for number in range(4)]


def verdicts_on(case: str) -> Figures:
    """Return the share of right verdicts on the models of a record, and the error of the one that the search chose."""
    kind, _, number = case.rpartition(" ")
    _, make = KINDS[kind]
    judged = verdicts.judge(make(held_out(kind), int(number)))
    wrong = 0
    for model in judged:
        good_called_bad = model.worth <= verdicts.GOOD and model.verdict == "bad"
        bad_called_fine = model.worth >= verdicts.BAD and model.verdict == "fine"
        wrong += good_called_bad or bad_called_fine or (model.verdict == "fine" and verdicts.breaks_promise(model))
    figures = {"right": 1.0 - wrong / len(judged)}
    for model in judged:
        if model.structure == "search":
            figures["searched error"] = capped(model.worth)
    return figures


def numbered(names: Sequence[str], sets: int) -> list[str]:
    """Return the names of cases that have several data sets."""
    return [f"{name} {number}" for name in names for number in range(1, sets + 1)]


def forecast_cases() -> list[str]:
    """Return the kinds of noise with their data sets."""
    return numbered(list(forecasts.CASES), 4)


def forecast(case: str) -> Figures:
    """Return how much the bands about forecasts hold, at most what they promise, and how wide they are."""
    name, _, number = case.rpartition(" ")
    place = list(forecasts.CASES).index(name)
    make, settings = forecasts.CASES[name]
    covered = forecasts.held(make(np.random.default_rng([place, int(number)])), settings)
    held = min(float(covered.shares.mean()), forecasts.BAND)
    return {"held": held, "width": float(np.median(covered.widths))}


def band_cases() -> list[str]:
    """Return the systems with their data sets."""
    return numbered([name for name, _ in bands.data_sets(1)], 3)


def banded(case: str) -> Figures:
    """Return how much the bands about predictions hold, at most what they promise, and how wide they are."""
    name, _, number = case.rpartition(" ")
    all_cases = dict(bands.data_sets(int(number)))
    figures: Figures = {}
    for kind, held in bands.held(all_cases[name][-1]).items():
        share = min(held.share, bands.BAND) if held else 0.0
        figures[f"{bands.KINDS[kind]} held"] = share
        if held:
            figures[f"{bands.KINDS[kind]} width"] = held.width
    return figures


def gain_cases() -> list[str]:
    """Return the systems under each kind of noise."""
    return [f"{system}: {noise}" for system, noise in product(gains.SYSTEMS, gains.NOISES)]


def gained(case: str) -> Figures:
    """Return the share of the intervals that hold the truth, and the width of that of the gain."""
    system, _, noise = case.partition(": ")
    weights = gains.SYSTEMS[system]
    model = narxbench.Model(tuple(weights), tuple(weights.values()), inputs=("u",), output="y")
    place, column = list(gains.SYSTEMS).index(system), list(gains.NOISES).index(noise)
    results = gains.measured(model, noise, np.random.default_rng([gains.FRESH, place, column, 1]))
    shares = [share for figure, share in results.items() if figure in gains.FIGURES]
    figures = {"held": float(np.mean(shares)) if shares else 0.0}
    if gains.WIDTH in results:
        figures["width"] = results[gains.WIDTH]
    return figures


def coverage_cases() -> list[str]:
    """Return the conditions of the paper whose runs make pools."""
    return [condition.name for condition in coverage.CONDITIONS]


def covered_runs(case: str) -> Figures:
    """Return how often the intervals in use hold the expected values of a condition."""
    condition = next(condition for condition in coverage.CONDITIONS if condition.name == case)
    rng = np.random.default_rng(1)
    size = "quick"
    drawn = coverage.draws_of(coverage.pool(condition, coverage.RUNS_OF_A_POOL[size]), coverage.DRAWS[size], rng)
    counts = np.array(drawn).sum(axis=1)
    distinct = coverage.coverage(np.count_nonzero(counts, axis=1), [coverage.distinct_terms(d, rng) for d in drawn])
    largest = coverage.coverage(counts.max(axis=1), [coverage.largest_count(d, rng) for d in drawn])
    return {"r held": distinct["exact binomial"].share, "largest held": largest["Wilson"].share}


def gap_cases() -> list[str]:
    """Return the systems whose outputs or inputs are missing."""
    return [f"{name}, {signal}" for name, signal in product(gaps.SYSTEMS, ("output", "input"))]


def gapped(case: str) -> Figures:
    """Return the errors of models of data with bridged gaps, relative to those of whole data."""
    name, _, signal = case.partition(", ")
    figures = {}
    for kind, by_way in gaps.outcomes(name, signal, 1).items():
        bridged = by_way["bridged"]
        errors = [capped(error) for error in bridged.errors] or [USELESS]
        figures[f"{kind} error"] = math.exp(math.fsum(map(math.log, errors)) / len(errors))
    return figures


def joint_cases() -> list[str]:
    """Return the pairs of outputs with their data sets."""
    return numbered(list(joint.CASES), 2)


def jointly(case: str) -> Figures:
    """Return the largest error of the joint models of a pair of outputs."""
    name, _, number = case.rpartition(" ")
    errors = joint.outcome(joint.CASES[name], int(number) - 1).errors["joint"]
    return {"error": capped(float(np.max(errors)))}


def budget_cases() -> list[str]:
    """Return the numbers of samples and of inputs."""
    return [f"{samples} samples, {inputs} inputs" for samples, inputs in product((100, 1000, 10_000, 100_000), (1, 3))]


def budgeted(case: str) -> Figures:
    """Return the CPU time of an identification relative to its effort, its memory and its error."""
    samples, _, inputs, _ = case.split()
    effort = budget.EFFORT["full"]
    spent = budget.spent(int(samples), int(inputs), effort)
    return {"times the effort": spent.cpu / effort, "peak MB": spent.peak_mb, "error": capped(spent.rrse)}


def first_use_cases() -> list[str]:
    """Return rounds of the first identification of the buck converter."""
    return numbered(["round"], 3)


def first_used(case: str) -> Figures:
    """Return the CPU time of an identification with an empty and a filled cache, by that of the imports it needs."""
    del case
    with tempfile.TemporaryDirectory() as folder:
        _, basis = first_use.imported("basis", folder)
        _, cold, _ = first_use.identified_buck(folder)
        _, warm, _ = first_use.identified_buck(folder)
    return {"cold times the import": cold / basis, "warm times the import": warm / basis}


BARS = {
    "recovery": Bar(recovery_cases, recovered),
    "verdicts": Bar(verdict_cases, verdicts_on),
    "records": Bar(records_at_hand, recorded, MOST_TIMES),
    "forecasts": Bar(forecast_cases, forecast),
    "bands": Bar(band_cases, banded),
    "gains": Bar(gain_cases, gained),
    "coverage": Bar(coverage_cases, covered_runs),
    "gaps": Bar(gap_cases, gapped),
    "joint": Bar(joint_cases, jointly),
    "budget": Bar(budget_cases, budgeted),
    "first_use": Bar(first_use_cases, first_used),
}


def read(path: Path) -> dict[str, Figures]:
    """Return the figures of each case in a file; none where it does not exist."""
    figures: dict[str, Figures] = {}
    if path.exists():
        with open(path, newline="", encoding="utf-8") as stream:
            for case, name, value in csv.reader(stream):
                figures.setdefault(case, {})[name] = float(value)
    return figures


def append(path: Path, case: str, figures: Mapping[str, float]) -> None:
    """Add the figures of a case to a file, in one piece."""
    lines = "".join(f'"{case}",{name},{value:.6g}\n' for name, value in figures.items())
    with open(path, "a", encoding="utf-8") as stream:
        stream.write(lines)


def measured(part: str, folder: Path) -> dict[str, Figures]:
    """Measure the cases of a part that its file in a folder does not have yet, and return all of them."""
    path, bar = folder / f"{part}.csv", BARS[part]
    known = read(path)
    for case in bar.cases():
        if case not in known:
            known[case] = bar.measure(case)
            append(path, case, known[case])
            shown = ", ".join(f"{name} {value:.4g}" for name, value in known[case].items())
            print(f"{part}: {case}: {shown}", flush=True)
    return {case: known[case] for case in bar.cases()}


class Difference(NamedTuple):
    """The mean difference of a figure over the cases, with its interval; positive is worse."""

    name: str
    mean: float
    low: float
    high: float
    cases: int
    worst: float
    is_worse: bool

    def __str__(self) -> str:
        verdict = "worse" if self.is_worse else "not worse"
        if is_share(self.name):
            interval = f"{-self.mean:+.3f} ({-self.high:+.3f} to {-self.low:+.3f})"
        else:
            mean, low, high, worst = (math.exp(value) for value in (self.mean, self.low, self.high, self.worst))
            interval = f"{mean:.3f} times ({low:.3f} to {high:.3f}; at most {worst:.3f})"
        return f"{self.name}: {interval} in {self.cases} cases: {verdict}"


def is_share(name: str) -> bool:
    """Return whether a figure is a share, the higher the better."""
    return name.endswith(SHARES)


def differences(old: Mapping[str, Figures], new: Mapping[str, Figures], most_times: float) -> Iterator[Difference]:
    """Yield the difference of each figure over the cases that both have."""
    paired: dict[str, list[float]] = {}
    for case in old:
        for name, value in old[case].items():
            if name in new.get(case, {}) and name != SHOWN:
                paired.setdefault(name, []).append(worsening(name, value, new[case][name]))
    for name, values in paired.items():
        yield difference(name, values, most_times)


def worsening(name: str, old: float, new: float) -> float:
    """Return how much worse a figure is than another: a difference of shares, or the logarithm of a ratio."""
    return old - new if is_share(name) else math.log(new / old)


def difference(name: str, values: Sequence[float], most_times: float) -> Difference:
    """Return the mean of paired differences with its interval of Student's t."""
    mean, worst = math.fsum(values) / len(values), max(values)
    half = math.log(MOST_TIMES)
    if len(values) > 1:
        half = float(t.ppf((1 + CONFIDENCE) / 2, len(values) - 1) * np.std(values, ddof=1) / math.sqrt(len(values)))
    exceeds = name == "rrse" and worst > math.log(most_times)
    return Difference(name, mean, mean - half, mean + half, len(values), worst, mean - half > 0.0 or exceeds)


def digest_of_code() -> str:
    """Return a name for the state of the library and of the benchmarks."""
    digest = hashlib.sha256()
    for folder in (SOURCES, ROOT / "benchmarks"):
        for path in sorted(folder.rglob("*.py")):
            digest.update(path.read_bytes())
    return digest.hexdigest()[:12]


def main() -> None:
    """Measure the parts, and compare them with the kept figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"{', '.join(BARS)}; by default all")
    parser.add_argument("--records", type=Path, help=f"folder of measured records; by default ${RECORDS_FOLDER}")
    parser.add_argument("--folder", type=Path, default=ROOT / "build" / "bars", help="where figures are kept")
    parser.add_argument("--keep", action="store_true", help="compare later figures with these")
    options = parser.parse_args()
    for part in options.parts:
        if part not in BARS:
            parser.error(f"PART: found {part!r}; allowed: {', '.join(BARS)}")
    if options.records:
        if not options.records.is_dir():
            parser.error(f"--records: found no folder {options.records}")
        os.environ[RECORDS_FOLDER] = str(options.records)
    folder = options.folder / digest_of_code()
    folder.mkdir(parents=True, exist_ok=True)
    is_worse = False
    for part in options.parts or BARS:
        figures = measured(part, folder)
        if options.keep:
            kept = read(KEPT / f"{part}.csv") | figures
            (KEPT / f"{part}.csv").unlink(missing_ok=True)
            for case, values in kept.items():
                append(KEPT / f"{part}.csv", case, values)
            continue
        kept = read(KEPT / f"{part}.csv")
        if not kept.keys() & figures.keys():
            sys.exit(f"{part}: there are no kept figures to compare with; measure them with --keep before a change")
        for change in differences(kept, figures, BARS[part].most_times):
            print(f"{part}: {change}", flush=True)
            is_worse |= change.is_worse
    sys.exit(WORSE if is_worse else 0)


if __name__ == "__main__":
    main()

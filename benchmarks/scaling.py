"""How the cost grows: with candidate terms, samples and swarm size, and of planning a study with its runs."""

import tempfile
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

import narxbench
from benchmarks.common import (
    SNR_DB,
    Part,
    Row,
    copy_of_project,
    cpu_seconds,
    drawn,
    median,
    number,
    result_rows,
    run_child,
    size_of,
)

# Orders (n_u, n_y, degree) that span 66, 84, 286 and 1001 candidate terms.
ORDERS = ((5, 5, 2), (3, 3, 3), (5, 5, 3), (5, 5, 4))
SAMPLES = (2_000, 20_000, 200_000)
SWARM_SIZES = (10, 30, 100, 300)
# Seeds of every condition, and how many of them one job runs.
STUDY_SEEDS = {
    "full": ((40, 1), (139, 1), (417, 1), (139, 50), (417, 50), (1389, 50)),
    "quick": ((40, 1), (40, 10)),
}
CONDITIONS = 72  # of config/paper.yaml
# Evaluations of the searches: with 1001 candidate terms 6000 of them would take minutes.
EVALUATIONS = {"full": 1500, "quick": 300}
ROUNDS = {"full": 5, "quick": 1}
SLOW = 2.0  # seconds of CPU from which a call is measured once
TERMS = 20  # cardinality of the structures that are compared between numbers of candidate terms
VALIDATION_SHARE = 0.3
PLANNING_TIMEOUT = 1800.0
FIGURE = "scaling.svg"


def problem_of(samples: int, n_u: int, n_y: int, degree: int) -> narxbench.StructureProblem:
    """Return the problem of finding S1 among the candidate terms of the given orders."""
    u, y = narxbench.load_system("S1").simulate(samples, snr_db=SNR_DB)
    orders = {"n_u": n_u, "n_y": n_y, "degree": degree}
    return narxbench.StructureProblem(u, y, **orders, n_validation=round(VALIDATION_SHARE * samples))


def _costs(problem: narxbench.StructureProblem, size: str, swarm_size: int = 30) -> dict[str, float]:
    # Structures of TERMS terms and of half the candidates, 32 at once (two groups of the kernel), and a whole search.
    n_terms, rng = len(problem.terms), np.random.default_rng(1)
    order = np.argsort(rng.random((32, n_terms)), axis=1).argsort(axis=1)
    few, half = (order < TERMS).astype(np.uint8), (order < n_terms // 2).astype(np.uint8)
    evaluations = EVALUATIONS[size]
    calls = {
        "few": (lambda: problem.evaluate_positions(few), 32),
        "half": (lambda: problem.evaluate_positions(half), 32),
        "search": (
            lambda: narxbench.search(
                problem, algorithm="upso2d", seed=1, evaluations=evaluations, swarm_size=swarm_size
            ),
            evaluations,
        ),
    }
    once = {name: cpu_seconds(call) for name, (call, _) in calls.items()}
    times: dict[str, list[float]] = defaultdict(list)
    for _ in range(ROUNDS[size]):
        for name, (call, _) in calls.items():
            if once[name] <= SLOW:
                times[name].append(cpu_seconds(call, max(1, round(0.02 / once[name]))))
    costs = {}
    for name, (_, count) in calls.items():
        costs[name] = 1e6 * median(times[name] or [once[name]]) / count
    return costs


def _planning(size: str) -> list[dict[str, float]]:
    points = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        copy_of_project(folder)
        for seeds, per_job in STUDY_SEEDS[size]:
            settings = [f"seeds={seeds}", f"seeds_per_job={per_job}"]
            command = ["-m", "snakemake", "-n", "--quiet", "all", "--config", *settings]
            child = run_child(command, folder, PLANNING_TIMEOUT)
            if child is None:
                raise SystemExit(f"FAIL: the plan of {seeds} seeds took more than {PLANNING_TIMEOUT:g} s")
            measured = {"cpu": child.cpu, "wall": child.wall, "peak_mb": child.peak_mb}
            points.append({"runs": CONDITIONS * seeds, "per_job": per_job, **measured})
    return points


Series = dict[str, list[tuple[float, dict[str, float]]]]


def _costs_with_preparation(samples: int, orders: tuple[int, ...], size: str) -> tuple[int, dict[str, float]]:
    """Return the number of candidate terms of a problem, and its costs with those of its preparation."""
    problem = problem_of(samples, *orders)
    prepare = cpu_seconds(lambda: problem_of(samples, *orders))
    return len(problem.terms), _costs(problem, size) | {"prepare": prepare}


def _series(size: str) -> Series:
    """Return the costs along each axis."""
    series: Series = {"candidate terms": [], "samples": [], "swarm size": []}
    for orders in ORDERS:
        series["candidate terms"].append(_costs_with_preparation(SAMPLES[0], orders, size))
    n_lengths = {"quick": 2, "full": len(SAMPLES)}[size]
    for samples in SAMPLES[:n_lengths]:
        _, costs = _costs_with_preparation(samples, ORDERS[0], size)
        series["samples"].append((samples, costs))
    problem = problem_of(SAMPLES[0], *ORDERS[0])
    for swarm_size in SWARM_SIZES:
        series["swarm size"].append((swarm_size, _costs(problem, size, swarm_size)))
    return series


def _rows(series: Series, planning: list[dict[str, float]]) -> list[Row]:
    rows = []
    for axis, points in series.items():
        for x, costs in points:
            rows += result_rows("scaling", f"{x:g}", axis, costs)
    for point in planning:
        case = f"{point['runs']:g}, {point['per_job']:g} a job"
        for quantity in ("cpu", "wall", "peak_mb"):
            rows.append(Row("scaling", case, "runs of the study", quantity, point[quantity]))
    return rows


def run(quick: bool) -> Part:
    """Measure every series."""
    size = size_of(quick)
    series = _series(size)
    planning = _planning(size)
    text = (
        f"## Scaling\n\n![Costs against sizes]({FIGURE})\n\nS1 at 30 dB, CPU time of one thread. 2D-UPSO: a run of "
        f"{EVALUATIONS[size]} evaluations. The numbers are in results.csv.\n\n{_advice(series, planning)}"
    )
    return Part(text, _rows(series, planning), {FIGURE: _figure(series, planning)})


def _advice(series: Series, planning: list[dict[str, float]]) -> str:
    n_terms, wide_costs = series["candidate terms"][-1]
    samples, long_costs = series["samples"][-1]
    ungrouped, grouped = _plans(planning, is_grouped=False)[-1], _plans(planning, is_grouped=True)[-1]
    wide, long = _duration(6000e-6 * wide_costs["search"]), _duration(6000e-6 * long_costs["search"])
    return (
        "### Where it stops being practical\n\n"
        f"A run of 6000 evaluations takes about {wide} with {n_terms:g} candidate terms: lower the degree or the lags. "
        f"With {samples:g} samples it takes about {long}: let segments validate (`n_segments`, `segment_length`).\n\n"
        f"The pipeline plans {_plan(ungrouped)} if each run is a job, {_plan(grouped)} with "
        f"{grouped['per_job']:g} seeds in a job (`seeds_per_job`), before every start.\n"
    )


def _plans(planning: list[dict[str, float]], *, is_grouped: bool) -> list[dict[str, float]]:
    """Return the plans in which a job runs several seeds, or those in which it runs one."""
    return [plan for plan in planning if (plan["per_job"] > 1) == is_grouped]


def _plan(plan: dict[str, float]) -> str:
    return f"{plan['runs']:g} runs in {number(plan['wall'], 2)} s with {number(plan['peak_mb'], 2)} MB"


def _duration(seconds: float) -> str:
    return f"{number(seconds, 2)} s" if seconds < 100 else f"{number(seconds / 60, 2)} minutes"


def _figure(series: Series, planning: list[dict[str, float]]) -> bytes:
    def plot(figure: Figure) -> None:
        *cost_axes, planning_axis = figure.subplots(2, 2).flat
        for axis, (label, points) in zip(cost_axes, series.items(), strict=True):
            sizes, costs = zip(*points, strict=True)
            costs_by_key = pd.DataFrame(costs)
            for key, name, mark in (("few", f"{TERMS} terms", "o"), ("half", "half", "s"), ("search", "2D-UPSO", "^")):
                axis.loglog(sizes, costs_by_key[key], marker=mark, ms=3, label=name)
            axis.set(xlabel=label, ylabel="µs per evaluation")
            _label_ticks(axis, sizes)
        cost_axes[0].legend(frameon=False)
        # The costs by the size of the swarm span less than a decade.
        cost_axes[2].set(yscale="linear", ylim=(0, None))
        _draw_planning(planning_axis, planning)

    return drawn("narxbench scaling", (7.2, 4.6), plot)


def _draw_planning(axis: Axes, planning: list[dict[str, float]]) -> None:
    """Draw time and memory of planning against the runs of the study."""
    for is_grouped, line, suffix in ((False, "-", ""), (True, "--", ", grouped seeds")):
        plans = pd.DataFrame(_plans(planning, is_grouped=is_grouped))
        for key, scale, name, mark in (("wall", 1, "seconds", "o"), ("peak_mb", 1000, "peak memory: GB", "s")):
            axis.loglog(plans["runs"], plans[key] / scale, marker=mark, ms=3, ls=line, label=name + suffix)
    axis.set(xlabel="runs of the study", ylabel="snakemake -n")
    # This makes room for the legend.
    all_plans = pd.DataFrame(planning)
    axis.set_ylim(top=100 * all_plans["wall"].max())
    axis.legend(frameon=False, loc="upper left")
    _label_ticks(axis, sorted(all_plans["runs"].unique()))


def _label_ticks(axis: Axes, ticks: Sequence[float]) -> None:
    axis.set_xticks(ticks, list(map("{:g}".format, ticks)))
    axis.xaxis.minorticks_off()

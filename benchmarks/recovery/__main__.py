"""How often methods find the true terms, by the noise in the data: ``python -m benchmarks.recovery [--quick]``.

Writes ``benchmarks/recovery.md``, with data seeds that nothing was tuned to.
``--development`` has data seeds of its own, leaves out the systems that are held out, and prints; ``--situation NAME``
runs one situation, and may be given several times.
"""

import argparse
import os
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from itertools import product

from benchmarks.common import ROOT
from benchmarks.recovery.plants import HELD_OUT, plants
from benchmarks.recovery.report import Results, page
from benchmarks.recovery.runs import METHODS, PEM, Finished, Job, run
from benchmarks.recovery.situations import (
    BREAKS,
    CALIBRATION,
    CALIBRATION_KINDS,
    CALIBRATION_LEVELS,
    MAIN,
    MANY,
    SITUATIONS,
    calibration_name,
    names_of_parts,
)
from narxbench._io.errors import NarxbenchError, did_you_mean
from narxbench._io.files import write_atomically

RESULT = ROOT / "benchmarks" / "recovery.md"
# First data seeds. Nothing was tuned to those of the report.
DEVELOPMENT_SEED, REPORT_SEED = 31, 401
# Data seeds of the report; other runs have one unless told.
REPORT_REPEATS = {MAIN: 3, MANY: 5, BREAKS: 1, CALIBRATION: 2}
QUICK_PLANTS = ("S1", "mao1997", "martins2016")
# A short job that compiles what all others need.
WARM_UP = Job("S1", "200 samples", DEVELOPMENT_SEED, tuple(METHODS))


def situation_names(chosen: list[str]) -> list[str]:
    """Return the names of the situations to run; none chosen are all, ``calibration`` is that part."""
    allowed = [*names_of_parts(MAIN, MANY, BREAKS), CALIBRATION]
    for name in chosen:
        if name not in allowed:
            hint = did_you_mean(name, allowed)
            raise NarxbenchError(f"situation: found {name!r}; allowed: {', '.join(allowed)}{hint}")
    return chosen or allowed


def calibration_jobs(names: list[str], seeds: range) -> Iterator[Job]:
    """Yield the data sets of the calibration: each kind of noise for each plant, the levels in turn."""
    for seed in seeds:
        for row, name in enumerate(names):
            for column, kind in enumerate(CALIBRATION_KINDS):
                level = CALIBRATION_LEVELS[(row + column + seed) % len(CALIBRATION_LEVELS)]
                yield Job(name, calibration_name(kind, level), seed, (PEM,))


def plant_names(options: argparse.Namespace) -> list[str]:
    """Return the names of the plants to run."""
    candidates = QUICK_PLANTS if options.quick else plants()
    names = []
    for name in candidates:
        is_left_out = options.development and plants()[name].group == HELD_OUT
        if name in (options.system or candidates) and not is_left_out:
            names.append(name)
    return names


def seeds_of(options: argparse.Namespace, label: str) -> range:
    """Return the data seeds of a situation."""
    first, repeats = DEVELOPMENT_SEED, 1
    if not options.development and not options.quick:
        part = SITUATIONS[label].part if label in SITUATIONS else CALIBRATION
        first, repeats = REPORT_SEED, REPORT_REPEATS[part]
    return range(first, first + (options.seeds or repeats))


def jobs(options: argparse.Namespace) -> Iterator[Job]:
    """Yield all data sets of a run."""
    names = plant_names(options)
    methods = tuple(options.method or METHODS)
    for label in situation_names(options.situation):
        seeds = seeds_of(options, label)
        if label == CALIBRATION:
            yield from calibration_jobs(names, seeds)
            continue
        few = SITUATIONS[label].plants
        for name, seed in product(names, seeds):
            if not few or name in few:
                yield Job(name, label, seed, methods)


def warm_up() -> None:
    """Load what was compiled, so that no job is measured with it."""
    run(WARM_UP)


def finish(options: argparse.Namespace) -> list[Finished]:
    """Run all jobs."""
    # The longest ones first, so that no process waits for them in the end.
    planned = sorted(jobs(options), key=lambda job: SITUATIONS[job.situation].part != MANY)
    # The code is compiled once, not by each process.
    warm_up()
    if options.jobs == 1:
        return list(map(run, planned))
    with ProcessPoolExecutor(options.jobs, initializer=warm_up) as pool:
        return list(pool.map(run, planned))


def parser() -> argparse.ArgumentParser:
    """Return the options."""
    arguments = argparse.ArgumentParser(prog="python -m benchmarks.recovery", description=__doc__)
    arguments.add_argument("--quick", action="store_true", help="a few systems, one data seed; prints")
    arguments.add_argument("--development", action="store_true", help="data seeds and systems for tuning; prints")
    arguments.add_argument("--situation", action="append", default=[], help="one situation, or 'calibration'; prints")
    arguments.add_argument("--system", action="append", choices=list(plants()), help="one system; prints")
    arguments.add_argument("--method", action="append", choices=list(METHODS), help="one method; prints")
    arguments.add_argument("--seeds", type=int, help="data seeds; prints")
    arguments.add_argument("--jobs", type=int, default=os.cpu_count(), help="processes")
    return arguments


def main() -> None:
    """Run all methods on all data sets and write the page."""
    options = parser().parse_args()
    try:
        results = Results(finish(options))
    except NarxbenchError as error:
        raise SystemExit(str(error)) from None
    text = page(results)
    is_part = options.situation or options.system or options.method or options.seeds
    if options.quick or options.development or is_part:
        print(text)
    else:
        write_atomically(RESULT, text.encode())


if __name__ == "__main__":
    main()

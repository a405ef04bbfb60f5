"""CPU time of one run of the methods of the study ``methods``: ``python -m benchmarks.methods [--quick] [METHOD ...]``.

Without names all are measured; the lines of methods that are not named stay as they are.

Writes ``data/reference/methods/cost.csv``, from which the study takes the cost of its methods. Alone among its results
that file is not the same on every machine; it names the one that it was made on.
"""

import os

# One thread, set before numpy is imported; the processes of third-party methods inherit it.
os.environ |= {f"{library}_NUM_THREADS": "1" for library in ("OPENBLAS", "OMP", "MKL", "NUMBA")}

import argparse
import csv
import io
import resource
import time
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import narxbench
from benchmarks.common import N_VALIDATION, ROOT, SAMPLES, machine_facts, median, size_of
from narxbench import StructureProblem
from narxbench._algorithms.search import prepared
from narxbench._io.files import write_atomically
from narxbench._studies.loading import load_study
from narxbench._studies.methods.settings import MethodsStudy
from narxbench._studies.methods.views import read_cost
from narxbench._study.layers import read_layers

# The base of every study, and what differs from it.
STUDY = [ROOT / "config" / name for name in ("paper.yaml", "methods.yaml")]
COST = ROOT / "data" / "reference" / "methods" / "cost.csv"
SYSTEM, SNR_DB, LAGS = "S1", 40, 5
# Degrees of the candidate terms: 66 and 286 of them.
DEGREES = (2, 3)
# Turns, and runs that are timed together in each: a run may be shorter than the ticks of the clock of child processes.
ROUNDS, RUNS = {"full": 5, "quick": 1}, {"full": 2, "quick": 1}


class Cost(NamedTuple):
    """One line of cost.csv: the CPU seconds and evaluations of one run."""

    method: str
    n_terms: int
    seconds: float
    evaluations: int
    machine: str


def make_problem(degree: int) -> StructureProblem:
    """Return the problem of the system with candidate terms up to this degree."""
    u, y = narxbench.load_system(SYSTEM).simulate(SAMPLES, snr_db=SNR_DB)
    return StructureProblem(u, y, n_u=LAGS, n_y=LAGS, degree=degree, n_validation=N_VALIDATION)


def all_cpu_seconds() -> float:
    """Return the CPU time so far, of this process and of all child processes that have ended."""
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + children.ru_utime + children.ru_stime


def session(
    problem: StructureProblem, algorithm: str, settings: Mapping[str, Any], evaluations: int, runs: int
) -> tuple[float, list[int]]:
    """Return the CPU time of some runs with the start and end of their process, and the evaluations of each.

    A run of one evaluation stands before and after them: the first has whatever a process does only once, and when the
    last begins, the process of the one before it has ended, so that its time counts.
    """
    started = all_cpu_seconds()
    with prepared(algorithm, settings) as runner:
        runner.run(problem, seed=0, evaluations=1)
        counts = []
        for seed in range(1, runs + 1):
            counts.append(runner.run(problem, seed=seed, evaluations=evaluations).result.evaluations)
        runner.run(problem, seed=0, evaluations=1)
    return all_cpu_seconds() - started, counts


def measured(quick: bool, names: Sequence[str]) -> list[Cost]:
    """Measure methods in turns, all if none is named, so that a slow phase of the machine slows all of them."""
    size = size_of(quick)
    study = load_study(read_layers(STUDY))
    assert isinstance(study, MethodsStudy)
    machine = machine_facts().split(";")[0]
    costs = []
    for degree in DEGREES:
        problem = make_problem(degree)
        methods = {name: study.methods[name] for name in names or study.methods}
        seconds: dict[str, list[float]] = defaultdict(list)
        evaluations: dict[str, list[int]] = defaultdict(list)
        for method in methods.values():
            session(problem, method.algorithm, method.settings, study.evaluations, 0)  # compilation
        for _ in range(ROUNDS[size]):
            for name, method in methods.items():
                empty, _ = session(problem, method.algorithm, method.settings, study.evaluations, 0)
                whole, counts = session(problem, method.algorithm, method.settings, study.evaluations, RUNS[size])
                seconds[name].append(max(whole - empty, 0.0) / RUNS[size])
                evaluations[name] += counts
        for name in methods:
            cost = Cost(name, len(problem.terms), median(seconds[name]), round(median(evaluations[name])), machine)
            print(f"{name:16} {cost.n_terms:5} {cost.seconds:9.4f} s {cost.evaluations:5}", flush=True)
            costs.append(cost)
    return costs


def as_csv(costs: list[Cost]) -> str:
    """Return the text of cost.csv, with three significant digits of the seconds.

    Examples
    --------
    >>> print(as_csv([Cost("ga", 66, 0.012345, 6000, "a processor")]), end="")
    method,n_terms,seconds,evaluations,machine
    ga,66,0.0123,6000,a processor
    """
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(Cost._fields)
    writer.writerows(cost._replace(seconds=f"{cost.seconds:.3g}") for cost in costs)
    return stream.getvalue()


def main() -> None:
    """Measure, and write the file."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="one turn: a try, not a measurement")
    parser.add_argument("--output", type=Path, default=COST)
    parser.add_argument("methods", nargs="*", metavar="METHOD", help="default: all methods")
    options = parser.parse_args()
    costs = measured(options.quick, options.methods)
    if options.methods:
        earlier = read_cost(options.output).to_dict("records")
        costs += [Cost(**line) for line in earlier if line["method"] not in options.methods]
        costs.sort(key=lambda cost: cost.n_terms)
    write_atomically(options.output, as_csv(costs))


if __name__ == "__main__":
    main()

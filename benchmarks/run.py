"""Run the benchmarks: ``python benchmarks/run.py [--quick]``.

Writes results.csv, results.md and what the parts have of their own.
"""

import os
import sys
import time
from pathlib import Path

# One thread, set before numpy is imported; the library next to this folder, and imports by package.
os.environ |= {f"{library}_NUM_THREADS": "1" for library in ("OPENBLAS", "OMP", "MKL", "NUMBA")}
ROOT = Path(__file__).resolve().parents[1]
sys.path[:1] = [str(ROOT), str(ROOT / "src")]

import argparse  # noqa: E402
import csv  # noqa: E402
import io  # noqa: E402
from importlib import import_module  # noqa: E402

from benchmarks.common import machine_facts  # noqa: E402
from benchmarks.speed import in_short, read_rows  # noqa: E402
from narxbench._io.files import write_atomically  # noqa: E402

BENCHMARKS = ("evaluation", "search", "first_use", "scaling", "pipeline")
RESULTS = ROOT / "benchmarks" / "results.md"


def main() -> None:
    """Run the chosen benchmarks and write their results."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="fewer rounds, seeds and sizes: a try, not a measurement")
    parser.add_argument("--only", nargs="+", choices=BENCHMARKS, default=BENCHMARKS, help="benchmarks to run")
    parser.add_argument("--output", type=Path, default=RESULTS, help="the other files go next to it")
    options = parser.parse_args()
    facts = machine_facts()
    print(facts)
    modules = {name: import_module(f"benchmarks.{name}") for name in options.only}
    parts = []
    for name, module in modules.items():
        started = time.perf_counter()
        parts.append(module.run(options.quick))
        print(f"\n{parts[-1].text}\n{name}: {time.perf_counter() - started:.0f} s", flush=True)
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(["benchmark", "case", "method", "quantity", "value"])
    for part in parts:
        for name, content in part.files.items():
            write_atomically(options.output.with_name(name), content)
        writer.writerows([*row[:4], f"{row.value:.6g}"] for row in part.rows)
    write_atomically(options.output.with_suffix(".csv"), stream.getvalue())
    if options.quick:
        facts += " Run with `--quick`: few rounds, only good for a try."
    sections = [f"# Benchmark results\n\n{facts}\n"]
    short = in_short(read_rows(options.output.with_suffix(".csv")))
    if short:
        sections.append(short)
    sections += [part.text for part in parts]
    write_atomically(options.output, "\n".join(sections))


if __name__ == "__main__":
    main()

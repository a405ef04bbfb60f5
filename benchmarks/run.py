"""Measure speed: ``python benchmarks/run.py [--quick]`` writes ``benchmarks/speed.md``."""

import os
import sys
import time
from pathlib import Path

# One thread, set before numpy is imported; the library next to this folder, and imports by package.
os.environ |= {f"{library}_NUM_THREADS": "1" for library in ("OPENBLAS", "OMP", "MKL", "NUMBA")}
ROOT = Path(__file__).resolve().parents[1]
sys.path[:1] = [str(ROOT), str(ROOT / "src")]

import argparse  # noqa: E402
from importlib import import_module  # noqa: E402

from benchmarks.common import machine_facts  # noqa: E402
from narxbench._io.files import write_atomically  # noqa: E402

BENCHMARKS = ("evaluation", "first_use", "pipeline")
PAGE = ROOT / "benchmarks" / "speed.md"


def main() -> None:
    """Run the chosen benchmarks and write their results."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="fewer rounds and runs: a try, not a measurement")
    parser.add_argument("--only", nargs="+", choices=BENCHMARKS, default=BENCHMARKS, help="benchmarks to run")
    parser.add_argument("--output", type=Path, default=PAGE)
    options = parser.parse_args()
    facts = machine_facts()
    if options.quick:
        facts += " Run with `--quick`: few rounds, only good for a try."
    sections = [f"# Speed\n\n{facts}\n"]
    for name in options.only:
        started = time.perf_counter()
        sections.append(import_module(f"benchmarks.{name}").run(options.quick))
        print(f"\n{sections[-1]}\n{name}: {time.perf_counter() - started:.0f} s", flush=True)
    write_atomically(options.output, "\n".join(sections))


if __name__ == "__main__":
    main()

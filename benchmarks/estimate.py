"""Estimates of the cost of studies next to measured costs: ``python -m benchmarks.estimate``.

Prints CPU seconds and peak memory of whole runs of the pipeline, estimated and measured, side by side. The constants of
``src/narxbench/_pipeline/estimate.py`` are right while every ratio is between a third and three.
"""

import contextlib
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from benchmarks.common import ROOT, copy_of_project, machine_facts, number, run_child, table
from narxbench._pipeline.plan import plan_of

SMALL = "systems: [S1]\nsnr_db: [30]\nmethods: {upso2d: {criteria: [bic]}, ga: null}\n"
COMPARED = """
kind: methods
systems: [S1, S2]
snr_db: [30]
seeds: 2
methods: {upso2d: {criteria: [bic]}, ga: {criteria: [bic]}, multistart: {algorithm: multistart, criteria: [bic]}}
"""
# Files of settings, and what is written over them.
CASES = {
    "a first try": (["config/quick.yaml"], ""),
    "one run of 1,000,000 evaluations": ([], SMALL + "seeds: 1\nevaluations: 1000000\n"),
    "one run of 5,000,000 evaluations": ([], SMALL + "seeds: 1\nevaluations: 5000000\n"),
    "1,000,000 samples": ([], SMALL + "seeds: 2\nevaluations: 100\ndata: {samples: 1000000}\n"),
    "1,000,000 samples before the first": ([], SMALL + "seeds: 2\nevaluations: 100\ndata: {washout: 1000000}\n"),
    "1,000 runs, one a job": ([], SMALL + "seeds: 1000\nevaluations: 900\n"),
    "861 terms": ([], COMPARED + "evaluations: 500\nscenarios: {large: {description: x, n_u: 20, n_y: 20}}\n"),
    "3,321 terms": ([], COMPARED + "evaluations: 200\nscenarios: {large: {description: x, n_u: 40, n_y: 40}}\n"),
    # The CPU time of methods that have a process of their own is not seen from outside.
    "methods": (["config/methods.yaml", "config/methods_quick.yaml"], "methods: {adaptive-lasso: null}\n"),
}


def line_of(name: str, folder: Path) -> list[str]:
    """Run a case, and return its line of the table."""
    files, text = CASES[name]
    if text:
        (folder / "case.yaml").write_text(text, encoding="utf-8")
        files = [*files, "case.yaml"]
    with contextlib.chdir(folder):
        estimate = plan_of(files, []).estimate
    for results in (f"data/{Path(files[-1]).stem}", "reports", ".snakemake"):
        shutil.rmtree(folder / results, ignore_errors=True)
    child = run_child(["-m", "snakemake", "--cores", "1", "--configfile", *files], folder)
    assert child is not None
    line, memory = [name], estimate.memory() / 1e6
    for estimated, measured in ((estimate.seconds, child.cpu), (memory, child.peak_mb * 1.048576)):
        line += [number(estimated), number(measured), number(estimated / measured, 2)]
    return line


def main() -> None:
    """Measure the cases that are named, or all."""
    header = ["study", "CPU s, estimated", "measured", "ratio", "peak MB, estimated", "measured", "ratio"]
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        copy_of_project(folder)
        # Compilation, which happens once, shall not count.
        for path in ROOT.glob("src/**/*.nb[ic]"):
            copy = folder / path.relative_to(ROOT)
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(path, copy)
        subprocess.run(["git", "init", "--quiet"], cwd=folder, check=True)
        lines = []
        for name in sys.argv[1:] or CASES:
            lines.append(line_of(name, folder))
            print(lines[-1], file=sys.stderr, flush=True)
    print(table(header, lines) + "\n" + machine_facts())


if __name__ == "__main__":
    main()

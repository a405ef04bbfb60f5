"""What the pipeline adds to the bare searches: CPU time of a whole run in a fresh copy of the project."""

import tempfile
from pathlib import Path

from benchmarks.common import Part, Row, copy_of_project, number, run_child, table

CORES = 2
CONFIGURATION: dict[str, list[str]] = {"full": [], "quick": ["--configfile", "config/quick.yaml"]}
TIMEOUT = 3600.0
# A fresh copy has no compiled code yet: one short search of each algorithm compiles it, measured on its own.
WARM_UP = """
import sys
sys.path.insert(0, "src")
import narxbench
system = narxbench.load_system("S1")
problem = narxbench.StructureProblem(*system.simulate(2000, snr_db=30), n_u=5, n_y=5, degree=2)
for algorithm in ("upso2d", "ga"):
    narxbench.search(problem, algorithm=algorithm, seed=1, evaluations=60)
"""


def run(quick: bool) -> Part:
    """Plan, run and run again the whole study (or the quick one) and compare with the searches' own time."""
    arguments = CONFIGURATION["quick" if quick else "full"]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        copy_of_project(folder)
        snakemake = ["-m", "snakemake", "--cores", str(CORES), *arguments]
        steps = {
            "compilation, once": ["-c", WARM_UP],
            "plan of a fresh copy (`-n`)": [*snakemake, "-n", "--quiet", "all"],
            "whole run": snakemake,
            "run again, nothing to do": snakemake,
        }
        measured = {}
        for step, command in steps.items():
            child = run_child(command, folder, TIMEOUT)
            if child is None:
                raise SystemExit(f"FAIL: {step} took more than {TIMEOUT:g} s")
            measured[step] = child
        logs = [log.read_text() for log in folder.glob("logs/*/search/**/*.log")]
        bare = sum(float(log.split()[1]) for log in logs)  # cpu 0.05 s, wall 0.06 s
    whole = measured["whole run"]
    lines = [[step, *(number(v) for v in (c.wall, c.cpu, c.peak_mb))] for step, c in measured.items()]
    rows = [
        Row("pipeline", f"{len(logs)} runs", step, quantity, getattr(child, quantity))
        for step, child in measured.items()
        for quantity in ("wall", "cpu", "peak_mb")
    ]
    rows.append(Row("pipeline", f"{len(logs)} runs", "searches alone", "cpu", bare))
    rows.append(Row("pipeline", f"{len(logs)} runs", "searches alone", "share of whole run", bare / whole.cpu))
    extra = 1e3 * (whole.cpu - bare) / len(logs)
    text = (
        f"## The pipeline\n\n`snakemake --cores {CORES} {' '.join(arguments)}".rstrip()
        + f"` in a fresh copy of the project, {len(logs)} runs. CPU with all children, peak memory of the main "
        f"process. The searches alone take {number(bare)} s of CPU, {100 * bare / whole.cpu:.0f} % of the whole run "
        f"(which costs {number(whole.cpu / bare, 2)} times as much); {number(extra, 2)} ms "
        "per run go to everything else: planning, scheduling, files, summaries, tables, figures and the report.\n\n"
    )
    return Part(text + table(["step", "wall s", "CPU s", "peak MB"], lines), rows)

"""The overhead of the pipeline over the searches in a fresh copy of the project, and the plans of large studies."""

import json
import shutil
import tempfile
from pathlib import Path

from benchmarks.common import ROOT, Child, copy_of_project, number, run_child, size_of, table

CORES = 2
CONFIGURATION: dict[str, list[str]] = {"full": [], "quick": ["--configfile", "config/quick.yaml"]}
TIMEOUT = 3600.0
# Seeds of every condition, and how many of them one job runs.
PLANS = {"full": ((417, 1), (1389, 50)), "quick": ((40, 1), (40, 10))}
CONDITIONS = 72  # of config/paper.yaml
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
# As many jobs in the same order, with plain names and nothing to do: what is left is Snakemake's own.
EMPTY = """
import json

RUNS = json.loads(open("runs.json").read())
CONDITIONS = list(dict.fromkeys(run.rpartition("/")[0] for run in RUNS))
SEEDS = list(dict.fromkeys(run.rpartition("/")[2] for run in RUNS))
STEPS = ["analyse", "tables", "figures", "run_record", "page", "manifest"]

wildcard_constraints:
    data="([^/]+/){3}[^/]+", method="[^/]+/[^/]+", seed="[^/]+"

rule all:
    input: STEPS[-1]

rule simulate:
    output: "problems/{data}.csv"
    run: open(output[0], "w").close()

rule search:
    input: "problems/{data}.csv"
    output: "runs/{data}/{method}/{seed}.json"
    log: "logs/search/{data}/{method}/{seed}.log"
    run: [open(path, "w").close() for path in (*output, *log)]

rule summarise:
    input: [f"runs/{{data}}/{{method}}/{seed}.json" for seed in SEEDS]
    output: "conditions/{data}/{method}.json"
    run: open(output[0], "w").close()

for before, step in zip([None, *STEPS], STEPS):
    rule:
        name: step
        input: before or [f"conditions/{condition}.json" for condition in CONDITIONS]
        output: step
        run: open(output[0], "w").close()
"""


def _measured(steps: dict[str, list[str]], folder: Path) -> dict[str, Child]:
    measured = {}
    for step, command in steps.items():
        child = run_child(command, folder, TIMEOUT)
        if child is None:
            raise SystemExit(f"FAIL: {step} took more than {TIMEOUT:g} s")
        measured[step] = child
    return measured


def _empty(runs: list[str]) -> dict[str, Child]:
    """Plan, run and run again a workflow with the jobs of these runs, under the same profile."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        shutil.copytree(ROOT / "profiles/default", folder / "profiles/default")
        (folder / "Snakefile").write_text(EMPTY)
        (folder / "runs.json").write_text(json.dumps(runs))
        snakemake = ["-m", "snakemake", "--cores", str(CORES)]
        steps = {"plan": [*snakemake, "-n", "--quiet", "all"], "whole run": snakemake, "run again": snakemake}
        return {f"empty rules: {step}": child for step, child in _measured(steps, folder).items()}


def _plans(folder: Path, size: str) -> str:
    """Return what the plans of larger studies take, in a sentence."""
    texts = []
    for seeds, per_job in PLANS[size]:
        settings = ["--config", f"seeds={seeds}", f"seeds_per_job={per_job}"]
        command = ["-m", "snakemake", "-n", "--quiet", "all", *settings]
        (child,) = _measured({f"the plan of {seeds} seeds": command}, folder).values()
        jobs = f"with {per_job} seeds in a job (`seeds_per_job`)" if per_job > 1 else "if each run is a job"
        cost = f"{number(child.wall, 2)} s with {number(child.peak_mb, 2)} MB"
        texts.append(f"{CONDITIONS * seeds} runs in {cost} {jobs}")
    return f"\nThe pipeline plans {', '.join(texts)}, before every start.\n"


def run(quick: bool) -> str:
    """Plan, run and run again the whole study, or the quick one, and return the section of the page."""
    arguments = CONFIGURATION[size_of(quick)]
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
        measured = _measured(steps, folder)
        logs = [log.read_text() for log in folder.glob("logs/*/search/**/*.log")]
        bare = 0.0
        for log in logs:
            bare += float(log.split()[1])  # cpu 0.05 s, wall 0.06 s
        runs = []
        for path in sorted(folder.glob("data/*/runs/**/*.json")):
            runs.append(path.relative_to(folder).with_suffix("").as_posix().split("/", 3)[3])
        plans = _plans(folder, size_of(quick))
    measured |= _empty(runs)
    whole = measured["whole run"]
    lines = []
    for step, child in measured.items():
        lines.append([step, *map(number, (child.wall, child.cpu, child.peak_mb))])
    extra = 1e3 * (whole.cpu - bare) / len(logs)
    text = (
        f"## The pipeline\n\n`snakemake --cores {CORES} {' '.join(arguments)}".rstrip()
        + f"` in a fresh copy of the project, {len(logs)} runs. CPU with all children, peak memory of the main "
        f"process. The searches alone take {number(bare)} s of CPU, {100 * bare / whole.cpu:.0f} % of the whole run. "
        f"Everything else takes {number(extra, 2)} ms per run.\n\n"
    )
    return text + table(["step", "wall s", "CPU s", "peak MB"], lines) + plans

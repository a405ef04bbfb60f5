"""The first searches on a machine, which compile the code, and those of the processes after it, which load it."""

import json
import tempfile
from pathlib import Path

from benchmarks.common import ROOT, Part, Row, median, number, run_child, table

ROUNDS = {"full": 3, "quick": 1}
STEPS = {"problem": "import and problem", "upso2d": "first search, 2D-UPSO", "ga": "then GA"}
# The folder of compiled code is empty at first.
SCRIPT = f"""
import json, os, sys, time
os.environ["NUMBA_CACHE_DIR"] = os.path.join(os.getcwd(), "compiled")
sys.path.insert(0, {str(ROOT / "src")!r})
found, times = {{}}, [time.perf_counter(), time.process_time()]

def done(step):
    now = [time.perf_counter(), time.process_time()]
    found[step], times[:] = [b - a for a, b in zip(times, now)], now

import narxbench
system = narxbench.load_system("S1")
u, y = system.simulate(2000, snr_db=30)
problem = narxbench.StructureProblem(u, y, n_u=system.n_u, n_y=system.n_y, degree=system.degree)
done("problem")
for algorithm in ("upso2d", "ga"):
    narxbench.search(problem, algorithm=algorithm, seed=1)
    done(algorithm)
print(json.dumps(found))
"""


def run(quick: bool) -> Part:
    """Run the same script twice in a folder of its own, several times."""
    found: dict[str, list[dict[str, list[float]]]] = {"empty": [], "filled": []}
    for _ in range(ROUNDS["quick" if quick else "full"]):
        with tempfile.TemporaryDirectory() as folder:
            for outcomes in found.values():
                child = run_child(["-c", SCRIPT], Path(folder))
                outcomes.append(json.loads(child.output.splitlines()[-1]))
    rows = [
        Row("first_use", f"{cache} cache", step, quantity, median(outcome[step][i] for outcome in outcomes))
        for step in STEPS
        for cache, outcomes in found.items()
        for i, quantity in enumerate(("wall", "cpu"))
    ]
    values = [number(row.value) for row in rows]
    lines = [[name, *values[4 * i : 4 * i + 4]] for i, name in enumerate(STEPS.values())]
    text = (
        "## First use\n\nS1, default searches of 6000 evaluations, in a process of their own. The first process on a "
        "machine compiles the code and keeps it; the others load it.\n\n"
    )
    header = ["step", *(f"{cache} cache: {q} s" for cache in found for q in ("wall", "CPU"))]
    return Part(text + table(header, lines), rows)

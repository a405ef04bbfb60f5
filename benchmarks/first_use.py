"""The first searches on a machine, which compile the code, and those of the processes after it, which load it.

They stand next to what cannot be avoided, the import of the packages below, and to that of SysIdentPy.
"""

import json
import tempfile
from importlib.util import find_spec
from pathlib import Path

from benchmarks.common import ROOT, Part, Row, median, number, run_child, table

ROUNDS = {"full": 3, "quick": 1}
STEPS = {
    "problem": "import and problem",
    "upso2d": "first search, 2D-UPSO",
    "ga": "then GA",
    "identify": "then a model of 500 samples, least effort",
}
# Each in a process of its own.
IMPORTS = {"basis": "numba, pandas, scipy.stats", "sysidentpy": "sysidentpy.model_structure_selection"}
IMPORTING = """
import json, time
began = time.perf_counter(), time.process_time()
import MODULES
print(json.dumps([time.perf_counter() - began[0], time.process_time() - began[1]]))
"""
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
narxbench.identify(u[:500], y[:500], decimation=1, degree=2, y_lags=2, u_lags=2, effort=0.05, resamples=0)
done("identify")
print(json.dumps(found))
"""


def run(quick: bool) -> Part:
    """Run the same script twice in a folder of its own, several times."""
    found: dict[str, list[dict[str, list[float]]]] = {"empty": [], "filled": []}
    imported: dict[str, list[list[float]]] = {name: [] for name in IMPORTS if _installed(name)}
    for _ in range(ROUNDS["quick" if quick else "full"]):
        with tempfile.TemporaryDirectory() as folder:
            for outcomes in found.values():
                child = run_child(["-c", SCRIPT], Path(folder))
                outcomes.append(json.loads(child.output.splitlines()[-1]))
            for name, times in imported.items():
                child = run_child(["-c", IMPORTING.replace("MODULES", IMPORTS[name])], Path(folder))
                times.append(json.loads(child.output.splitlines()[-1]))
    rows = [
        Row("first_use", f"{cache} cache", step, quantity, median(outcome[step][i] for outcome in outcomes))
        for step in STEPS
        for cache, outcomes in found.items()
        for i, quantity in enumerate(("wall", "cpu"))
    ]
    values = [number(row.value) for row in rows]
    lines = [[name, *values[4 * i : 4 * i + 4]] for i, name in enumerate(STEPS.values())]
    basis = {name: median(cpu for _, cpu in times) for name, times in imported.items()}
    rows += [Row("first_use", "import", name, "cpu", value) for name, value in basis.items()]
    by = {(row.case, row.method): row.value for row in rows if row.quantity == "cpu"}
    first = sum(by["empty cache", step] for step in ("problem", "upso2d"))
    later = sum(by["filled cache", step] for step in ("problem", "identify"))
    said = [f"to import {IMPORTS[name]} takes {number(value)} CPU s" for name, value in basis.items()]
    said.append(f"the first search, with import and compilation, {first / basis['basis']:.1f} times the first of these")
    if "sysidentpy" in basis:
        said.append(f"later, import and model {later / basis['sysidentpy']:.1f} times the second")
    text = (
        "## First use\n\nS1, default searches of 6000 evaluations, in a process of their own. The first process on a "
        f"machine compiles the code and keeps it; the others load it. In comparison: {'; '.join(said)}.\n\n"
    )
    header = ["step", *(f"{cache} cache: {q} s" for cache in found for q in ("wall", "CPU"))]
    return Part(text + table(header, lines), rows)


def _installed(name: str) -> bool:
    return name == "basis" or find_spec(name) is not None

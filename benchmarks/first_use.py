"""The first searches on a machine, which compile the code, and those of the processes after it, which load it.

They stand next to what cannot be avoided, the import of the packages below, and to that of SysIdentPy.
"""

import json
import tempfile
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from benchmarks.common import ROOT, Part, Row, median, number, run_child, table

ROUNDS = {"full": 3, "quick": 1}
STEPS = {
    "problem": "import and problem",
    "upso2d": "first search, 2D-UPSO",
    "ga": "then GA",
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
BEGIN = f"""
import json, os, sys, time
os.environ["NUMBA_CACHE_DIR"] = os.path.join(os.getcwd(), "compiled")
sys.path.insert(0, {str(ROOT / "src")!r})
found, times = {{}}, [time.perf_counter(), time.process_time()]
"""
SEARCHES = f"""{BEGIN}

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
narxbench.write_signals("signals.csv", u[:500], y[:500])
print(json.dumps(found))
"""
# What somebody waits for who has a file and wants a model, with the import of everything.
IDENTIFY = f"""{BEGIN}
import narxbench
model = dict(decimation=1, degree=2, y_lags=2, u_lags=2, effort=0.05, resamples=0)
narxbench.identify("signals.csv", input="u", output="y", **model)
print(json.dumps([b - a for a, b in zip(times, [time.perf_counter(), time.process_time()])]))
"""


def run(quick: bool) -> Part:
    """Run the scripts in a folder of their own, several times; the searches with an empty and a filled cache."""
    found: dict[str, list[dict[str, list[float]]]] = {"empty": [], "filled": []}
    scripts = {name: IMPORTING.replace("MODULES", IMPORTS[name]) for name in IMPORTS if _installed(name)}
    alone: dict[str, list[list[float]]] = {name: [] for name in ("identify", *scripts)}
    for _ in range(ROUNDS["quick" if quick else "full"]):
        with tempfile.TemporaryDirectory() as folder:
            for outcomes in found.values():
                outcomes.append(_told(SEARCHES, folder))
            # The first model compiles what the searches have not.
            _told(IDENTIFY, folder)
            for name, script in {"identify": IDENTIFY, **scripts}.items():
                alone[name].append(_told(script, folder))
    rows = [
        Row("first_use", f"{cache} cache", step, quantity, median(outcome[step][i] for outcome in outcomes))
        for step in STEPS
        for cache, outcomes in found.items()
        for i, quantity in enumerate(("wall", "cpu"))
    ]
    values = [number(row.value) for row in rows]
    lines = [[name, *values[4 * i : 4 * i + 4]] for i, name in enumerate(STEPS.values())]
    cpu = {name: median(cpu for _, cpu in times) for name, times in alone.items()}
    rows += [Row("first_use", "alone", name, "cpu", value) for name, value in cpu.items()]
    by = {(row.case, row.method): row.value for row in rows if row.quantity == "cpu"}
    first = sum(by["empty cache", step] for step in ("problem", "upso2d"))
    said = [f"to import {IMPORTS[name]} takes {number(cpu[name])} CPU s" for name in scripts]
    said.append(f"the first search, with import and compilation, {first / cpu['basis']:.1f} times the first of these")
    model = f"later, a model of 500 samples with least effort takes {number(cpu['identify'])} CPU s, import included"
    said.append(
        model + (f", {cpu['identify'] / cpu['sysidentpy']:.2f} times the second" if "sysidentpy" in cpu else "")
    )
    text = (
        "## First use\n\nS1, default searches of 6000 evaluations, in a process of their own. The first process on a "
        f"machine compiles the code and keeps it; the others load it. In comparison: {'; '.join(said)}.\n\n"
    )
    header = ["step", *(f"{cache} cache: {q} s" for cache in found for q in ("wall", "CPU"))]
    return Part(text + table(header, lines), rows)


def _told(script: str, folder: str) -> Any:
    return json.loads(run_child(["-c", script], Path(folder)).output.splitlines()[-1])


def _installed(name: str) -> bool:
    return name == "basis" or find_spec(name) is not None

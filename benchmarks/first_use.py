"""The first searches on a machine, which compile the code, and those of later processes, which load it.

They stand next to the unavoidable import of the packages below, and to that of SysIdentPy.
"""

import json
import tempfile
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from benchmarks.common import ROOT, median, number, run_child, size_of, table

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
# How long a user waits who has a file and wants a model, with the import of everything.
IDENTIFY = f"""{BEGIN}
import narxbench
model = dict(decimation=1, degree=2, y_lags=2, u_lags=2, effort=0.05)
narxbench.identify("signals.csv", input="u", output="y", **model)
print(json.dumps([b - a for a, b in zip(times, [time.perf_counter(), time.process_time()])]))
"""

# The shipped record of a buck converter with default settings, and how long the first model takes.
BUCK = f"""{BEGIN}
import narxbench
first = []

def report(progress):
    if progress.rrse is not None and not first:
        first[:] = [time.perf_counter() - times[0]]

from narxbench._identification.data.reading import read_recording
from narxbench._identification.identify import identify_recording
from narxbench._identification.settings import IdentificationSettings
folder = {str(ROOT / "data" / "buck")!r}
files = {{"test": os.path.join(folder, "buck_valid.csv"), "input": "input", "output": "y"}}
recording = read_recording(os.path.join(folder, "buck_id.csv"), **files)
identify_recording(recording, IdentificationSettings(), report_progress=report)
print(json.dumps([b - a for a, b in zip(times, [time.perf_counter(), time.process_time()])] + first))
"""
# Times the import of the first of the packages above that an identification may take, by the state of the cache, and
# the seconds of two quiet cores until there is a model.
MOST_TIMES, MOST_SECONDS_FIRST = {"empty": 16, "filled": 6}, 2.0


def run(quick: bool) -> str:
    """Run the scripts several times, the searches with an empty and a filled cache, and return the section."""
    scripts = {"identify": IDENTIFY}
    for name in IMPORTS:
        if _installed(name):
            scripts[name] = _importing(name)
    # Wall and CPU time of each step, by the state of the cache; and those of each script.
    searches: dict[str, list[dict[str, list[float]]]] = {"empty": [], "filled": []}
    alone: dict[str, list[list[float]]] = {name: [] for name in scripts}
    buck: dict[str, list[list[float]]] = {"empty": [], "filled": []}
    for _ in range(ROUNDS[size_of(quick)]):
        with tempfile.TemporaryDirectory() as folder:
            for times in searches.values():
                times.append(_output(SEARCHES, folder))
            # The first identification compiles the code that the searches have not.
            _output(IDENTIFY, folder)
            for name, script in scripts.items():
                alone[name].append(_output(script, folder))
        with tempfile.TemporaryDirectory() as folder:
            for rounds in buck.values():
                rounds.append(identified_buck(folder))
    return _report(searches, alone) + _buck_report(buck, median(cpu for _, cpu in alone["basis"]))


def _importing(name: str) -> str:
    return IMPORTING.replace("MODULES", IMPORTS[name])


def imported(name: str, folder: str) -> list[float]:
    """Return wall and CPU seconds of importing one of the groups of packages."""
    seconds: list[float] = _output(_importing(name), folder)
    return seconds


def identified_buck(folder: str) -> list[float]:
    """Return wall and CPU seconds of identifying the buck converter, and the wall seconds until the first model.

    The compiled code is kept in the folder.
    """
    seconds: list[float] = _output(BUCK, folder)
    return seconds


def _buck_report(buck: dict[str, list[list[float]]], basis: float) -> str:
    """Return the table of the identifications of the buck converter. ``basis`` is the CPU time of an import."""
    lines = []
    for cache, rounds in buck.items():
        wall, cpu, first = map(median, zip(*rounds, strict=True))
        limit = f"{MOST_TIMES[cache]}"
        lines.append([f"{cache} cache", *map(number, (first, wall, cpu, cpu / basis)), limit])
    text = (
        "\n`data/buck/` (1001 samples, and 999 for the test) with default settings, from the first import to the last "
        f"check. *Times the import* is relative to the CPU time of importing {IMPORTS['basis']}, which depends less on "
        "the machine than seconds do. On two idle cores the first model should be there within "
        f"{MOST_SECONDS_FIRST:g} s with a filled cache.\n\n"
    )
    header = ["buck", "first model: wall s", "wall s", "CPU s", "times the import", "at most"]
    return text + table(header, lines)


def _report(searches: dict[str, list[dict[str, list[float]]]], alone: dict[str, list[list[float]]]) -> str:
    """Return the first table with its introduction, with medians over the rounds."""
    cpu = {name: median(seconds for _, seconds in rounds) for name, rounds in alone.items()}
    first_search = 0.0
    for step in ("problem", "upso2d"):
        first_search += median(times[step][1] for times in searches["empty"])
    sentences = []
    for name, modules in IMPORTS.items():
        if name in cpu:
            sentences.append(f"to import {modules} takes {number(cpu[name])} CPU s")
    ratio = f"{first_search / cpu['basis']:.1f} times the first of these"
    sentences.append(f"the first search, with import and compilation, {ratio}")
    model = f"later, a model of 500 samples with least effort takes {number(cpu['identify'])} CPU s, import included"
    if "sysidentpy" in cpu:
        model += f", {cpu['identify'] / cpu['sysidentpy']:.2f} times the second"
    sentences.append(model)
    text = (
        "## First use\n\nS1, default searches of 6000 evaluations in a separate process. The first process on a "
        f"machine compiles the code. In comparison: {'; '.join(sentences)}.\n\n"
    )
    header = ["step"]
    for cache in searches:
        header += [f"{cache} cache: wall s", f"{cache} cache: CPU s"]
    return text + table(header, _lines(searches))


def _lines(searches: dict[str, list[dict[str, list[float]]]]) -> list[list[str]]:
    """Return the line of each step in the table, by the state of the cache."""
    lines = []
    for step, title in STEPS.items():
        line = [title]
        for rounds in searches.values():
            for seconds in zip(*(times[step] for times in rounds), strict=True):
                line.append(number(median(seconds)))
        lines.append(line)
    return lines


def _output(script: str, folder: str) -> Any:
    """Return the JSON in the last line that a script prints."""
    return json.loads(run_child(["-c", script], Path(folder)).output.splitlines()[-1])


def _installed(name: str) -> bool:
    return name == "basis" or find_spec(name) is not None

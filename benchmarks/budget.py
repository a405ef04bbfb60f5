"""Whether the effort is a budget: ``python -m benchmarks.budget [--quick]``.

Writes ``benchmarks/budget.md``: CPU time and peak memory of identifications by the number of samples and of inputs,
against the seconds that were planned for them.
"""

import argparse
import json
import tempfile
from itertools import product
from pathlib import Path
from typing import NamedTuple

from benchmarks.common import ROOT, machine_facts, number, run_child, size_of, table
from narxbench._io.files import write_atomically

RESULT = ROOT / "benchmarks" / "budget.md"
SAMPLES = {"full": (100, 1_000, 10_000, 100_000, 1_000_000), "quick": (100, 1_000)}
INPUTS = {"full": (1, 3), "quick": (1,)}
EFFORT = {"full": 20.0, "quick": 1.0}
# Aims: times the effort in CPU s, and peak memory.
MOST_TIMES, MOST_MB = 1.5, 1000
# A Wiener system of each input: no candidate is true, so that the search has something to do.
SCRIPT = f"""
import json, sys, time
sys.path.insert(0, {str(ROOT / "src")!r})
import numpy as np
from scipy.signal import lfilter
import narxbench
from narxbench._numerics.random_streams import generator
samples, inputs, effort = json.loads(sys.argv[1])
rng = generator(purpose="benchmark of budgets", samples=samples, inputs=inputs)
u = np.repeat(rng.uniform(-1.0, 1.0, (-(-samples // 5), inputs)), 5, axis=0)[:samples]
x = lfilter([0.0, 0.12, 0.08], [1.0, -1.5, 0.6], u, axis=0).sum(axis=1)
y = np.tanh(1.5 * x) + 0.03 * rng.normal(size=samples)
warm = {{"decimation": 1, "degree": 2, "y_lags": 2, "u_lags": 2, "effort": 0.05}}
narxbench.identify(u[:400], y[:400], **warm)
began = time.process_time()
identification = narxbench.identify(u, y, test="20%", effort=effort)
spent = time.process_time() - began
prediction = next(finding for finding in identification.summary if finding.name == "errors")
print(json.dumps([spent, prediction.values["rrse"]]))
"""


class Spent(NamedTuple):
    """The cost of an identification: CPU seconds, peak memory in MB, and the error that its model has."""

    cpu: float
    peak_mb: float
    rrse: float


def spent(samples: int, inputs: int, effort: float) -> Spent:
    """Return the cost of an identification of simulated data in a process of its own, without compilation."""
    with tempfile.TemporaryDirectory() as folder:
        child = run_child(["-c", SCRIPT, json.dumps([samples, inputs, effort])], Path(folder))
    if child is None:
        raise RuntimeError("an identification did not end")
    cpu, rrse = json.loads(child.output.splitlines()[-1])
    return Spent(cpu, child.peak_mb, rrse)


def report(size: str) -> str:
    """Return the page."""
    rows = []
    effort = EFFORT[size]
    for samples, inputs in product(SAMPLES[size], INPUTS[size]):
        measured = spent(samples, inputs, effort)
        print(f"{samples} samples, {inputs} inputs: {measured.cpu:.1f} CPU s", flush=True)
        cells = [f"{samples:,}", str(inputs), *map(number, (measured.cpu, measured.cpu / effort))]
        rows.append([*cells, f"{measured.peak_mb:.0f}", number(measured.rrse)])
    header = ["samples", "inputs", "CPU s", "times the effort", "peak MB", "RRSE"]
    limits = {"effort": f"{effort:g}", "most": MOST_TIMES, "memory": MOST_MB}
    return TEXT.format(table=table(header, rows), machine=machine_facts(), **limits)


TEXT = """# Effort as a budget

`python -m benchmarks.budget` makes this file. Simulated Wiener systems, one for each input, identified with default
settings and an effort of {effort} s, the last fifth for the test. CPU time is of the identification alone, with
compiled code. It should be at most {most} times the effort, and the peak memory of the process at most {memory} MB.
RRSE is of the free run over the test, about 0.05 of it from noise.

{table}
{machine}
"""


def main() -> None:
    """Measure, and write the file."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="short records and little effort: a try")
    parser.add_argument("--output", type=Path, default=RESULT)
    options = parser.parse_args()
    write_atomically(options.output, report(size_of(options.quick)))


if __name__ == "__main__":
    main()

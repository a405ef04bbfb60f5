"""The cost of reading data next to ``pandas.read_csv``: ``python -m benchmarks.reading``.

Prints CPU time and further peak memory of each step on a file of three columns, medians over processes.
"""

import json
import tempfile
from pathlib import Path

import numpy as np
import pandas as pd

from benchmarks.common import median, number, run_child, table

PROCESSES = 3
N_ROWS = 1_000_000
SCRIPT = """
import json, re, time
import pandas as pd
from narxbench._identification.data.reading import read_recording
from narxbench._io.frames import read_frame
pd.read_csv("small.csv")
read_recording("small.csv", input="u", output="y", test="20%")
frame = STATE
def kilobytes(name):
    return int(re.search(name + r":\\s+(\\d+)", open("/proc/self/status").read())[1])
# The peak counts from here on.
open("/proc/self/clear_refs", "w").write("5")
before, began = kilobytes("VmRSS"), time.process_time()
WORK
seconds = time.process_time() - began
print(json.dumps([seconds, (kilobytes("VmHWM") - before) / 1024]))
"""
# By name: what is there before, and what is measured.
STEPS = {
    "`pandas.read_csv`": ("None", "pd.read_csv(FILE)"),
    "`read_frame`": ("None", "read_frame(FILE)"),
    "records of the frame": ("pd.read_csv(FILE)", "read_recording(frame, input='u', output='y')"),
    "records, 20 % for the test": ("pd.read_csv(FILE)", "read_recording(frame, input='u', output='y', test='20%')"),
    "file to records": ("None", "read_recording(FILE, input='u', output='y')"),
}
TIMES = {"seconds": "t.csv", "dates of ISO 8601": "iso.csv"}


def write_files(folder: Path, n_rows: int) -> None:
    """Write a file for each kind of time, and a small one that warms up."""
    rng = np.random.default_rng(1)
    signals = {name: np.round(rng.normal(size=n_rows), 4) for name in ("u", "y")}
    pd.DataFrame({"t": np.round(0.02 * np.arange(n_rows), 2), **signals}).to_csv(folder / "t.csv", index=False)
    dates = pd.date_range("2024-01-01", periods=n_rows, freq="1s").astype(str)
    pd.DataFrame({"time": dates, **signals}).to_csv(folder / "iso.csv", index=False)
    pd.DataFrame({"t": np.arange(200.0), "u": rng.normal(size=200), "y": rng.normal(size=200)}).to_csv(
        folder / "small.csv", index=False
    )


def main() -> None:
    """Measure each step, and print the table."""
    lines = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_files(folder, N_ROWS)
        for kind, file in TIMES.items():
            for step, (state, work) in STEPS.items():
                code = SCRIPT.replace("STATE", state).replace("WORK", work).replace("FILE", repr(file))
                results = []
                for _ in range(PROCESSES):
                    child = run_child(["-c", code], folder)
                    results.append(json.loads(child.output) if child else [float("nan")] * 2)
                seconds, megabytes = map(median, zip(*results, strict=True))
                lines.append([kind, step, number(seconds), number(megabytes)])
    print(table(["time column", "step", "CPU s", "peak MB more"], lines))


if __name__ == "__main__":
    main()

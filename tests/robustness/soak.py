"""Interrupt the quick pipeline at many random moments: ``python -m tests.robustness.soak --kills 50``.

A fresh copy of the project is run once without disturbance. Then a copy without results is started, ended by a signal
at a random moment, started again, ended again, until a start comes through; then the next copy. After each signal no
result that is there may differ from the undisturbed one, and at the end of each copy all of them must be there with the
same bytes. Prints a table of the signals, and exits with 1 if anything was lost, damaged or hung.
"""

import argparse
import random
import re
import shutil
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

from tests.robustness.pipelines import (
    LOCKED,
    SIGNALS,
    UNLOCK,
    copy_of_project,
    differences,
    interrupted,
    leftovers_of,
    results_of,
    without_results,
)
from tests.workflow.project import QUICK, Project

STAGES = ("starting", "searches", "summaries", "tables, figures and report")
COUNTS = ("signals", *STAGES, "unlocked before going on", "half-written files left, ignored", "problems")
# As the logger prints when the jobs begin.
BEGUN = re.compile(r"^(searches|steps) \d+/\d+", re.MULTILINE)
# Share of an undisturbed run's time from which the moments are drawn: several interruptions fit into one run.
SHARE = 0.5


def stage_of(project: Project, printed: str) -> str:
    """Return how far the pipeline had come when it was interrupted."""
    if not BEGUN.search(printed):
        return STAGES[0]
    there = [any(path.is_file() for path in (project / name).rglob("*.*")) for name in ("data/cells", "reports")]
    return STAGES[1 + sum(there)]


class Soak:
    """A number of interruptions, and what came of them."""

    def __init__(self, kills: int, seed: int, folder: Path) -> None:
        self.draws = random.Random(seed)
        # Equally many of each signal, in random order.
        self.signals = [SIGNALS[k % len(SIGNALS)] for k in range(kills)]
        self.draws.shuffle(self.signals)
        self.folder = folder
        self.counts: dict[str, Counter[str]] = {name: Counter() for name in SIGNALS}
        self.problems: list[str] = []

    def run(self) -> None:
        """Interrupt until every signal has been sent."""
        compiled = copy_of_project(self.folder / "undisturbed")
        compiled.snakemake(*QUICK)
        self.undisturbed = results_of(compiled)
        timed = without_results(compiled, self.folder / "timed")
        began = time.monotonic()
        timed.snakemake(*QUICK)
        self.longest = SHARE * (time.monotonic() - began)
        print(f"undisturbed: {len(self.undisturbed)} results in {time.monotonic() - began:.0f} s", flush=True)
        lives = 0
        while self.signals:
            lives += 1
            self._one_run(without_results(compiled, self.folder / "disturbed"))
            shutil.rmtree(self.folder / "disturbed")
            print(f"{lives} runs complete, {len(self.signals)} signals to come", flush=True)

    def _one_run(self, project: Project) -> None:
        last = ""
        while True:
            name = self.signals[-1] if self.signals else None
            moment = self.draws.uniform(0.0, self.longest) if name else 600.0
            try:
                ended = interrupted(project, QUICK, name or "SIGKILL", moment)
            except AssertionError as error:
                self._problem(name or last, str(error))
                return
            if LOCKED in ended.printed:
                # Told before any job; the signal was not needed.
                self.counts[last]["unlocked before going on"] += 1
                if UNLOCK not in ended.printed:
                    self._problem(last, "the message does not name the command that unlocks")
                project.snakemake("--unlock")
            elif ended.interrupted and name:
                self.signals.pop()
                last = name
                self.counts[name]["signals"] += 1
                self.counts[name][stage_of(project, ended.printed)] += 1
                for path in differences(project, self.undisturbed, complete=False):
                    self._problem(name, f"after {moment:.2f} s: {path} is not that of the undisturbed run")
            elif ended.code == 0:
                break
            else:
                self._problem(last, f"the run does not go on: {ended.printed[-2000:]}")
                return
        if last:
            self.counts[last]["half-written files left, ignored"] += len(leftovers_of(project))
        for path in differences(project, self.undisturbed):
            self._problem(last, f"at the end: {path} is missing or not that of the undisturbed run")

    def _problem(self, name: str, text: str) -> None:
        print(f"PROBLEM {name}: {text}", flush=True)
        self.problems.append(text)
        self.counts.setdefault(name, Counter())["problems"] += 1

    def table(self) -> str:
        """Return the counts of each signal as a Markdown table."""
        lines = [f"| | {' | '.join(SIGNALS)} |", f"|---|{'---:|' * len(SIGNALS)}"]
        lines += [f"| {count} | {' | '.join(str(self.counts[name][count]) for name in SIGNALS)} |" for count in COUNTS]
        return "\n".join(lines)


def main() -> int:
    """Run the soak of the command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--kills", type=int, default=50, help="number of signals (50)")
    parser.add_argument("--seed", type=int, default=1, help="seed of the moments (1)")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="narxbench-soak-") as folder:
        soak = Soak(options.kills, options.seed, Path(folder))
        soak.run()
    print(soak.table())
    return 1 if soak.problems else 0


if __name__ == "__main__":
    sys.exit(main())

"""Interrupt the documented command at many moments: ``python -m tests.robustness.soak --moments 52``.

Prints a line for each interruption and a table at the end; exits with 1 when anything was lost or half-written, hung,
or was not as the messages say. The moments are spread over a whole run, the signals come in turn.
"""

import argparse
import re
import shutil
import sys
import tempfile
import time
from pathlib import Path

from tests.robustness.kills import Outcome, experiment, moments, summary, whole_run
from tests.robustness.pipelines import COMMAND, ROOT, Copy


def soak(count: int, seed: int, folder: Path) -> list[Outcome]:
    """Do the experiments below a folder, where those with a violation are kept, and return their outcomes."""
    ordinary = Copy.of_checkout(folder / "ordinary")
    ordinary.take_compiled(ROOT)
    ordinary.make(*COMMAND)
    spent = whole_run(ordinary, folder / "whole")
    print(f"A run without an interruption takes {spent:.1f} s of CPU.", flush=True)
    outcomes = []
    for number, kill in enumerate(moments(count, seed, spent), 1):
        place = folder / f"{number}"
        outcome = experiment(ordinary, place, kill)
        outcomes.append(outcome)
        print(f"{number:3} {outcome.line()}", flush=True)
        if not outcome.violations:
            shutil.rmtree(place)
    return outcomes


def main() -> int:
    """Run the soak of the command line."""
    parser = argparse.ArgumentParser(description=re.split(r"\n\n", __doc__ or "")[0])
    parser.add_argument("--moments", type=int, default=52, help="interruptions (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=1, help="other seeds draw other moments (default: %(default)s)")
    given = parser.parse_args()
    start = time.monotonic()
    folder = Path(tempfile.mkdtemp(prefix="kills-"))
    outcomes = soak(given.moments, given.seed, folder)
    wrong = sum(bool(outcome.violations) for outcome in outcomes)
    print(f"{summary(outcomes)}\n{len(outcomes)} moments, {wrong} with violations, {time.monotonic() - start:.0f} s")
    if wrong:
        print(f"Copies and output of those with violations: {folder}")
        return 1
    shutil.rmtree(folder)
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""Run algorithms on random legal problems: ``python tests/slow/random_problems.py SECONDS FIRST [ALGORITHM ...]``.

A line says which case of which algorithm begins; another one what it does not hold. A run of more than ``CPU_SECONDS``
ends the process with the place where it was, as compiled code does not end otherwise.
"""

import faulthandler
import json
import logging
import signal
import sys
import time
from contextlib import ExitStack

from narxbench._algorithms import random_problems
from narxbench._algorithms.conformance import Suite
from narxbench._algorithms.registry import AlgorithmUnavailableError, algorithm, packaged_names
from narxbench._algorithms.search import prepared

CPU_SECONDS = 30.0


def main():
    seconds, first, *names = sys.argv[1:]
    logging.disable(logging.CRITICAL)
    faulthandler.register(signal.SIGPROF, chain=True)
    with ExitStack() as stack:
        runners = {}
        for name in names or packaged_names():
            try:
                runners[name] = stack.enter_context(prepared(name, {}))
            except AlgorithmUnavailableError as error:
                print(f"left out: {error}", flush=True)
                continue
            # The first run compiles, which is not counted.
            suite = Suite(algorithm(name), runners[name])
            suite.run(suite.problem, 1, 60)
            print(f"compiled {name}", flush=True)
        began, number, n_runs = time.monotonic(), int(first), 0
        while time.monotonic() - began < float(seconds):
            case = random_problems.drawn(number)
            for name, runner in runners.items():
                print(f"case {name} {json.dumps(case)}", flush=True)
                signal.setitimer(signal.ITIMER_PROF, CPU_SECONDS)
                # In seconds of a clock: for processes of their own, on a machine that may be busy.
                text = random_problems.violation(runner, case, time_limit=5.0 * CPU_SECONDS)
                signal.setitimer(signal.ITIMER_PROF, 0.0)
                n_runs += 1
                if text:
                    print(f"VIOLATION {name} {number}: {text}", flush=True)
            number += 1
        print(f"{n_runs} runs on the problems {int(first)} to {number - 1}", flush=True)


if __name__ == "__main__":
    sys.exit(main())

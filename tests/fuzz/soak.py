"""Feed every reader with mutated inputs: ``python -m tests.fuzz.soak --inputs 1000000``.

Prints inputs, acceptances and kinds of messages of each reader, and how much of its code was run; exits with 1 and
the inputs in question when anything but a clear message came out, or one input took too long.
"""

import argparse
import json
import multiprocessing
import re
import resource
import signal
import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import CodeType, FrameType
from typing import Any, NamedTuple

from tests.fuzz.mutation import Mutator
from tests.fuzz.targets import Target, message_class, outcome, scratch, targets

SECONDS = 5.0
MEMORY = 2**32
MOST_FINDINGS = 5
TRACED = ("csv_files", "data", "published", "runs", "systems", "terms", "validation", "yaml_files")
SOURCE = Path(__file__).parents[2] / "src" / "narxbench"


class TooSlowError(BaseException):
    """An input took longer than the limit; not an Exception, so that no reader can catch it."""


class Finding(NamedTuple):
    """An input that did what none may do."""

    target: str
    error: str
    data: bytes


class Result(NamedTuple):
    """What the inputs of one target led to: ``outcomes`` counts their kinds, ``corpus`` holds one input of each."""

    target: str
    outcomes: Counter[str]
    findings: list[Finding]
    slowest: float
    corpus: list[bytes]


@contextmanager
def time_limit(seconds: float) -> Iterator[None]:
    """Raise TooSlowError in this thread when the block takes longer, in time of the processor."""

    def stop(number: int, frame: FrameType | None) -> None:
        raise TooSlowError(f"took longer than {seconds:g} s")

    previous = signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, previous)


def fuzz(target: Target, inputs: int, seed: str, seconds: float = SECONDS) -> Result:
    """Feed a target with mutations of its seeds, and of what did something new."""
    mutator = Mutator(f"{seed} {target.name}", target.seeds)
    outcomes: Counter[str] = Counter()
    findings: list[Finding] = []
    slowest = 0.0
    for _ in range(inputs):
        data = mutator.next()
        start = time.process_time()
        try:
            with time_limit(seconds):
                kind = outcome(target, data)
        except (Exception, TooSlowError) as error:
            kind = f"{type(error).__name__}: {message_class(str(error), target.files)}"
            if kind not in outcomes and len(findings) < MOST_FINDINGS:
                findings.append(Finding(target.name, f"{type(error).__name__}: {error}"[:500], data))
        slowest = max(slowest, time.process_time() - start)
        if kind not in outcomes:
            mutator.keep(data)
        outcomes[kind] += 1
    return Result(target.name, outcomes, findings, slowest, mutator.corpus)


def code_lines(code: CodeType) -> set[int]:
    """Return the lines of a module's functions that have code."""
    inner = [part for part in code.co_consts if isinstance(part, CodeType)]
    own = {line for _, _, line in code.co_lines() if line} - {code.co_firstlineno} if code.co_flags & 2 else set()
    return own.union(*map(code_lines, inner))


def run_lines(target: Target, corpus: list[bytes]) -> set[tuple[str, int]]:
    """Return module and line of all that runs when the target reads the corpus."""
    seen: set[tuple[str, int]] = set()
    files = {str(SOURCE / f"{name}.py"): name for name in TRACED}

    def trace(frame: FrameType, event: str, argument: Any) -> Any:
        name = files.get(frame.f_code.co_filename)
        if name is None:
            return None
        seen.add((name, frame.f_lineno))
        return trace

    sys.settrace(trace)
    try:
        for data in corpus:
            outcome(target, data)
    except Exception:  # a finding, which fuzz() has told
        pass
    finally:
        sys.settrace(None)
    return seen


def _work(job: tuple[int, int, str]) -> tuple[Result, set[tuple[str, int]]]:
    index, inputs, seed = job
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    with scratch() as folder:
        target = targets(folder)[index]
        result = fuzz(target, inputs, seed)
        return result, run_lines(target, result.corpus)


def soak(inputs: int, seed: str, processes: int) -> int:
    """Fuzz every target in its share of ``inputs`` and print a summary; return the number of findings."""
    with scratch() as folder:
        shares = [(index, target.share) for index, target in enumerate(targets(folder))]
    parts = 4 * processes
    each = [(index, -(-inputs * share // sum(s for _, s in shares) // parts)) for index, share in shares]
    jobs = [(index, count, f"{seed} {part}") for part in range(parts) for index, count in each]
    summary: dict[str, Result] = {}
    seen: set[tuple[str, int]] = set()
    start, total = time.perf_counter(), 0
    with multiprocessing.get_context("spawn").Pool(processes) as pool:
        for result, lines in pool.imap(_work, jobs):
            seen |= lines
            total += result.outcomes.total()
            print(f"{total} inputs, {len(result.findings)} findings in the last part", file=sys.stderr)
            old = summary.get(result.target, Result(result.target, Counter(), [], 0.0, []))
            summary[result.target] = Result(
                result.target,
                old.outcomes + result.outcomes,
                old.findings + result.findings,
                max(old.slowest, result.slowest),
                [],
            )
    _print(summary.values(), seen, time.perf_counter() - start)
    return sum(len(result.findings) for result in summary.values())


def _print(results: Any, seen: set[tuple[str, int]], seconds: float) -> None:
    total = 0
    for result in results:
        count, accepted = result.outcomes.total(), result.outcomes["accepted"]
        total += count
        kinds = len(result.outcomes) - (accepted > 0)
        print(f"{result.target}: {count} inputs, {accepted} accepted, {kinds} kinds of messages, ", end="")
        print(f"slowest {result.slowest:.2f} s")
        refused = [(kind, number) for kind, number in result.outcomes.most_common() if kind != "accepted"]
        for kind, number in refused[:8]:
            print(f"  {number:8d}  {kind}")
    for name in TRACED:
        path = SOURCE / f"{name}.py"
        lines = code_lines(compile_of(path))
        run = lines & {line for module, line in seen if module == name}
        left = ", ".join(map(str, sorted(lines - run)))
        print(f"{name}.py: {len(run)} of {len(lines)} lines of functions run; not: {left or 'none'}")
    findings = [finding for result in results for finding in result.findings]
    for finding in findings:
        print(f"FOUND {finding.target}: {finding.error}\n  input {finding.data[:2000]!r}")
    print(json.dumps({"inputs": total, "findings": len(findings), "seconds": round(seconds)}))


def compile_of(path: Path) -> CodeType:
    """Return the code of a source file, which is not run."""
    return compile(path.read_text(encoding="utf-8"), str(path), "exec")


def main() -> int:
    """Run the soak of the command line."""
    parser = argparse.ArgumentParser(description=re.split(r"\n\n", __doc__ or "")[0])
    parser.add_argument("--inputs", type=int, default=1_000_000, help="inputs over all readers (default: %(default)s)")
    parser.add_argument("--seed", default="1", help="other seeds make other inputs (default: %(default)s)")
    parser.add_argument("--processes", type=int, default=2, help="at once (default: %(default)s)")
    given = parser.parse_args()
    return 1 if soak(given.inputs, given.seed, given.processes) else 0


if __name__ == "__main__":
    sys.exit(main())

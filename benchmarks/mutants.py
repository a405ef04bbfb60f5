"""How many small changes of the code the fast tests notice: ``python -m benchmarks.mutants``.

``mutants.csv`` is the fixed list, drawn from a seed. Each mutant is one operator or one number of one line, changed in
a copy of the project. The tests that execute the line run until the first of them fails, for 60 seconds of CPU time at
most. Coverage does not see compiled functions: their tests are those that build a fitness problem.
"""

import argparse
import ast
import csv
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import astuple, dataclass, fields
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
from coverage import CoverageData

from benchmarks.common import ROOT

LIST = Path(__file__).with_suffix(".csv")
# The workflow's code is two packages.
PACKAGES = {"_fitness": ("_fitness",), "_model": ("_model",), "_io": ("_io",), "workflow": ("_pipeline", "_study")}
MUTANTS_OF_PACKAGE = 50
SEED = 20181
SECONDS = 60
# For tests that wait without computing.
WAITED = 10 * SECONDS
TESTS_AT_MOST = 400
# Each operator as it is written, and what takes its place.
OPERATORS = {
    ast.Lt: ("<", "<="), ast.LtE: ("<=", "<"), ast.Gt: (">", ">="), ast.GtE: (">=", ">"), ast.Eq: ("==", "!="),
    ast.NotEq: ("!=", "=="), ast.Is: ("is", "is not"), ast.IsNot: ("is not", "is"), ast.In: ("in", "not in"),
    ast.NotIn: ("not in", "in"), ast.Add: ("+", "-"), ast.Sub: ("-", "+"), ast.Mult: ("*", "/"), ast.Div: ("/", "*"),
    ast.And: ("and", "or"), ast.Or: ("or", "and"),
}  # fmt: skip


@dataclass(frozen=True)
class Mutant:
    """One changed line; ``line`` counts from 1 in the version that the list was drawn from."""

    package: str
    file: str
    line: int
    before: str
    after: str


def _mutations(path: Path) -> Iterator[tuple[int, str, str]]:
    """Yield line, text and changed text of each place of a module that can be changed."""
    lines = path.read_text().splitlines()

    def change(line: int, start: int, end: int, text: str) -> tuple[int, str, str]:
        before = lines[line - 1].encode()
        return line, before.decode(), (before[:start] + text.encode() + before[end:]).decode()

    def between(left: ast.expr, right: ast.expr, operator: ast.AST) -> Iterator[tuple[int, str, str]]:
        if type(operator) not in OPERATORS or left.end_lineno != right.lineno:
            return
        gap = lines[right.lineno - 1].encode()[left.end_col_offset : right.col_offset].decode()
        written, other = OPERATORS[type(operator)]
        place = re.search(rf"(?<!\S){re.escape(written)}(?!\S)", gap)
        if place:
            start = left.end_col_offset + place.start()
            yield change(right.lineno, start, start + len(written), other)

    for node in ast.walk(_without_annotations(ast.parse(path.read_text()))):
        if isinstance(node, ast.Compare):
            for left, operator, right in zip([node.left, *node.comparators], node.ops, node.comparators, strict=False):
                yield from between(left, right, operator)
        elif isinstance(node, ast.BinOp):
            yield from between(node.left, node.right, node.op)
        elif isinstance(node, ast.BoolOp):
            yield from between(node.values[0], node.values[1], node.op)
        elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            yield change(node.lineno, node.col_offset, node.operand.col_offset, "")
        elif isinstance(node, ast.Constant) and isinstance(node.value, bool):
            yield change(node.lineno, node.col_offset, node.end_col_offset or 0, str(not node.value))
        elif isinstance(node, ast.Constant) and isinstance(node.value, int | float):
            yield change(node.lineno, node.col_offset, node.end_col_offset or 0, repr(node.value + 1))


def _without_annotations(tree: ast.Module) -> ast.Module:
    """Return the code of functions and methods without types, whose operators and numbers decide nothing."""
    bodies = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]
    for node in bodies:
        node.returns = None
        for argument in [*node.args.args, *node.args.kwonlyargs, *node.args.posonlyargs]:
            argument.annotation = None
        node.decorator_list = []
    outermost = [node for node in bodies if not any(node in ast.walk(other) for other in bodies if other is not node)]
    constants = [node for node in tree.body if isinstance(node, ast.Assign)]
    return ast.Module([*outermost, *constants], [])


def draw() -> list[Mutant]:
    """Return the list: as many mutants of each package, any place as likely as another one."""
    random, drawn = np.random.default_rng(SEED), []
    for package, folders in PACKAGES.items():
        places = [
            Mutant(package, str(path.relative_to(ROOT)), *mutation)
            for folder in folders
            for path in sorted((ROOT / "src/narxbench" / folder).rglob("*.py"))
            for mutation in sorted(set(_mutations(path)))
            if _compiles(path, *mutation)
        ]
        chosen = random.choice(len(places), MUTANTS_OF_PACKAGE, replace=False)
        drawn += [places[place] for place in sorted(chosen)]
    return drawn


def _compiles(path: Path, line: int, before: str, after: str) -> bool:
    lines = path.read_text().splitlines()
    assert lines[line - 1] == before
    lines[line - 1] = after
    try:
        compile("\n".join(lines), str(path), "exec")
    except SyntaxError:
        return False
    return True


def _read_list() -> list[Mutant]:
    with LIST.open(newline="") as file:
        return [
            Mutant(row["package"], row["file"], int(row["line"]), row["before"], row["after"])
            for row in csv.DictReader(file)
        ]


def _measure_coverage(root: Path, folder: Path) -> tuple[CoverageData, dict[str, float]]:
    """Return which tests execute which lines, and the seconds that each test took."""
    data, times = folder / "coverage", folder / "times.xml"
    if not data.exists():
        command = [sys.executable, "-m", "pytest", "-q", "--cov", "--cov-branch", "--cov-context=test"]
        environment = _environment(root) | {"COVERAGE_FILE": str(data)}
        command += ["--cov-report=", f"--junitxml={times}"]
        subprocess.run(command, cwd=root, env=environment, check=True)
    coverage = CoverageData(str(data))
    coverage.read()
    seconds = {}
    for case in ElementTree.parse(times).iter("testcase"):
        seconds[f"{case.get('classname')}::{case.get('name')}"] = float(case.get("time") or 0)
    return coverage, seconds


def _environment(root: Path) -> dict[str, str]:
    return os.environ | {"PYTHONPATH": str(root / "src"), "OPENBLAS_NUM_THREADS": "1"}


def _tests(coverage: CoverageData, seconds: dict[str, float], file: str, line: int) -> list[str]:
    """Return the tests that execute a line, the fastest first."""
    measured = next(Path(path) for path in coverage.measured_files() if path.endswith("/src/narxbench/__init__.py"))
    root = measured.parents[2]
    lines = coverage.contexts_by_lineno(str(root / file))
    tests = {context.partition("|")[0] for context in lines.get(line, []) if context}
    source = (root / file).read_text()
    if not tests and re.search(r"^@(compiled|inlined)", source, re.MULTILINE):
        of_problems = coverage.contexts_by_lineno(str(root / "src/narxbench/_fitness/problem.py"))
        tests = {context.partition("|")[0] for contexts in of_problems.values() for context in contexts if context}

    def taken(test: str) -> tuple[float, str]:
        path, _, name = test.partition("::")
        return seconds.get(f"{path.removesuffix('.py').replace('/', '.')}::{name}", 0.0), test

    return sorted(tests, key=taken)[:TESTS_AT_MOST]


def _verdict(root: Path, mutant: Mutant, coverage: CoverageData, seconds: dict[str, float]) -> str:
    """Return what the tests say of a mutant; the copy of the project is as before afterwards."""
    path = root / mutant.file
    original = path.read_text() if path.exists() else ""
    lines = original.splitlines(keepends=True)
    here = [index for index, line in enumerate(lines) if line.rstrip("\n") == mutant.before]
    if not here:
        return "gone"
    index = min(here, key=lambda index: abs(index + 1 - mutant.line))
    tests = _tests(coverage, seconds, mutant.file, index + 1)
    if not tests:
        return "not covered"
    lines[index] = mutant.after + "\n"
    path.write_text("".join(lines))
    with tempfile.TemporaryDirectory() as folder:
        command = [
            sys.executable,
            "-m",
            "pytest",
            "-q",
            "-x",
            "-p",
            "no:cacheprovider",
            f"--basetemp={folder}/t",
            *tests,
        ]
        try:
            code = subprocess.run(
                ["prlimit", f"--cpu={SECONDS}", *command],
                cwd=root,
                env=_environment(root),
                capture_output=True,
                timeout=WAITED,
            ).returncode
        except subprocess.TimeoutExpired:
            return "not in time"
        finally:
            path.write_text(original)
    # Signals end what takes too long.
    return "survived" if code == 0 else "killed" if code > 0 else "not in time"


def main() -> None:
    """Draw the list, or try each of its mutants and print what the tests say."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--draw", action="store_true", help="write the list again")
    parser.add_argument("--folder", type=Path, default=ROOT / "build/mutants", help="for the coverage and the verdicts")
    arguments = parser.parse_args()
    if arguments.draw:
        with LIST.open("w", newline="") as file:
            rows = csv.writer(file, lineterminator="\n")
            rows.writerow(field.name for field in fields(Mutant))
            rows.writerows(astuple(mutant) for mutant in draw())
        return
    folder = arguments.folder.absolute()
    folder.mkdir(parents=True, exist_ok=True)
    roots = [folder / f"copy{number}" for number in range(os.cpu_count() or 1)]
    for root in roots:
        shutil.rmtree(root, ignore_errors=True)
        subprocess.run(["git", "clone", "-q", str(ROOT), str(root)], check=True)
    coverage, seconds = _measure_coverage(roots[0], folder)
    mutants, free = _read_list(), list(roots)

    def try_one(mutant: Mutant) -> str:
        root = free.pop()
        try:
            return _verdict(root, mutant, coverage, seconds)
        finally:
            free.append(root)

    with ThreadPoolExecutor(len(roots)) as pool, (folder / "verdicts.csv").open("w", newline="") as file:
        rows = csv.writer(file, lineterminator="\n")
        verdicts = []
        for mutant, verdict in zip(mutants, pool.map(try_one, mutants), strict=True):
            verdicts.append((mutant.package, verdict))
            rows.writerow([verdict, *astuple(mutant)])
            file.flush()
    for package in PACKAGES:
        counts = Counter(verdict for name, verdict in verdicts if name == package)
        print(f"{package}: " + ", ".join(f"{number} {verdict}" for verdict, number in sorted(counts.items())))


if __name__ == "__main__":
    main()

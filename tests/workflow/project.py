"""A copy of the project in a folder of its own, in which the pipeline can run."""

import csv
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from itertools import product
from pathlib import Path
from types import SimpleNamespace
from typing import Any, TypeVar

T = TypeVar("T")
ROOT = Path(__file__).parents[2]
# The smallest study with both kinds of candidate terms (66 and 84), both algorithms and two criteria: 12 runs.
TINY = """\
systems: [S3, S4]
snr_db: [30]
seeds: 2
evaluations: 200
methods: {upso2d: {criteria: [bic, aic-2]}}
"""
SEARCHES = ("upso2d/bic", "upso2d/aic-2", "ga/bic")
CONDITIONS = [f"as-described/data-1/{system}/30dB/{search}" for system, search in product(("S3", "S4"), SEARCHES)]
RUNS = [f"data/tiny/runs/{condition}/seed-{seed}.json" for condition, seed in product(CONDITIONS, (1, 2))]
SUMMARIES = list(map("data/tiny/conditions/{}.json".format, CONDITIONS))
# A file that depends on all runs and on no table, figure or page.
FRAMES = "data/tiny/frames/claims.csv"
# The folders of what is made on the way to the frames.
COMPUTED = tuple(map("data/tiny/{}".format, ("problems", "runs", "conditions", "frames")))
# The pages of a run.
PAGES = ("report", "as_printed", "interpretations", "method")
# Seconds in which anything here ends on a busy machine, unless it hangs.
LIMIT = 300.0
# The record of the run, and copies of the pages.
_NO_RESULT = re.compile(r"/run\.json$|/site/")
_RULE = re.compile(r"^(?:local)?rule (\w+):\n((?: {4}.*\n)+)", re.MULTILINE)


class Project:
    """A copy of the project, and one of its studies, named as the file of its settings."""

    def __init__(self, root: Path, study: str = "tiny") -> None:
        self.root, self.study = root, study

    def __truediv__(self, path: str) -> Path:
        return self.root / path

    @classmethod
    def of_checkout(cls, root: Path) -> "Project":
        """Copy what belongs to the project, committed or not, and the compiled functions; nothing that was made."""
        git = ["git", "-c", f"safe.directory={ROOT}"]
        command = [*git, "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
        names = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout.split("\0")
        paths = [*map(ROOT.joinpath, names), *ROOT.glob("src/**/*.nb[ic]")]
        for path in paths:
            copy = root / path.relative_to(ROOT)
            copy.parent.mkdir(parents=True, exist_ok=True)
            if path.is_symlink():
                copy.symlink_to(path.readlink())
            elif path.is_file():
                shutil.copy2(path, copy)
        project = cls(root)
        project.write("tiny.yaml", TINY)
        return project

    def copied(self, root: Path, *, made: bool = True) -> "Project":
        """Copy everything, or everything but what the pipeline made."""
        results = {str(self / name) for name in (f"data/{self.study}", "reports", "logs", ".snakemake")}

        def ignore_results(folder: str, names: list[str]) -> list[str]:
            return [name for name in names if f"{folder}/{name}" in results]

        ignore = None if made else ignore_results
        return Project(Path(shutil.copytree(self.root, root, symlinks=True, ignore=ignore)), self.study)

    def with_study(self, name: str, settings: str) -> "Project":
        """Return the same copy with another study."""
        self.write(f"{name}.yaml", settings)
        return Project(self.root, name)

    def write(self, path: str, text: str) -> None:
        (self / path).write_text(text, encoding="utf-8")

    def append(self, path: str, text: str) -> None:
        self.write(path, (self / path).read_text(encoding="utf-8") + text)

    def edit(self, path: str, old: str, new: str) -> None:
        text = (self / path).read_text(encoding="utf-8")
        assert text.count(old) == 1, f"{path}: {old!r} is there {text.count(old)} times"
        self.write(path, text.replace(old, new))

    @contextmanager
    def under_way(
        self, *arguments: str, env: Mapping[str, str] | None = None, umask: int = 0o022, output: int = subprocess.PIPE
    ) -> Iterator[subprocess.Popen[str]]:
        """Begin Snakemake in a session of its own; whatever happens, none of it is left running."""
        begun = subprocess.Popen(
            [sys.executable, "-m", "snakemake", *arguments, "--configfile", f"{self.study}.yaml"],
            cwd=self.root,
            env=os.environ | (env or {}),
            umask=umask,
            start_new_session=True,
            preexec_fn=_restore_signals,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            text=True,
            encoding="utf-8",
            errors="replace",
        )
        try:
            yield begun
        finally:
            with suppress(ProcessLookupError):
                os.killpg(begun.pid, signal.SIGKILL)
            begun.communicate()

    def snakemake(
        self, *arguments: str, code: int = 0, env: Mapping[str, str] | None = None, umask: int = 0o022
    ) -> str:
        """Run Snakemake to its end and return what it prints on either stream: never lines of code."""
        cores = () if "--cores" in arguments else ("--cores", "2")
        with self.under_way(*arguments, *cores, env=env, umask=umask) as begun:
            printed, _ = begun.communicate(timeout=LIMIT)
        assert begun.returncode == code, printed
        assert "Traceback" not in printed, printed
        return printed

    def planned(self, *arguments: str) -> dict[str, list[str]]:
        """Return the outputs of the jobs that would run, by rule."""
        outputs: dict[str, list[str]] = {}
        for rule, block in _RULE.findall(self.snakemake("--dry-run", *arguments)):
            outputs.setdefault(rule, [])
            for paths in re.findall(r"^ {4}output: (.*)$", block, re.MULTILINE):
                outputs[rule] += paths.split(", ")
        return {rule: sorted(paths) for rule, paths in outputs.items()}

    def files(self, *folders: str) -> dict[str, bytes]:
        """Return the bytes of all results of the study, or of folders, without what tells how they were made."""
        contents = {}
        quoting = self.pages_with_record()
        for folder in folders or (f"data/{self.study}", f"reports/{self.study}"):
            for path in sorted((self / folder).rglob("*")):
                name = str(path.relative_to(self.root))
                if path.is_file() and not _NO_RESULT.search(name) and name not in quoting:
                    contents[name] = path.read_bytes()
        return contents

    def pages_with_record(self) -> set[str]:
        """Return the pages that quote the record of the run; each has a twin with a fixed record, which is a result."""
        return {f"reports/{self.study}/{path.name}" for path in (self / f"data/{self.study}/pages").glob("*.html")}

    def record(self) -> Any:
        """Return the record of the run."""
        text = (self / f"reports/{self.study}/run.json").read_text(encoding="utf-8")
        return json.loads(text, object_hook=lambda values: SimpleNamespace(**values))

    def run_files(self) -> list[Path]:
        return list((self / f"data/{self.study}/runs").rglob("seed*.json"))

    def manifest(self) -> dict[str, str]:
        with (self / f"reports/{self.study}/manifest.csv").open(encoding="utf-8", newline="") as file:
            return dict(csv.reader(file))

    def locked(self) -> bool:
        return any((self / ".snakemake").glob("locks/*"))


def _restore_signals() -> None:
    """Undo what is inherited: background jobs of a shell ignore SIGINT, those of nohup SIGHUP."""
    for number in (signal.SIGINT, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)


def unlike(actual: Mapping[str, object], expected: Mapping[str, object]) -> list[str]:
    """Return the names of missing, new and different values."""
    return [name for name in {**expected, **actual} if actual.get(name) != expected.get(name)]


def links_to_files(page: str) -> list[str]:
    """Return the links of a page that lead to files next to it."""
    links = re.findall(r' href="([^"#]+)(?:#[^"]*)?"', page)
    return [link for link in links if not re.match("[a-z]+:", link)]


def wait_for(condition: Callable[[], T], what: str, limit: float = LIMIT) -> T:
    """Return the first true value of a condition; it is an error when there is none within the limit."""
    last = time.monotonic() + limit
    while not (value := condition()):
        if time.monotonic() > last:
            raise TimeoutError(f"waited {limit:g} s in vain for {what}")
        time.sleep(0.01)
    return value

"""A copy of the project, and what its pipeline does in it."""

import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from narxbench.pipeline.manifest import read_manifest

ROOT = Path(__file__).parents[2]
QUICK = ("--configfile", "config/quick.yaml")
MADE = ("data/generated", "data/runs", "data/cells", "reports", "logs", ".snakemake")
# The folders of what it makes that is compared between runs.
RESULTS = MADE[:4]
# The quick configuration made smaller still, for tests that compute something.
TINY = "seeds: 2\nevaluations: 200\nstatistics: {bootstrap_samples: 50}\n"


def committed_files() -> list[str]:
    """Return the paths of the project's files, whether committed already or not."""
    command = ["git", "-c", f"safe.directory={ROOT}", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    names = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout.split("\0")
    return [name for name in names if (ROOT / name).is_file()]


class Project:
    """A copy of the project in a folder of its own, and its pipeline."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def __truediv__(self, path: str) -> Path:
        return self.root / path

    def snakemake(self, *arguments: str, code: int = 0, cores: int = 2) -> str:
        """Run Snakemake and return what it prints on either stream."""
        command = [sys.executable, "-m", "snakemake", "--cores", str(cores), *arguments]
        done = subprocess.run(
            command,
            cwd=self.root,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        assert done.returncode == code, done.stdout
        return done.stdout

    def planned(self, *arguments: str) -> dict[str, list[str]]:
        """Return the outputs of the jobs that would run, by rule."""
        return jobs(self.snakemake("--dry-run", *arguments))

    def done(self, *arguments: str) -> dict[str, list[str]]:
        """Run Snakemake and return the outputs of the jobs that ran, by rule."""
        before = set(self.root.glob(".snakemake/log/*"))
        self.snakemake(*arguments)
        (log,) = set(self.root.glob(".snakemake/log/*")) - before
        return jobs(log.read_text(encoding="utf-8"))

    def write(self, path: str, text: str) -> None:
        (self.root / path).write_text(text, encoding="utf-8")

    def edit(self, path: str, old: str, new: str) -> None:
        text = (self.root / path).read_text(encoding="utf-8")
        assert text.count(old) == 1, f"{path}: {old!r} is there {text.count(old)} times"
        self.write(path, text.replace(old, new))

    def contents(self, *folders: str) -> dict[str, bytes]:
        """Return the bytes of every file in the folders, but for the one that tells machine and time."""
        paths = [path for folder in folders for path in (self.root / folder).rglob("*") if path.is_file()]
        paths = [path for path in paths if path.name != "made.md"]
        return {str(path.relative_to(self.root)): path.read_bytes() for path in sorted(paths)}


class Copy(Project):
    """A copy whose pipeline always takes the same configuration, in a session of its own."""

    def __init__(self, root: Path, overlays: Sequence[str] = QUICK) -> None:
        super().__init__(root)
        self.overlays = tuple(overlays)

    @classmethod
    def of_checkout(cls, root: Path, overlays: Sequence[str] = QUICK) -> "Copy":
        """Copy the project's files and nothing that was made."""
        for name in committed_files():
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, root / name)
        return cls(root, overlays)

    def copied(self, root: Path, *, made: bool) -> "Copy":
        """Copy everything, or everything but what the pipeline made; the compiled searches are taken along."""
        results = {str(self / path) for path in MADE}

        def left_out(folder: str, names: list[str]) -> list[str]:
            return [] if made else [name for name in names if f"{folder}/{name}" in results]

        return Copy(Path(shutil.copytree(self.root, root, symlinks=True, ignore=left_out)), self.overlays)

    def take_compiled(self, source: Path) -> None:
        """Copy the compiled searches, which say for which code and processor they are."""
        for path in source.glob("src/**/*.nb[ic]"):
            (self / str(path.relative_to(source))).parent.mkdir(exist_ok=True)
            shutil.copy2(path, self / str(path.relative_to(source)))

    def begin(
        self,
        *arguments: str,
        program: Sequence[str] = ("-m", "snakemake"),
        env: Mapping[str, str] | None = None,
        umask: int = 0o022,
        output: int = subprocess.PIPE,
    ) -> subprocess.Popen[str]:
        """Start Snakemake; ``output`` takes both streams, as what ``subprocess`` takes for one."""
        return subprocess.Popen(
            [sys.executable, *program, *arguments, *self.overlays],
            cwd=self.root,
            env=os.environ | (env or {}),
            umask=umask,
            start_new_session=True,
            # A shell lets its background jobs ignore SIGINT, which is inherited: Ctrl-C would have no effect.
            preexec_fn=_heed_interrupt,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            text=True,
            encoding="utf-8",
            errors="replace",
        )

    def make(self, *arguments: str, env: Mapping[str, str] | None = None, umask: int = 0o022, code: int = 0) -> str:
        """Run Snakemake to its end and return what it prints on either stream."""
        begun = self.begin(*arguments, env=env, umask=umask)
        printed, _ = begun.communicate()
        assert begun.returncode == code, printed
        return printed

    def results(self) -> dict[str, bytes]:
        return self.contents(*RESULTS)


def _heed_interrupt() -> None:
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def differences(a: Project, b: Project) -> list[str]:
    """Return what differs in the manifests of two runs: files, then versions and settings."""
    ours, theirs = (read_manifest(project / "reports/manifest.csv") for project in (a, b))
    found = []
    for left, right in ((ours.entries, theirs.entries), (ours.conditions, theirs.conditions)):
        found += [name for name in {**left, **right} if left.get(name) != right.get(name)]
    return found


def jobs(log: str) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for rule, block in re.findall(r"^(?:local)?rule (\w+):\n((?: {4}.*\n)+)", log, re.MULTILINE):
        output = re.search(r"^ {4}output: (.*)$", block, re.MULTILINE)
        found.setdefault(rule, []).append(output[1] if output else "")
    return found

"""A copy of the project, and what its pipeline does in it."""

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
QUICK = ("--configfile", "config/quick.yaml")
MADE = ("data/generated", "data/runs", "data/cells", "reports", "logs", ".snakemake")
# The quick configuration made smaller still, for tests that compute something.
TINY = "seeds: 2\nevaluations: 200\nstatistics: {bootstrap_samples: 50}\n"


def committed_files():
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


def jobs(log: str) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for rule, block in re.findall(r"^(?:local)?rule (\w+):\n((?: {4}.*\n)+)", log, re.MULTILINE):
        output = re.search(r"^ {4}output: (.*)$", block, re.MULTILINE)
        found.setdefault(rule, []).append(output[1] if output else "")
    return found

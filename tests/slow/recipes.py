"""The recipes of CONTRIBUTING, and a copy of the project in which a test follows one of them."""

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from tests.workflow.project import ROOT, Project

_TEXT = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
_SECTION = _TEXT.partition("\n## How to add …\n")[2].partition("\n## ")[0]
_RECIPE = re.compile(r"^\*\*an? (?P<name>[^*]+)\*\* \((?P<counts>[^)]+)\): (?P<text>(?:.+\n)+)", re.MULTILINE)
# A file that a recipe names, with words in capitals for names that the reader chooses.
_PATH = re.compile(r"`([\w./-]+\.(?:py|yaml|smk))`")


class Recipe(NamedTuple):
    """A recipe: the numbers of files that it says it touches, and its text."""

    counts: set[int]
    text: str

    def names(self, path: str) -> bool:
        """Return whether the text names a file."""
        patterns = (re.escape(name).replace("NAME", r"\w+") for name in _PATH.findall(self.text))
        return any(re.fullmatch(pattern, path) for pattern in patterns)


RECIPES = {}
for _match in _RECIPE.finditer(_SECTION):
    RECIPES[_match["name"]] = Recipe(set(map(int, re.findall(r"\d+", _match["counts"]))), _match["text"])
# What renews the files that are written from the code.
RENEWING = re.findall(r"^python -m .*$", _SECTION, re.MULTILINE)


class RecipeCopy(Project):
    """A copy of the project that notes which of its files are written by hand."""

    def __init__(self, root: Path, study: str = "tiny") -> None:
        super().__init__(root, study)
        self.edited: set[str] = set()

    def write(self, path: str, text: str) -> None:
        """Write a file as a reader of the recipe does."""
        super().write(path, text)
        self.edited.add(path)

    def trial(self, name: str, settings: str) -> Project:
        """Return a study that tries what was added; its file is none that the recipe asks for."""
        Project(self.root).write(f"{name}.yaml", settings)
        return Project(self.root, name)

    def run(self, *words: str) -> str:
        """Return what a command of Python prints in the copy; it must end well, and only tell that it compiles."""
        environment = os.environ | {"PYTHONPATH": str(self.root / "src")}
        done = subprocess.run(
            [sys.executable, *words], cwd=self.root, env=environment, capture_output=True, text=True, encoding="utf-8"
        )
        messages = [line for line in done.stderr.splitlines() if not line.startswith("narxbench: compiling ")]
        assert (done.returncode, messages) == (0, []), done.stdout + done.stderr
        return done.stdout

    def renew(self) -> None:
        """Renew what is written from the code, by the commands of the page."""
        assert len(RENEWING) == 2
        for command in RENEWING:
            words, _, target = command.removeprefix("python ").partition(" > ")
            printed = self.run(*words.split())
            if target:
                (self / target).write_text(printed, encoding="utf-8")

    def schema(self) -> str:
        """Return the schema of the settings of a study as it was renewed."""
        return (self / "workflow/schemas/study.schema.json").read_text(encoding="utf-8")


@contextmanager
def following(name: str, root: Path, project: Project | None = None) -> Iterator[RecipeCopy]:
    """Give a copy of the checkout, or of a project, to follow a recipe in.

    In the end the files that were written by hand must be those that the recipe names, and as many as it says.
    """
    recipe = RECIPES[name]
    source = Project.of_checkout(root) if project is None else project.copied(root)
    copy = RecipeCopy(source.root)
    yield copy
    assert len(copy.edited) in recipe.counts, f"{name}: {sorted(copy.edited)}; CONTRIBUTING says {recipe.counts}"
    assert [path for path in sorted(copy.edited) if not recipe.names(path)] == [], f"{name}: CONTRIBUTING names no such"

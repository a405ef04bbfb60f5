"""A study as the rules need it: settings, definitions of its steps, and what is left to say about its files.

The rules in ``workflow/rules`` say what is made of what, with literal paths. A plan answers what they cannot know:
which combinations of wildcards exist, and what each step depends on besides files
(:mod:`narxbench._pipeline.definitions`).
"""

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Any, TypeVar

from narxbench._algorithms.registry import algorithm
from narxbench._io.errors import NarxbenchError, did_you_mean
from narxbench._io.files import read_bytes, read_text, sha256
from narxbench._io.settings import flattened
from narxbench._pipeline.code import PACKAGE, code_of, versions_of, with_criteria
from narxbench._pipeline.definitions import changes, definition_file
from narxbench._pipeline.manifest import SETTINGS, VERSIONS, other_settings
from narxbench._pipeline.steps import SCRIPTS, ended_in_one_line

ROOT = PACKAGE.resolve().parents[1]
# Where one works in the project's folder, names of its files are relative; a workflow elsewhere finds them here.
HERE = "" if Path.cwd() == ROOT else f"{ROOT}/"
BASE = f"{HERE}config/paper.yaml"
DESIGN_CHOICES = f"{HERE}config/design_choices.yaml"
REFERENCE = f"{HERE}data/reference"
# The study whose page is the main one of the project.
MAIN_STUDY = "paper"

Entry = TypeVar("Entry")
# The input function of a rule.
PathsOf = Callable[[Any], list[str]]
# Results, each with files that it stands for, which nothing else needs once it is made.
Sources = Sequence[tuple[str, Sequence[str]]]


class StudyPlan:
    """Answers to the rules about the files of a study and the definitions of its steps."""

    def __init__(self, study: Any, left_out: dict[str, str], finished_only: bool = False) -> None:
        self.study, self.name = study, study.study
        self.kind: str = study.kind
        self.settings: dict[str, Any] = study.model_dump(mode="json")
        self.left_out = left_out  # methods that cannot be used here, each with the reason
        self.finished_only = finished_only  # whether only complete conditions are planned
        # The place of the results, with a slash at the end: the prefix of a workflow that uses this one as a module.
        self.folder = ""
        self.page = f"reports/{self.name}/report.html"
        if self.name == MAIN_STUDY:
            self.page = "reports/report.html"
        # The file of each definition, by its path without digest and suffix, and what each file holds.
        self._files: dict[str, str] = {}
        self._contents: dict[str, Mapping[str, Any]] = {}
        self._versions: dict[str, str] = {}

    def define(
        self,
        path: str,
        script: str,
        *,
        settings: Mapping[str, Any] | None = None,
        files: Iterable[str] = (),
        algorithm_name: str | None = None,
        criterion: str | None = None,
    ) -> str:
        """Set what a step depends on besides its input files, and return the file of this definition.

        ``path`` is that of the definition below the study's folder, ``script`` the one that the step runs. Its code
        counts, that of the algorithm, and that of all criteria, or of one if the step is for one; ``files`` are those
        that no step makes.
        """
        algorithm_files = [] if algorithm_name is None else algorithm(algorithm_name).files
        code_files = with_criteria(criterion, SCRIPTS / f"{script}.py", *algorithm_files)
        versions = versions_of(*code_files)
        self._versions |= versions
        whole_path = f"data/{self.name}/{path}"
        content = {
            "settings": dict(settings or {}),
            "code": code_of(*code_files),
            "versions": versions,
            "files": digests(files),
        }
        file = definition_file(whole_path, content)
        self._files[whole_path], self._contents[file] = file, content
        return file

    def step(self, script: str, files: Iterable[str] = (), **settings: Any) -> str:
        """Return the file of the definition of a step that is made once in a study."""
        return self.define(f"steps/{script}", script, settings=settings, files=files)

    def values(self, wildcards: Any) -> dict[str, str]:
        """Return the values of the wildcards of a job, or of a row of the matrix, by name."""
        return dict(wildcards.items())

    def defined(self, *patterns: str) -> PathsOf:
        """Return the input function for the files of definitions, by their paths with wildcards."""

        def files(wildcards: Any) -> list[str]:
            values = self.values(wildcards)
            return [self.file_of(pattern.format_map(values)) for pattern in patterns]

        return files

    def entry(self, entries: Mapping[str, Entry], name: str) -> Entry:
        """Return what a target asks for by a name; one that is not in the study ends the process with one line."""
        if name not in entries:
            with ended_in_one_line():
                raise NarxbenchError(f"{name}: not in the study {self.name}{did_you_mean(name, entries)}")
        return entries[name]

    def file_of(self, path: str) -> str:
        """Return the file of the definition of a path."""
        return self.entry(self._files, path)

    def definitions(self) -> list[str]:
        """Return the files of all definitions. Whoever asks for results asks for these too.

        A file that is missing between two steps is no reason for Snakemake to make it, where it has lost its records.
        """
        return list(self._files.values())

    def content(self, file: str) -> Mapping[str, Any]:
        """Return what the file of a definition holds; a file of another digest is none of the study."""
        return self.entry(self._contents, file)

    def changed_definitions(self) -> dict[str, list[str]]:
        """Return for each setting, module, version and file that has changed the definitions that it is a part of."""
        changed: dict[str, list[str]] = {}
        for path, file in self._files.items():
            if os.path.exists(self.at(os.path.dirname(path))) and not os.path.exists(self.at(file)):
                for name in changes(self.at(file), self._contents[file]):
                    changed.setdefault(name, []).append(path.removeprefix(f"data/{self.name}/"))
        return changed

    @property
    def made_with(self) -> dict[str, str]:
        """Settings as text, and versions, of everything that is defined."""
        parts = {SETTINGS: dict(flattened(self.settings)), VERSIONS: dict(sorted(self._versions.items()))}
        made_with = {}
        for prefix, values in parts.items():
            for name, value in values.items():
                made_with[prefix + name] = value
        return made_with

    def locate(self, manifest: str) -> None:
        """Note where the results lie, by the manifest's path, which has the prefix of a module."""
        self.folder = manifest.removesuffix(f"reports/{self.name}/manifest.csv")

    def at(self, path: str) -> str:
        """Return where a file of the study lies."""
        return f"{self.folder}{path}"

    def placed(self, paths: Iterable[str]) -> dict[str, str]:
        """Return for each file of the study where it lies."""
        return {path: self.at(path) for path in paths}

    def lost(self, sources: Sources) -> list[str]:
        """Return the files that are missing although what was made of them exists, so that nothing else needs them."""
        needed: dict[str, None] = {}
        for result, files in sources:
            if os.path.exists(self.at(result)):
                needed.update(dict.fromkeys(files))
        return [path for path in needed if not os.path.exists(self.at(path))]

    def answer(self, results: Iterable[str]) -> str:
        """Return what the page says in a line; "" where it says nothing, or is older than one of the results."""
        file = Path(self.at(f"data/{self.name}/pages/answer.txt"))
        if not file.is_file():
            return ""
        made = file.stat().st_mtime
        paths = [Path(self.at(path)) for path in results]
        is_current = all(path.is_file() and path.stat().st_mtime <= made for path in paths)
        return read_text(file).strip() if is_current else ""

    def reference(self) -> str:
        """Return the manifest to compare with: that of the repository, if it is of these settings, else the study's."""
        kept = f"{REFERENCE}/{self.name}/manifest.csv"
        if os.path.exists(kept) and not other_settings(kept, self.made_with):
            return kept
        return self.at(f"reports/{self.name}/manifest.csv")

    def kept_files(self, results: Iterable[str]) -> dict[str, str]:
        """Return the reference results that the repository keeps of this study, each with the result that it copies."""
        copies = {}
        for path in results:
            # Without the folders of tables and figures, but with that of the interpretations: their document names it.
            kept = f"{REFERENCE}/{self.name}"
            if path.startswith(f"reports/{self.name}/interpretations/"):
                kept += "/interpretations"
            copies[f"{kept}/{Path(path).name}"] = path
        return copies


def in_order_of_causes(sources: Sources, results: Iterable[str]) -> list[str]:
    """Return every file that depends on code, settings and versions alone, and so has the same bytes everywhere."""
    return [*dict.fromkeys(chain.from_iterable(files for _, files in sources)), *results]


def digests(paths: Iterable[str]) -> dict[str, str]:
    """Return the digests of files that exist: by them a step knows that a file is another one, whatever its date."""
    by_path = {}
    for path in paths:
        if os.path.isfile(path):
            by_path[path] = sha256(read_bytes(path))
    return by_path

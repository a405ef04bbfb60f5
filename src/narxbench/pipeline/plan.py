"""A study as files and jobs: what the rules ask for their inputs, outputs and parameters, whatever kind it is of."""

import os
from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from functools import cache, cached_property
from pathlib import Path
from typing import Any, ClassVar

from narxbench.algorithms.registry import algorithm
from narxbench.io.files import read_bytes, sha256
from narxbench.pipeline.code import PACKAGE, digest_of, versions_of
from narxbench.pipeline.estimate import Estimate
from narxbench.pipeline.manifest import check_settings
from narxbench.pipeline.steps import SCRIPTS, ended_in_one_line

ROOT = PACKAGE.resolve().parents[1]
# Where one works in the project's folder, names of its files are relative; a workflow elsewhere finds them here.
HERE = "" if Path.cwd() == ROOT else f"{ROOT}/"
BASE = f"{HERE}config/paper.yaml"
DESIGN_CHOICES = f"{HERE}config/design_choices.yaml"
# The study whose page is the main one of the project.
MAIN_STUDY = "paper"
REFERENCE = f"{HERE}data/reference"
# Who wrote what, and where it is to be had.
ABOUT = f"{HERE}CITATION.cff"
# Steps that write no result of a study, or one with a time in it.
_WITHOUT_RESULTS = ("repeat", "run_info", "screenshot", "update_reference")
# The first screen of the paper's page as a picture.
SCREENSHOT = "docs/images/report.png"


class StudyPlan(ABC):
    """What the rules ask of any study: its folders, its settings, and what is compared with the reference results.

    Each kind of study is a class. It is made of settings in layers, and raises NarxbenchError with one line for each
    mistake in them.
    """

    rules: ClassVar[Sequence[str]]
    """The files of ``workflow/rules`` that make its results, in the order in which they are included."""
    page: str
    """The main page."""
    estimate: Estimate
    """What it takes."""

    def __init__(self, study: Any) -> None:
        self.study = study
        name = study.study
        self.data, self.reports, self.logs = f"data/{name}", f"reports/{name}", f"logs/{name}"
        # Where these folders are, with a slash at the end: a workflow that uses this one as a module may say so.
        self.folder = ""
        self.run_info = f"{self.reports}/run_info.md"
        self.manifest = f"{self.reports}/manifest.csv"
        self.record = f"{self.data}/made_with.json"
        self.kept = f"{REFERENCE}/{name}"
        # Methods that cannot be used here, each with the reason.
        self.left_out: dict[str, str] = {}
        # Whether only results of complete conditions are planned.
        self.finished_only = False
        # What each step that makes results is made of, as the rules have asked for it: its code, and all packages.
        self.code_digests: dict[str, str] = {}
        self.versions: dict[str, str] = {}

    @abstractmethod
    def sources(self, summed_only: bool = False) -> list[str]:
        """Return the data and the searches, or of them only what another file stands for that is there."""

    @abstractmethod
    def from_summaries(self) -> list[str]:
        """Return what stands for the sources, and all that is made of it."""

    @abstractmethod
    def given(self) -> list[str]:
        """Return the files that steps read and no step makes."""

    @abstractmethod
    def kept_results(self) -> list[str]:
        """Return the results that the repository keeps as reference results."""

    def results(self) -> list[str]:
        """Return every file that depends on code, settings and versions alone, hence has the same bytes everywhere."""
        return [*self.sources(), *self.from_summaries()]

    def lost(self) -> list[str]:
        """Return the sources that are missing next to what stands for them, so that nothing else asks for them."""
        return [path for path in self.sources(summed_only=True) if not os.path.exists(self.at(path))]

    def kept_files(self) -> dict[str, str]:
        """Return the reference results that the repository keeps of this study, each with what it is a copy of."""
        # Without the folders of tables and figures, but with that of the interpretations, which their document names.
        own = f"{self.reports}/interpretations/"
        made = [*self.kept_results(), self.manifest]
        return {f"{self.kept}/{'interpretations/' * path.startswith(own)}{Path(path).name}": path for path in made}

    def at(self, path: str) -> str:
        """Return where a file of the study lies, or one that steps read and no step makes."""
        return path if path in self._given else f"{self.folder}{path}"

    @cached_property
    def _given(self) -> frozenset[str]:
        return frozenset(self.given())

    @property
    def memory(self) -> str:
        """The file next to Snakemake's own memory of the results: see :mod:`narxbench.pipeline.origin`."""
        place = f"-{sha256(self.folder)[:8]}" if self.folder else ""
        return f".snakemake/narxbench/{self.study.study}{place}"

    @property
    def reference(self) -> str:
        """The manifest that results are compared with: that of the repository, or else that of the finished study."""
        kept = f"{self.kept}/manifest.csv"
        return kept if os.path.exists(kept) else self.at(self.manifest)

    def to_verify(self) -> list[str]:
        """Return what is made before it is compared: all that the repository has reference results of, else nothing.

        Results of other settings end the process before any job.
        """
        with ended_in_one_line():
            check_settings(self.reference, self.settings())
        return [] if self.reference == self.at(self.manifest) else [*self.lost(), *self.from_summaries()]

    def digests(self, paths: Iterable[str]) -> dict[str, str]:
        """Return the digests of files, by which a step sees another one of an older date."""
        return {path: sha256(read_bytes(path)) for path in paths}

    def settings(self) -> dict[str, Any]:
        """Return all settings of the study as plain data."""
        settings: dict[str, Any] = self.study.model_dump(mode="json")
        return settings

    def definitions(self) -> dict[str, Any]:
        """Return what the settings only name."""
        return {}

    def _code(self, script: str, name: str | None) -> str:
        digest, versions = script_digest(script, name)
        if script not in _WITHOUT_RESULTS:
            self.code_digests[script if name is None else f"{script} ({name})"] = digest
            self.versions |= versions
        return f"{digest} with {', '.join(map(' '.join, versions.items()))}"


@cache
def script_digest(script: str, name: str | None) -> tuple[str, dict[str, str]]:
    """Return digest and package versions of all code that a script depends on, that of an algorithm included."""
    files = [SCRIPTS / f"{script}.py", *([] if name is None else algorithm(name).files)]
    return digest_of(*files), versions_of(*files)

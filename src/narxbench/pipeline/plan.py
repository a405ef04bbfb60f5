"""A study as files and jobs: what the rules ask for their inputs, outputs and parameters, whatever kind it is of."""

import os
from collections.abc import Iterable, Sequence
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import Any, ClassVar

from narxbench.algorithms.registry import algorithm
from narxbench.io.files import read_bytes, sha256
from narxbench.io.resources import Estimate
from narxbench.io.settings import flattened
from narxbench.pipeline.code import PACKAGE, digest_of, versions_of, with_criteria
from narxbench.pipeline.manifest import SETTINGS, VERSIONS, check_settings
from narxbench.pipeline.steps import SCRIPTS, ended_in_one_line

ROOT = PACKAGE.resolve().parents[1]
# Where one works in the project's folder, names of its files are relative; a workflow elsewhere finds them here.
HERE = "" if Path.cwd() == ROOT else f"{ROOT}/"
BASE = f"{HERE}config/paper.yaml"
DESIGN_CHOICES = f"{HERE}config/design_choices.yaml"
REFERENCE = f"{HERE}data/reference"
# The study whose page is the main one of the project.
MAIN_STUDY = "paper"
# Steps that write no result of a study, or one with a time in it.
_WITHOUT_RESULTS = ("repeat", "run_info", "update_reference")


class StudyPlan:
    """What the rules ask of any study; each kind is a class, made of settings in layers."""

    # The files of ``workflow/rules`` that make its results, in the order in which they are included.
    rules: ClassVar[Sequence[str]]
    estimate: Estimate
    page: str  # the main one
    given: list[str]  # the files that steps read and no step makes
    kept_results: list[str]  # what the repository keeps as reference results
    # What sums up, each with data and with searches that it stands for; and with all that is made of it. A job with all
    # runs as its inputs costs Snakemake a time that grows with the square of their number.
    sources: list[tuple[str, list[str]]]
    from_summaries: list[str]

    def __init__(self, study: Any, left_out: dict[str, str], finished_only: Any = False) -> None:
        self.study, name = study, study.study
        self.settings: dict[str, Any] = study.model_dump(mode="json")
        # Methods that cannot be used here, each with the reason; whether only complete conditions are planned.
        self.left_out, self.finished_only = left_out, finished_only
        # Where these folders are, with a slash at the end: the prefix of a workflow that uses this one as a module.
        self.folder = ""
        self.data, self.reports, self.logs = f"data/{name}", f"reports/{name}", f"logs/{name}"
        self.run_info, self.manifest = f"{self.reports}/run_info.md", f"{self.reports}/manifest.csv"
        self.record, self.kept = f"{self.data}/made_with.json", f"{REFERENCE}/{name}"
        # The file next to Snakemake's own memory of the results: see narxbench.pipeline.manifest.
        self.memory = f".snakemake/narxbench/{name}"
        # What each step that makes results is made of, as the rules have asked for it: its code, and all packages.
        self._code_digests: dict[str, str] = {}
        self._versions: dict[str, str] = {}

    def results(self) -> list[str]:
        """Return every file that depends on code, settings and versions alone, hence has the same bytes everywhere."""
        return [*dict.fromkeys(chain.from_iterable(files for _, files in self.sources)), *self.from_summaries]

    def lost(self) -> list[str]:
        """Return the sources that are missing next to what stands for them, so that nothing else asks for them."""
        stood_for = chain.from_iterable(files for summary, files in self.sources if os.path.exists(self.at(summary)))
        return [path for path in dict.fromkeys(stood_for) if not os.path.exists(self.at(path))]

    def kept_files(self) -> dict[str, str]:
        """Return the reference results that the repository keeps of this study, each with what it is a copy of."""
        # Without the folders of tables and figures, but with that of the interpretations, which their document names.
        own = f"{self.reports}/interpretations/"
        made = [*self.kept_results, self.manifest]
        return {f"{self.kept}/{'interpretations/' * path.startswith(own)}{Path(path).name}": path for path in made}

    def at(self, path: str) -> str:
        """Return where a file of the study lies, or one that steps read and no step makes."""
        return path if path in self.given else f"{self.folder}{path}"

    @property
    def reference(self) -> str:
        """The manifest that results are compared with: that of the repository, or else that of the finished study."""
        kept = f"{self.kept}/manifest.csv"
        return kept if os.path.exists(kept) else self.at(self.manifest)

    def to_verify(self) -> list[str]:
        """Return what is made before it is compared: all that the repository has reference results of, else nothing."""
        with ended_in_one_line():
            check_settings(self.reference, self.made_with)
        return [] if self.reference == self.at(self.manifest) else [*self.lost(), *self.from_summaries]

    @cached_property
    def made_with(self) -> dict[str, str]:
        """Settings as text, digests of code and files, and versions, when all rules have asked for theirs."""
        parts = {
            SETTINGS: dict(flattened(self.settings)),
            "code/": dict(sorted(self._code_digests.items())),  # Snakemake sees another order as a change
            VERSIONS: dict(sorted(self._versions.items())),
            "files/": digests(filter(os.path.isfile, self.given)),
        }
        return {kind + name: value for kind, values in parts.items() for name, value in values.items()}

    def code(self, script: str, name: str | None = None, criterion: str | None = None) -> str:
        """Return a digest of all code that a script depends on, with the versions.

        The code of the algorithm ``name`` counts, and of all criteria that of one, if the script is run for one.
        """
        algorithm_files = [] if name is None else algorithm(name).files
        files = with_criteria(criterion, SCRIPTS / f"{script}.py", *algorithm_files)
        found, versions = digest_of(*files), versions_of(*files)
        if script not in _WITHOUT_RESULTS:
            run_for = ", ".join(filter(None, (name, criterion)))
            self._code_digests[f"{script} ({run_for})" if run_for else script] = found
            self._versions |= versions
        return f"{found} with {', '.join(map(' '.join, versions.items()))}"


def digests(paths: Iterable[str]) -> dict[str, str]:
    """Return the digests of files, by which a step sees another one of an older date."""
    return {path: sha256(read_bytes(path)) for path in paths}

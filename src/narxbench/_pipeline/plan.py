"""A study as files and jobs: the inputs, outputs and parameters of the rules, whatever the kind of the study."""

import os
from collections.abc import Iterable, Sequence
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import Any, ClassVar

from narxbench._algorithms.registry import algorithm
from narxbench._io.files import read_bytes, sha256
from narxbench._io.resources import Estimate
from narxbench._io.settings import flattened
from narxbench._pipeline.code import PACKAGE, digest_of, versions_of, with_criteria
from narxbench._pipeline.manifest import SETTINGS, VERSIONS, check_settings
from narxbench._pipeline.steps import SCRIPTS, ended_in_one_line

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
    """The answers to the rules' questions on a study; each kind of study is a class, made of settings in layers."""

    # The files of ``workflow/rules`` that make its results, in the order in which they are included.
    rules: ClassVar[Sequence[str]]
    estimate: Estimate
    page: str  # the main one
    input_files: list[str]  # those that steps read and no step makes
    kept_results: list[str]  # those that the repository keeps as reference results
    # Each summary with data sets or runs that it stands for: a job with all runs as its inputs costs Snakemake a time
    # that grows with the square of their number.
    sources: list[tuple[str, list[str]]]
    from_summaries: list[str]  # the summaries, and everything that is made of them

    def __init__(self, study: Any, left_out: dict[str, str], finished_only: bool = False) -> None:
        self.study, name = study, study.study
        self.settings: dict[str, Any] = study.model_dump(mode="json")
        self.left_out = left_out  # methods that cannot be used here, each with the reason
        self.finished_only = finished_only  # whether only complete conditions are planned
        # The place of these folders, with a slash at the end: the prefix of a workflow that uses this one as a module.
        self.folder = ""
        self.data, self.reports, self.logs = f"data/{name}", f"reports/{name}", f"logs/{name}"
        self.run_info, self.manifest = f"{self.reports}/run_info.md", f"{self.reports}/manifest.csv"
        self.record, self.kept = f"{self.data}/made_with.json", f"{REFERENCE}/{name}"
        # The file next to Snakemake's own memory of the results: see narxbench._pipeline.manifest.
        self.memory = f".snakemake/narxbench/{name}"
        # The code of each step that makes results, as the rules have asked for it, and the versions of all packages.
        self._code_digests: dict[str, str] = {}
        self._versions: dict[str, str] = {}

    def results(self) -> list[str]:
        """Return every file that depends only on code, settings and versions, and so has the same bytes everywhere."""
        sources = chain.from_iterable(files for _, files in self.sources)
        return [*dict.fromkeys(sources), *self.from_summaries]

    def lost(self) -> list[str]:
        """Return the sources that are missing although their summary exists, so that nothing else asks for them."""
        sources: dict[str, None] = {}
        for summary, files in self.sources:
            if os.path.exists(self.at(summary)):
                sources.update(dict.fromkeys(files))
        return [path for path in sources if not os.path.exists(self.at(path))]

    def kept_files(self) -> dict[str, str]:
        """Return the reference results that the repository keeps of this study, each with the result that it copies."""
        copies = {}
        for path in (*self.kept_results, self.manifest):
            # Without the folders of tables and figures, but with that of the interpretations: their document names it.
            is_on_interpretations = path.startswith(f"{self.reports}/interpretations/")
            folder = f"{self.kept}/interpretations" if is_on_interpretations else self.kept
            copies[f"{folder}/{Path(path).name}"] = path
        return copies

    def at(self, path: str) -> str:
        """Return where a file of the study lies, or an input file."""
        return path if path in self.input_files else f"{self.folder}{path}"

    @property
    def reference(self) -> str:
        """The manifest that results are compared with: that of the repository, otherwise that of the finished study."""
        kept = f"{self.kept}/manifest.csv"
        return kept if os.path.exists(kept) else self.at(self.manifest)

    def to_verify(self) -> list[str]:
        """Return the files that are made before the comparison: all if the repository has reference results of them."""
        with ended_in_one_line():
            check_settings(self.reference, self.made_with)
        if self.reference == self.at(self.manifest):
            return []
        return [*self.lost(), *self.from_summaries]

    @cached_property
    def made_with(self) -> dict[str, str]:
        """Settings as text, digests of code and files, and versions, when all rules have asked for theirs."""
        parts = {
            SETTINGS: dict(flattened(self.settings)),
            "code/": dict(sorted(self._code_digests.items())),  # Snakemake sees another order as a change
            VERSIONS: dict(sorted(self._versions.items())),
            "files/": digests(filter(os.path.isfile, self.input_files)),
        }
        made_with = {}
        for prefix, values in parts.items():
            for name, value in values.items():
                made_with[prefix + name] = value
        return made_with

    def code(self, script: str, name: str | None = None, criterion: str | None = None) -> str:
        """Return a digest of all code that a script depends on, with the versions.

        The code of the algorithm ``name`` counts, and that of all criteria, or of one if the script is run for one.
        """
        algorithm_files = [] if name is None else algorithm(name).files
        files = with_criteria(criterion, SCRIPTS / f"{script}.py", *algorithm_files)
        run_for = ", ".join(filter(None, (name, criterion)))
        step = f"{script} ({run_for})" if run_for else script
        digest, versions = digest_of(*files), versions_of(*files)
        if script not in _WITHOUT_RESULTS:
            self._code_digests[step] = digest
            self._versions |= versions
        return f"{digest} with {', '.join(map(' '.join, versions.items()))}"


def files_in(folder: str, names: Iterable[object], suffix: str) -> list[str]:
    """Return the files of some names and of one suffix in a folder."""
    return [f"{folder}/{name}.{suffix}" for name in names]


def digests(paths: Iterable[str]) -> dict[str, str]:
    """Return the digests of files: by them a step sees that a file is another one, even of an older date."""
    return {path: sha256(read_bytes(path)) for path in paths}

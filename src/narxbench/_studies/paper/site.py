"""The pages of a run: their material, and how they link to one another."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pandas as pd

from narxbench._model.system import System
from narxbench._report.templating import rendered
from narxbench._studies.paper.claims import Claim
from narxbench._studies.paper.kept import KeptResults
from narxbench._studies.paper.printed import ValueTable
from narxbench._studies.paper.published import Published
from narxbench._studies.paper.status import RunStatus
from narxbench._study.design_choices import DesignChoices
from narxbench._study.frames import Frames
from narxbench._study.run_record import RunRecord

TEMPLATES = Path(__file__).parent / "templates"

MAIN = "report"
# The pages of a run, in the order of the navigation.
PAGES = {
    MAIN: "Report",
    "as_printed": "As printed",
    "interpretations": "Interpretations",
    "method": "Method and provenance",
}


@dataclass(frozen=True)
class Site:
    """The places of a study's pages: ``pages`` has their names, each with its file."""

    study: str
    above: bool = False  # whether the main page is next to the study's folder, as that of the default study does
    pages: Mapping[str, str] = field(default_factory=lambda: {name: f"{name}.html" for name in PAGES})
    repository: str = ""  # the address of the project's repository, where one is known

    def folder(self, current: str) -> str:
        """Return where the study's files are from a page: "" or a folder that ends with a slash."""
        return f"{self.study}/" if self.above and current == MAIN else ""

    def links(self, current: str) -> dict[str, str]:
        """Return where all pages are from one of them, by name."""
        up = "../" if self.above and current != MAIN else ""
        return {name: f"{up if name == MAIN else self.folder(current)}{file}" for name, file in self.pages.items()}

    def page(self, name: str, values: Mapping[str, Any]) -> str:
        """Return a page from the template of its name, which extends ``base.html.j2``, and the template's values."""
        base_values = {
            "current": name,
            "titles": PAGES,
            "links": self.links(name),
            "folder": self.folder(name),
            "study": self.study,
            "repository": self.repository,
        }
        return rendered(f"{name}.html.j2", {**base_values, **values}, TEMPLATES)


@dataclass(frozen=True)
class Material:
    """The material of a run's pages.

    ``frames`` has those of the analysis in the order of the settings, ``failures`` the failed runs by condition,
    ``values`` the tables of values by name, ``figures`` SVG by name, and ``texts`` the documents ``method`` and
    ``checks`` as Markdown and ``citation`` as BibTeX. ``kept`` are results of another study, which are in boxes.
    """

    site: Site
    settings: Mapping[str, Any]
    record: RunRecord
    status: RunStatus
    frames: Frames
    summaries: Sequence[Mapping[str, Any]]
    failures: pd.DataFrame
    systems: Sequence[System]
    values: Mapping[str, ValueTable]
    figures: Mapping[str, str]
    claims: Sequence[Claim]
    texts: Mapping[str, str]
    choices: DesignChoices
    published: Published
    kept: KeptResults

    def command(self, target: str = "") -> str:
        """Return the command that makes a file of this run, or all of it, with the settings of the run."""
        parts = ["snakemake --cores 2", self.record.settings, f"-- {target}" if target else ""]
        return " ".join(filter(None, parts))

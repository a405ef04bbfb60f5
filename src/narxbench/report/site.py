"""The pages of a study: what they are made of, and how they link to one another."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from narxbench.analysis.claims import Claim
from narxbench.experiment.interpretations import DesignChoices
from narxbench.model.system import System
from narxbench.report.tables import Frames
from narxbench.report.templating import rendered

MAIN = "report"
# The pages of a study with tables and figures, in the order of the navigation.
PAGES = {
    MAIN: "Report",
    "interpretations": "Interpretations",
    "statistics": "Statistics",
    "method": "Method",
    "provenance": "Provenance",
}


@dataclass(frozen=True)
class Site:
    """Where the pages of a study are.

    Parameters
    ----------
    study
        The name of the study.
    above
        Whether the main page stands next to the study's folder and not in it, as that of the default study does.
    pages
        The names of the pages, each with its file.
    repository
        The address of the project's repository, or "" where none is known.
    """

    study: str
    above: bool = False
    pages: Mapping[str, str] = field(default_factory=lambda: {name: f"{name}.html" for name in PAGES})
    repository: str = ""

    def folder(self, current: str) -> str:
        """Return where the study's files are from a page: "" or a folder that ends with a slash."""
        return f"{self.study}/" if self.above and current == MAIN else ""

    def links(self, current: str) -> dict[str, str]:
        """Return where all pages are from one of them, by name."""
        up = "../" if self.above and current != MAIN else ""
        return {name: f"{up if name == MAIN else self.folder(current)}{file}" for name, file in self.pages.items()}

    def page(self, name: str, values: Mapping[str, Any]) -> str:
        """Return a page from the template of its name, which extends ``base.html.j2``, and the template's values."""
        of_base = {"current": name, "titles": PAGES, "links": self.links(name), "folder": self.folder(name)}
        of_base |= {"study": self.study, "repository": self.repository}
        return rendered(f"{name}.html.j2", {**of_base, **values})


@dataclass(frozen=True)
class Material:
    """What the pages of a study are made of.

    Parameters
    ----------
    site
        Where the pages are.
    settings
        The settings of the study as plain data.
    frames
        All frames of the analysis in the order of the settings, and those of the study of interpretations
        (``nearness``, ``claim_overview``, ``role_verdicts``, ``found``, ``effects_overview``).
    summaries
        The summaries of the conditions, for final models, versions and data.
    systems
        The systems of the study.
    figures
        The figures of the study as SVG, by name; those on interpretations as ``interpretations/NAME.svg``.
    claims
        What the claims say; their verdicts are in the frames.
    texts
        ``errata``, ``method``, ``answer`` (which method to use) and ``document`` (on the interpretations) as Markdown,
        ``citation`` as BibTeX.
    choices
        The design choices and the named interpretations.
    """

    site: Site
    settings: Mapping[str, Any]
    frames: Frames
    summaries: Sequence[Mapping[str, Any]]
    systems: Sequence[System]
    figures: Mapping[str, str]
    claims: Sequence[Claim]
    texts: Mapping[str, str]
    choices: DesignChoices

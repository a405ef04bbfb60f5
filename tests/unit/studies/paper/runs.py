"""Made-up runs of the paper's study: from summaries to frames, tables, figures and pages, by the steps of the rules."""

import json
from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

from tests.lookups import values_of
from tests.unit.studies.paper.summaries import CRITERIA, REFERENCE, ROOT, SYSTEMS
from tests.unit.studies.steps import step, texts_by_name

from narxbench._studies.paper.kept_files import kept_paths
from narxbench._study.design_choices import interpretation_settings, load_design_choices

METHODS = {"upso2d": CRITERIA, "ga": CRITERIA[:1]}
FRAMES = ("conditions", "metrics", "selection", "convergence", "agreement_values", "agreement", "claims")
PUBLISHED = {"published": REFERENCE / "published_tables.csv", "system_terms": REFERENCE / "system_terms.csv"}
TABLES = [*map("table_{}".format, range(1, 8)), "claims"]
FURTHER_PAGES = ("as_printed", "interpretations", "method")
SHOWN = {
    **PUBLISHED,
    "choices": ROOT / "config/design_choices.yaml",
    "claim_texts": REFERENCE / "claims.yaml",
    "checks": ROOT / "docs/the_paper.md",
    "method": ROOT / "docs/method.md",
    "citation": REFERENCE / "citation.bib",
    "about": ROOT / "CITATION.cff",
}
RECORD: dict[str, Any] = {
    "command": "snakemake --cores 3 --config seeds=40",
    "settings": "--config seeds=40",
    "date": "2026-05-17T08:09:10Z",
    "commit": "0123456789abcdef0123456789abcdef01234567",
    "changed_files": 0,
    "machine": "a machine of 4 cores",
    "wall_seconds": 321.0,
    "steps": {"search": 222.0},
}


def make_settings(
    systems: Sequence[str] = SYSTEMS, seeds: int = 40, methods: Mapping[str, Sequence[str]] = METHODS, **chosen: str
) -> dict[str, Any]:
    """Return the settings of a study as plain data; ``chosen`` options are not the baseline's."""
    options = {name.replace("_", "-"): option for name, option in chosen.items()}
    open_settings = interpretation_settings(load_design_choices(), options)
    settings_of_methods = {}
    for name, criteria in methods.items():
        algorithm = name.partition("-")[0]
        settings = {"swarm_size": 30, **open_settings.get(algorithm, {})}
        settings_of_methods[name] = {"algorithm": algorithm, "criteria": list(criteria), "settings": settings}
    return {
        **{"study": "paper", "kind": "paper", "interpretation": "as-described", "systems": list(systems)},
        **{"snr_db": [50.0, 40.0, 30.0], "seeds": list(range(1, seeds + 1)), **open_settings["search"]},
        "data": {**open_settings["data"], "seeds": [1]},
        "fitness": open_settings["fitness"],
        "methods": settings_of_methods,
        "statistics": {"threshold": 0.9, "confidence": 0.95},
    }


class Run:
    """A run in a folder: its frames are made at once, and its tables, figures and pages when they are asked for."""

    def __init__(
        self, folder: Path, summaries: Sequence[dict[str, Any]], settings: dict[str, Any] | None = None
    ) -> None:
        self.folder, self.settings = folder, settings or make_settings(dict.fromkeys(values_of(summaries, "system")))
        summary_files = []
        for number, summary in enumerate(summaries):
            summary_files.append(self.write(f"conditions/{number}.json", json.dumps(summary)))
        self.frames = {name: str(folder / f"{name}.csv") for name in FRAMES}
        claims = REFERENCE / "claims.yaml"
        step(
            "analyse",
            {"confidence": 0.95},
            input={**PUBLISHED, "claims": claims, "summaries": summary_files},
            output=self.frames,
        )
        self.kept: dict[str, Any] = kept_paths(str(REFERENCE)) | {"kept_conditions": self.frames["conditions"]}
        if self.settings["systems"] != [*SYSTEMS]:
            # It is long.
            del self.kept["kept_document"]
        self.systems = list(map("{}.yaml".format, self.settings["systems"]))
        self.input = {**self.frames, **SHOWN, "summaries": summary_files}

    def write(self, path: str, text: str) -> str:
        """Write a file of the run and return its path."""
        (self.folder / path).parent.mkdir(parents=True, exist_ok=True)
        (self.folder / path).write_text(text, encoding="utf-8")
        return str(self.folder / path)

    @cached_property
    def tables(self) -> dict[str, str]:
        """The files of all tables by name."""
        names = list(TABLES)
        for system in self.settings["systems"]:
            names += [f"selection_{system}", f"final_structures_{system}"]
        files = [str(self.folder / f"tables/{name}.{form}") for name in names for form in ("csv", "md", "tex")]
        inputs = {**self.input, **self.kept, "systems": self.systems}
        step("tables", {"study": self.settings}, input=inputs, output={"": files})
        return texts_by_name(files)

    @cached_property
    def figures(self) -> dict[str, Path]:
        """The files of the figures by name."""
        names = [f"figure_{number}.{form}" for number in (1, 2) for form in ("svg", "pdf")]
        files = [str(self.folder / f"figures/{name}") for name in names]
        frames = {name: self.frames[name] for name in ("convergence", "selection")}
        step("figures", {"study": self.settings}, input=frames, output={"": files})
        return {Path(path).name: Path(path) for path in files}

    @cached_property
    def usual_pages(self) -> dict[str, str]:
        """The pages by name with the usual record and inputs."""
        return self.pages()

    def pages(self, record: Mapping[str, Any] | None = None, *, drawn: bool = False, **changed: Any) -> dict[str, str]:
        """Return the pages by name, with those of the manifest under ``fixed/``; ``changed`` are other inputs."""
        figures = [str(path) for name, path in self.figures.items() if name.endswith("svg")] if drawn else []
        inputs = {**self.input, **self.kept, "linked": [], "svg": figures, "system_files": self.systems, **changed}
        inputs["record"] = self.write("run.json", json.dumps(record or RECORD))
        reports = self.folder / "reports"
        study = self.settings["study"]
        files = [str(reports / "report.html"), *(str(reports / f"{study}/{name}.html") for name in FURTHER_PAGES)]
        fixed = [str(self.folder / f"pages/{name}.html") for name in ("report", *FURTHER_PAGES)]
        fixed.append(str(self.folder / "pages/answer.txt"))
        step("page", {"study": self.settings}, input=inputs, output={"": files, "reproducible": fixed})
        return texts_by_name(files) | texts_by_name(fixed, "fixed/")

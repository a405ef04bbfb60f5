"""Write the report."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from scripts.step import step

from narxbench import report, tables
from narxbench.io.files import write_atomically
from narxbench.analysis.published import load_published
from narxbench.model.system import load_system
from narxbench.io.yaml import read_mapping


def write_report(
    cells: Sequence[str],
    systems: Sequence[str],
    figures: Sequence[str],
    published: str,
    system_terms: str,
    errata: str,
    method: str,
    fidelity: str,
    fidelity_figures: Sequence[str],
    citation: str,
    claims: str,
    statistics: str,
    config: Mapping[str, Any],
    html: str,
) -> None:
    """Write the page.

    It is made from files of cells, systems (YAML), figures (SVG), published values, errata, method and what is known of
    readings with its figures (Markdown, SVG), the citation file, and the checked claims and statistics (JSON).
    """
    loaded = tables.load_cells(cells)
    page = report.render_report(
        config=config,
        cells=loaded,
        systems=[load_system(Path(path).stem, Path(path).parent) for path in systems],
        published=load_published(published, system_terms),
        figures={Path(path).stem: Path(path).read_text(encoding="utf-8") for path in figures},
        errata=Path(errata).read_text(encoding="utf-8"),
        method=Path(method).read_text(encoding="utf-8"),
        fidelity=Path(fidelity).read_text(encoding="utf-8"),
        fidelity_figures={
            f"{Path(path).parent.name}/{Path(path).name}": Path(path).read_text(encoding="utf-8")
            for path in fidelity_figures
        },
        citation=read_mapping(citation),
        claims=tables.read_analysis(claims, cells),
        statistics=tables.read_analysis(statistics, cells),
        versions=report.versions_of(loaded),
    )
    write_atomically(html, page)


if __name__ == "__main__":
    # Snakemake defines this name before it runs the script.
    job = globals()["snakemake"]
    with step(job.log[0], job.input.cells, job.params.definitions):
        given = {name: value for name, value in job.input.items() if name != "templates"}
        write_report(**given, config=job.params.config, html=job.output.html)

"""Build the replication report as PDF."""

from pathlib import Path
from typing import Any

from narxbench._io.files import read_bytes, read_text, write_atomically
from narxbench._io.version import __version__
from narxbench._pipeline.steps import settings_of
from narxbench._studies.paper.article import FIGURES, article, references
from narxbench._studies.paper.frames import read_frame
from narxbench._studies.paper.page import read_material
from narxbench._studies.paper.site import Site
from narxbench._study.latex import check_latex, compiled


def main(job: Any) -> None:
    """Write the text, its references, and the PDF that LaTeX makes of them."""
    check_latex()
    settings = settings_of(job)["study"]
    material = read_material(job.input, settings, Site(settings["study"]), {})
    kept = read_frame("conditions", job.input.interpretations)
    source = article(material, kept, __version__)
    bibliography = references(material, read_text(job.input.literature))
    figures = {}
    for path in map(Path, job.input.pdf):
        if path.name in FIGURES:
            figures[path.name] = read_bytes(path)
    pdf = compiled(source, bibliography, figures)
    contents: dict[str, str | bytes] = {".tex": source, ".bib": bibliography, ".pdf": pdf}
    for path in map(Path, job.output):
        write_atomically(path, contents[path.suffix])

"""Write the pages of a study."""

from pathlib import Path
from typing import Any

from narxbench._io.files import write_atomically
from narxbench._studies.paper.page import interpretations_only, pages, read_material, reproducible_pages


def main(job: Any) -> None:
    """Write the pages, each under its name; a study of interpretations has one."""
    settings = job.params.study
    if settings["kind"] == "interpretations":
        write_atomically(job.output[0], interpretations_only(job.input, settings))
        return
    above = Path(job.output[0]).parent.name != settings["study"]
    material = read_material(job.input, settings, above=above)
    contents, reproducible = pages(material), reproducible_pages(material)
    for path in job.output:
        if path in job.output.reproducible:
            write_atomically(path, reproducible[Path(path).name])
        else:
            write_atomically(path, contents[Path(path).name])

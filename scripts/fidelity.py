"""Answer the questions of the sensitivity experiment: the document, its figures, tables and summary."""

from collections.abc import Mapping

from scripts.step import step

from narxbench import fidelity_document, fidelity_figures
from narxbench.analysis.claims import UPSO
from narxbench.io.errors import NarxbenchError, did_you_mean
from narxbench.analysis.multiverse_frame import make_study, read_cells
from narxbench.analysis.multiverse import answer
from narxbench.io.files import canonical_json, write_atomically
from narxbench.analysis.published import load_published
from narxbench.experiment.interpretations import load_readings


def write_fidelity(
    cells: str, readings: str, published: str, system_terms: str, default: str, outputs: Mapping[str, str]
) -> None:
    """Write the document, five figures (SVG), four tables (CSV) and the summary, each to its path in ``outputs``.

    ``default`` is a named reading.
    """
    known = load_readings(readings)
    if default not in known.named:
        hint = did_you_mean(default, known.named)
        raise NarxbenchError(f"{readings}, readings: found no {default!r}; allowed: {', '.join(known.named)}{hint}")
    study = make_study(read_cells(cells), known, load_published(published, system_terms), known.named[default])
    answers = answer(study)
    contents: dict[str, str | bytes] = {
        "document": fidelity_document.document(answers),
        "effects": fidelity_figures.effects_figure(answers.effects),
        "ranking": fidelity_figures.ranking_figure(answers.ranked[UPSO]),
        "beside": fidelity_figures.beside_figure(answers.beside),
        "claims": fidelity_figures.claims_figure(answers.claims, known.open_points),
        "gaps": fidelity_figures.gaps_figure(answers.gaps),
        **{f"{name}_csv": text for name, text in fidelity_document.csv_files(answers).items()},
        "summary": canonical_json(fidelity_document.summary(answers)),
    }
    for name, path in outputs.items():
        write_atomically(path, contents[name])


if __name__ == "__main__":
    # Snakemake defines this name before it runs the script.
    job = globals()["snakemake"]
    with step(job.log[0]):
        given = {name: path for name, path in job.input.items() if name != "template"}
        write_fidelity(**given, default=job.params.default, outputs=dict(job.output.items()))

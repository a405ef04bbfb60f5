"""Answer the questions of the sensitivity experiment: the document, its figures, tables and summary."""

import logging

from narxbench import fidelity_document, fidelity_figures
from narxbench.claims import UPSO
from narxbench.errors import NarxbenchError, did_you_mean
from narxbench.fidelity import make_study, read_cells
from narxbench.files import canonical_json, write_atomically
from narxbench.published import load_published
from narxbench.readings import load_readings


def write_fidelity(
    cells: str,
    readings: str,
    published: str,
    system_terms: str,
    default: str,
    *,
    document: str,
    effects: str,
    ranking: str,
    beside: str,
    claims: str,
    gaps: str,
    distances_csv: str,
    effects_csv: str,
    claims_csv: str,
    gaps_csv: str,
    summary: str,
) -> None:
    """Write the document, five figures (SVG), four tables (CSV) and the summary; ``default`` is a named reading."""
    known = load_readings(readings)
    if default not in known.named:
        hint = did_you_mean(default, known.named)
        raise NarxbenchError(f"{readings}, readings: found no {default!r}; allowed: {', '.join(known.named)}{hint}")
    study = make_study(read_cells(cells), known, load_published(published, system_terms), known.named[default])
    answers = fidelity_document.answer(study)
    write_atomically(document, fidelity_document.document(answers))
    write_atomically(effects, fidelity_figures.effects_figure(answers.effects))
    write_atomically(ranking, fidelity_figures.ranking_figure(answers.ranked[UPSO]))
    write_atomically(beside, fidelity_figures.beside_figure(answers.beside))
    write_atomically(claims, fidelity_figures.claims_figure(answers.claims, known.open_points))
    write_atomically(gaps, fidelity_figures.gaps_figure(answers.gaps))
    files = fidelity_document.csv_files(answers)
    outputs = {"distances": distances_csv, "effects": effects_csv, "claims": claims_csv, "gaps": gaps_csv}
    for name, path in outputs.items():
        write_atomically(path, files[name])
    write_atomically(summary, canonical_json(fidelity_document.summary(answers)))


if __name__ == "__main__":
    # Snakemake defines this name before it runs the script.
    job = globals()["snakemake"]
    logging.basicConfig(filename=job.log[0])
    logging.captureWarnings(True)
    given = {name: path for name, path in job.input.items() if name != "template"}
    write_fidelity(**given, default=job.params.default, **dict(job.output.items()))

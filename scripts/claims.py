"""Test the paper's claims on the published values and on the cells."""

from collections.abc import Sequence

from scripts.step import step

from narxbench import claims, tables
from narxbench.io.files import sealed_json, write_atomically
from narxbench.analysis.published import load_published


def write_claims(
    cells: Sequence[str], published: str, system_terms: str, snr_db: float, verdicts: str, md: str
) -> None:
    """Write every claim with its verdicts, and a table of them; ``snr_db`` is the SNR of the figures."""
    known = load_published(published, system_terms)
    here = claims.cells_view(tables.load_cells(cells), known, snr_db)
    judged = claims.judge(claims.published_view(known), here)
    write_atomically(verdicts, sealed_json({"claims": judged, "cells_sha256": tables.cells_digest(cells)}))
    write_atomically(md, tables.to_markdown(claims.claims_table(judged)))


if __name__ == "__main__":
    # Snakemake defines this name before it runs the script.
    job = globals()["snakemake"]
    with step(job.log[0], job.input.cells, job.params.definitions):
        write_claims(**dict(job.input.items()), snr_db=job.params.snr_db, **dict(job.output.items()))

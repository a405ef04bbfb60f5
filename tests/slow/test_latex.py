"""The LaTeX tables in a document of the paper's class: they compile, and fit their columns."""

import re
import shutil
import subprocess
from itertools import product

import pytest
from tests.unit.studies.paper.factory import (
    make_frames,
    make_settings,
    paper_summaries,
    summary,
    system,
    value_rows,
)
from tests.unit.studies.paper.summaries import REFERENCE, UNKNOWN, published

from narxbench._report.table import Table
from narxbench._studies.paper.claims import load_claims
from narxbench._studies.paper.frames import framed
from narxbench._studies.paper.printed import as_table, value_tables
from narxbench._studies.paper.tables import paper_tables
from narxbench._study.table_files import to_latex

pytestmark = [pytest.mark.ci, pytest.mark.slow]
PROGRAMS = ("pdflatex", "kpsewhich", "pdftotext")
# The paper's class, its font, and the packages that tables need.
FILES = ("IEEEtran.cls", "ptmr7t.tfm", "booktabs.sty", "multirow.sty", "adjustbox.sty")


def missing_parts() -> list[str]:
    """Return the programs and files that are not installed."""
    missing = [program for program in PROGRAMS if not shutil.which(program)]
    if missing:
        return missing
    return [name for name in FILES if subprocess.run(["kpsewhich", name], capture_output=True).returncode]


def all_tables() -> list[Table]:
    """Return every table of synthetic conditions; names in the last one are commands and signs of LaTeX."""
    # The first condition has a frequency that no other condition of 40 runs can have.
    summaries = [summary(runs=100, counts={"y(k-1)": 7}), *paper_summaries()[1:]]
    frames, settings = make_frames(summaries), make_settings()
    settings["methods"]["upso2d"]["settings"] = {"inertia": 0.729, "swarm_size": 30, "unification_end": 0.7}
    claims = load_claims(REFERENCE / "claims.yaml")
    verdict = ("undecided", "needs every place", 10, 0, 12, "Holds at 12 of 12. " * 20)
    rows = [(claim.id, side, *verdict) for claim, side in product(claims, ("published", "here"))]
    frames["claims"] = framed("claims", rows)
    systems = list(map(system, settings["systems"]))
    kept = framed("values", value_rows())
    values = value_tables(frames, published(), settings["systems"], is_compared=True, kept=kept)
    tables = paper_tables(values, frames, summaries, settings, systems, claims, published(), is_trial=False)
    odd = make_frames([summary(UNKNOWN, snr, r"_~^a&c%$#{}\|[1]--*" + UNKNOWN) for snr in (50, 30)])
    further = value_tables(odd, published(), [UNKNOWN], is_compared=False)
    return [*tables.values(), as_table(further[f"selection_{UNKNOWN}"])]


def document_of(tables: list[Table]) -> str:
    """Return a document with the packages that the tables need and a page or more for each table."""
    texts = [to_latex(table) for table in tables]
    (packages,) = {re.match("% needs (.*)", text)[1].replace(" and ", ", ") for text in texts}
    head = [r"\documentclass[conference,a4paper]{IEEEtran}", rf"\usepackage{{{packages}}}", r"\begin{document}"]
    return "\n".join([*head, *(text + r"\clearpage" for text in texts), r"\end{document}"])


def test_every_table_compiles_without_a_complaint(tmp_path):
    missing = missing_parts()
    if missing:
        pytest.skip(f"LaTeX tables: found no {', '.join(missing)}")
    (tmp_path / "tables.tex").write_text(document_of(all_tables()), encoding="utf-8")
    command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "tables.tex"]
    done = subprocess.run(command, cwd=tmp_path, stdin=subprocess.DEVNULL, capture_output=True)
    # TeX may break a line of its log between the bytes of one letter.
    log = (tmp_path / "tables.log").read_text(encoding="utf-8", errors="replace")
    assert done.returncode == 0, log[-3000:]
    complaints = r"^!.*|Undefined control sequence.*|Missing character.*|Overfull \\hbox.*|.*Float too large.*"
    assert re.findall(complaints, log, re.MULTILINE) == []
    subprocess.run(["pdftotext", "tables.pdf", "tables.txt"], cwd=tmp_path, check=True)
    shown = " ".join((tmp_path / "tables.txt").read_text(encoding="utf-8").split())
    for text in ("0.7582", "0.729", "↓", "kept, closest", "undecided"):
        assert text in shown, shown[-3000:]
    assert r"a&c%$#{}\|[1]--*<script>X" in shown.replace(" ", "")

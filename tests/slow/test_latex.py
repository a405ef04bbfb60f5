"""The LaTeX tables in a document of the paper's class: they compile, and fit their columns."""

import re
import shutil
import subprocess

import pytest
from tests.unit.studies.paper.factory import make_frames, make_settings, paper_summaries, summary, system
from tests.unit.studies.paper.summaries import REFERENCE, UNKNOWN

from narxbench.report.table import Table
from narxbench.studies.paper import tables
from narxbench.studies.paper.claims import load_claims
from narxbench.studies.paper.frames import framed
from narxbench.study.table_files import to_latex

pytestmark = [pytest.mark.ci, pytest.mark.slow]
PROGRAMS = ("pdflatex", "kpsewhich", "pdftotext")
# The class and its font, and what the tables need.
FILES = ("IEEEtran.cls", "ptmr7t.tfm", "booktabs.sty", "multirow.sty", "adjustbox.sty")


def all_tables() -> list[Table]:
    """Every table of synthetic conditions; the last one with names that LaTeX must not read."""
    # The first condition has a frequency that no other condition of 40 runs can have.
    summaries = [summary(runs=100, counts={"y(k-1)": 7}), *paper_summaries()[1:]]
    frames, settings = make_frames(summaries), make_settings()
    settings["methods"]["upso2d"]["settings"] = {"inertia": 0.729, "swarm_size": 30, "unification_end": 0.7}
    claims = load_claims(REFERENCE / "claims.yaml")
    word, long = "no clear difference", "Holds at 12 of 12. " * 20
    reported = [(claim.id, side, word, 10, 12, long) for claim in claims for side in ("published", "here")]
    frames["claims"] = framed("claims", reported)
    made = tables.paper_tables(frames, settings, map(system, settings["systems"]), claims)
    odd = make_frames([summary(UNKNOWN, snr, r"_~^a&c%$#{}\|[1]--*" + UNKNOWN) for snr in (50, 30)])
    return [*made.values(), tables.comparison_table(UNKNOWN, odd, "bic")]


def test_every_table_compiles_without_a_complaint(tmp_path):
    missing = [name for name in PROGRAMS if not shutil.which(name)]
    missing = missing or [name for name in FILES if subprocess.run(["kpsewhich", name], capture_output=True).returncode]
    if missing:
        pytest.skip(f"LaTeX tables: found no {', '.join(missing)}")
    floats = [to_latex(table) for table in all_tables()]
    (needed,) = {re.match("% needs (.*)", text)[1].replace(" and ", ", ") for text in floats}
    head = [r"\documentclass[conference,a4paper]{IEEEtran}", rf"\usepackage{{{needed}}}", r"\begin{document}"]
    document = "\n".join([*head, *(text + r"\clearpage" for text in floats), r"\end{document}"])
    (tmp_path / "tables.tex").write_text(document, encoding="utf-8")
    command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "tables.tex"]
    done = subprocess.run(command, cwd=tmp_path, stdin=subprocess.DEVNULL, capture_output=True)
    # TeX may break a line of its log between the bytes of one letter.
    log = (tmp_path / "tables.log").read_text(encoding="utf-8", errors="replace")
    assert done.returncode == 0, log[-3000:]
    complaints = r"^!.*|Undefined control sequence.*|Missing character.*|Overfull \\hbox.*|.*Float too large.*"
    assert re.findall(complaints, log, re.MULTILINE) == []
    subprocess.run(["pdftotext", "tables.pdf", "tables.txt"], cwd=tmp_path, check=True)
    shown = " ".join((tmp_path / "tables.txt").read_text(encoding="utf-8").split())
    assert all(text in shown for text in ("0.7582", "0.729", "(0.98)", "†", "735")), shown[-3000:]
    assert r"a&c%$#{}\|[1]--*<script>X" in shown.replace(" ", "")

"""The LaTeX tables in a document of the paper's class: they compile, and fit their columns."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest
from tests.unit.studies.paper.runs import Run, make_settings
from tests.unit.studies.paper.summaries import UNKNOWN, make_summary, paper_summaries

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


def all_tables(folder: Path) -> list[str]:
    """Return every table of made-up conditions; the name of a method in the last one has signs of LaTeX."""
    # The first condition has a frequency that no other condition of 40 runs can have.
    summaries = [make_summary(runs=100, counts={"y(k-1)": 7}), *paper_summaries()[1:]]
    settings = make_settings()
    settings["methods"]["upso2d"]["settings"] |= {"inertia": 0.729, "swarm_size": 30, "unification_end": 0.7}
    tables = Run(folder / "paper", summaries, settings).tables
    name = r"_~^a&c%$#{}\|[1]--*<script>X"
    odd = [make_summary(UNKNOWN, snr, name) for snr in (50, 30)]
    further = Run(folder / "odd", odd, make_settings([UNKNOWN], methods={name: ["bic"]})).tables
    texts = [text for file, text in tables.items() if file.endswith(".tex")]
    return [*texts, further[f"selection_{UNKNOWN}.tex"]]


def document_of(texts: list[str]) -> str:
    """Return a document with the packages that the tables need and a page or more for each table."""
    (packages,) = {re.match("% needs (.*)", text)[1].replace(" and ", ", ") for text in texts}
    head = [r"\documentclass[conference,a4paper]{IEEEtran}", rf"\usepackage{{{packages}}}", r"\begin{document}"]
    return "\n".join([*head, *(text + r"\clearpage" for text in texts), r"\end{document}"])


def test_every_table_compiles_without_a_complaint(tmp_path):
    missing = missing_parts()
    if missing:
        pytest.skip(f"LaTeX tables: found no {', '.join(missing)}")
    (tmp_path / "tables.tex").write_text(document_of(all_tables(tmp_path)), encoding="utf-8")
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

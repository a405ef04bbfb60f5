"""The LaTeX tables in a document of the paper's class: they compile, fit their columns, and show what they hold."""

import re
import shutil
import subprocess
from html import unescape
from typing import NamedTuple

import pytest
from tests.unit.analysis.summaries import REFERENCE, UNKNOWN
from tests.unit.report.factory import make_frames, make_settings, paper_summaries, summary, system

from narxbench.analysis.claims import load_claims
from narxbench.analysis.frames import framed
from narxbench.report import tables
from narxbench.report.table import Table, to_latex

pytestmark = [pytest.mark.ci, pytest.mark.slow]
PROGRAMS = ("pdflatex", "kpsewhich", "pdftotext")
# The class and its font, and what the tables need.
FILES = ("IEEEtran.cls", "ptmr7t.tfm", "booktabs.sty", "multirow.sty", "adjustbox.sty")
SPANNING = {"test_systems", "fitness_S4", "comparison_S4", "agreement", "claims", "method_comparison", "gaps"}
ONE_COLUMN, BOTH_COLUMNS = 252, 516  # pt
# pt from ascender to descender, of a font of 6.5 pt, and of published values below the reproduced ones.
SMALLEST, SMALLEST_PUBLISHED = 5.8, 5.2


class Word(NamedTuple):
    """A word of a page, and its box in pt."""

    left: float
    top: float
    right: float
    bottom: float
    text: str


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


@pytest.fixture(scope="module")
def compiled(tmp_path_factory):
    """What pdflatex logs on a document with each table on a page of its own, and table and words of each page."""
    missing = [name for name in PROGRAMS if not shutil.which(name)]
    missing = missing or [name for name in FILES if subprocess.run(["kpsewhich", name], capture_output=True).returncode]
    if missing:
        pytest.skip(f"LaTeX tables: found no {', '.join(missing)}")
    folder, made = tmp_path_factory.mktemp("latex"), all_tables()
    floats = [to_latex(table) for table in made]
    (needed,) = {re.match("% needs (.*)", text)[1].replace(" and ", ", ") for text in floats}
    head = [r"\documentclass[conference,a4paper]{IEEEtran}", rf"\usepackage{{{needed}}}", r"\begin{document}"]
    document = "\n".join([*head, *(text + r"\clearpage" for text in floats), r"\end{document}"])
    (folder / "tables.tex").write_text(document, encoding="utf-8")
    command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "tables.tex"]
    done = subprocess.run(command, cwd=folder, stdin=subprocess.DEVNULL, capture_output=True)
    # TeX may break a line of its log between the bytes of one letter.
    log = (folder / "tables.log").read_text(encoding="utf-8", errors="replace")
    assert done.returncode == 0, log[-3000:]
    command = ["pdftotext", "-bbox", "tables.pdf", "-"]
    text = subprocess.run(command, cwd=folder, check=True, capture_output=True).stdout.decode()
    word = re.compile(r'<word xMin="(.*?)" yMin="(.*?)" xMax="(.*?)" yMax="(.*?)">(.*?)</word>')
    pages = [
        [Word(*map(float, box), unescape(text)) for *box, text in word.findall(page)] for page in text.split("<page ")
    ]
    return log, list(zip(made, pages[1:], strict=True))


def test_every_table_compiles_without_a_complaint(compiled):
    complaints = r"^!.*|Undefined control sequence.*|Missing character.*|Overfull \\hbox.*|.*Float too large.*"
    assert re.findall(complaints, compiled[0], re.MULTILINE) == []


def test_every_table_shows_its_caption_and_numbers(compiled):
    for table, page in compiled[1]:
        # Small capitals are capitals of two sizes, which tears the words apart.
        caption, shown = ("".join(re.findall(r"\w", text)).lower() for text in (table.caption, joined(page)))
        assert caption in shown, table.name
    shown = {table.name: joined(page) for table, page in compiled[1]}
    with_it = [name for name, text in shown.items() if " 0.07 " in text and name.endswith("_S1")]
    assert with_it == ["fitness_S1", "comparison_S1"]
    assert " 0.7582 " in shown["test_systems"]
    assert " 0.729 " in shown["method_settings"]
    assert " 735 " in shown["agreement"]
    assert " (0.98) " in shown["fitness_S2"] and "†" in shown["fitness_S4"]
    assert r"a&c%$#{}\|[1]--*<script>X" in shown[f"comparison_{UNKNOWN}"].replace(" ", "")


def test_every_table_fits_its_columns_and_is_legible(compiled):
    for table, page in compiled[1]:
        width = max(word.right for word in page) - min(word.left for word in page)
        low, high = (ONE_COLUMN, BOTH_COLUMNS) if table.name in SPANNING else (0, ONE_COLUMN)
        assert low < width <= high, table.name
        assert height(page, r"[−+]?\d\.\d+|dB|V") >= SMALLEST, table.name
        if table.compared:
            assert height(page, r"\(\d\.\d+\)") >= SMALLEST_PUBLISHED, table.name


def height(page: list[Word], pattern: str) -> float:
    return min(word.bottom - word.top for word in page if re.fullmatch(pattern, word.text))


def joined(page: list[Word]) -> str:
    return " ".join(word.text for word in page)

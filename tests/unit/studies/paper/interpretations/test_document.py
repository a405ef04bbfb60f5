"""The document on the interpretations, with its figures and tables."""

import io
import re

import matplotlib as mpl
import pandas as pd
import pytest
from tests.unit.studies.paper.interpretations import interpretation_studies as made
from tests.unit.studies.paper.interpretations.interpretation_studies import (
    BOUND,
    TIES,
    as_printed,
    conditions_of,
    findings_of,
)
from tests.unit.studies.paper.summaries import REFERENCE, published

from narxbench._report.markup import markdown_html
from narxbench._studies.paper.frames import read_frame
from narxbench._studies.paper.interpretations.document import document, interpretations_report

FURTHER_CRITERIA = ("aic-2", "aic-8", "aic-64", "aic-256")
FIGURES = {"published_reproduced", "effects"}
MOST_WORDS = 1500


def report(*groups):
    return interpretations_report(made.frame_of(*groups), made.choices(), published(), made.claims())


def text_of(*groups):
    return " ".join(document(findings_of(*groups)).split())


def groups_of_conditions():
    counts = {"spurious": lambda s, d, seed: 3 * seed, "nu_max": lambda s, d, seed: 4 + 2 * seed}
    return [
        conditions_of("upso2d", "baseline", **counts),
        conditions_of("upso2d", "input=gaussian", **counts),
        conditions_of("upso2d", TIES, **counts),
        conditions_of("upso2d", BOUND, spurious=9, nu_max=9),
        conditions_of("upso2d", f"{BOUND}+bounded-rows=terms", spurious=8, nu_max=9),
        conditions_of("upso2d", f"{BOUND}+{TIES}", spurious=8, nu_max=9),
        *(conditions_of("upso2d", "baseline", criterion=criterion) for criterion in FURTHER_CRITERIA),
        *(conditions_of("upso2d", TIES, criterion=criterion) for criterion in FURTHER_CRITERIA),
        conditions_of("ga", "baseline", **counts),
        conditions_of("ga", "input=gaussian", **counts),
        conditions_of("ga", "elitism=on", **counts),
    ]


@pytest.fixture(scope="module")
def files():
    return report(*groups_of_conditions())


@pytest.fixture(scope="module")
def texts(files):
    texts = {}
    for path, content in files.items():
        texts[path] = content.decode() if isinstance(content, bytes) else content
    return texts


@pytest.mark.slow
def test_the_files_belong_together(texts):
    assert {path for path in texts if path.endswith(".svg")} == {f"interpretations/{name}.svg" for name in FIGURES}
    page = texts["interpretations.md"]
    links = set(re.findall(r"\]\((interpretations/[^)]*)\)", page))
    assert links == texts.keys() - {"interpretations.md"}
    headings = set(re.findall(r'id="x-([^"]*)"', markdown_html(page, "x", texts)))
    assert set(re.findall(r"\]\(#([^)]*)\)", page)) <= headings


@pytest.mark.slow
def test_the_files_miss_nothing(texts):
    for path, text in texts.items():
        assert not re.search(r"\b(None|nan|NaN|inf|Timestamp)\b", text), path
        assert "{{" not in text
        if path.endswith(".csv"):
            assert len(pd.read_csv(io.StringIO(text)))


@pytest.mark.slow
def test_the_files_depend_on_neither_order_nor_settings_of_the_user(files):
    mixed = [group.sample(frac=1, random_state=1) for group in reversed(groups_of_conditions())]
    with mpl.rc_context({"lines.linewidth": 9, "font.size": 20, "svg.fonttype": "none", "svg.hashsalt": "other"}):
        assert report(*mixed) == files


@pytest.mark.slow
@pytest.mark.parametrize(
    "groups",
    [
        [conditions_of("upso2d", "baseline", 1), conditions_of("upso2d", BOUND, 1)[1:]],
        [conditions_of("upso2d", "baseline", 2), conditions_of("upso2d", BOUND, 2), conditions_of("ga", "baseline", 2)],
        [conditions_of("upso2d", "baseline", 2, best_fitness=float("inf"), median_fitness=float("inf"))],
    ],
)
def test_few_conditions_make_a_document_too(files, groups):
    few = report(*groups)
    assert few.keys() == files.keys()
    left_out = f"Left out because conditions are missing: `{BOUND}` of 2D-UPSO."
    assert (left_out in few["interpretations.md"]) is (len(groups) == 2)


@pytest.mark.slow
def test_sentences_on_the_tables_follow_from_the_deviance_between_data_sets():
    seeds = {"nu_max": lambda system, snr_db, seed: 5 + seed}
    far = text_of(conditions_of("upso2d", "baseline", **seeds))
    assert "As described, 0 of 4 tables are near." in far and "| S1, S2, S3, S4 |" in far
    assert "The multiples of its other tables are: - 2D-UPSO on S1: BIC " in far
    counts = as_printed()
    drawn = {1: 0, 2: 3, 3: 6}
    counts["nu_max"] = lambda system, snr_db, seed: max(1, as_printed()["nu_max"](system, snr_db, seed) - drawn[seed])
    near = text_of(conditions_of("upso2d", "baseline", **counts))
    assert "As described, 1 of 4 tables are near." in near and "| no system |" in near
    alone = text_of(conditions_of("upso2d", "baseline", 1))
    assert "One data seed has no repeats" in alone
    for text in (far, near, alone):
        assert "The *closest* interpretation is *as described*." in text
        assert "clearly nearer" not in text and "None was checked" in text


def test_only_several_options_that_bring_an_algorithm_nearer_leave_the_cause_open():
    described = conditions_of("upso2d", "baseline")
    nearer = {"spurious": 6, "nu_max": 6}
    options = [conditions_of("upso2d", BOUND, **nearer), conditions_of("upso2d", "restart-count=reset", **nearer)]
    several = text_of(described, *options)
    assert "Options of 2 choices bring 2D-UPSO clearly nearer, each alone. The tables cannot show" in several
    assert "| velocities bounded at 1 † | −" in several
    one = text_of(described, options[0])
    assert "The tables cannot show" not in one and "| velocities bounded at 1 † | −" in one


# What the repository keeps


def test_the_kept_document_is_short():
    text = (REFERENCE / "paper" / "interpretations.md").read_text(encoding="utf-8")
    assert len(text.split()) <= MOST_WORDS


@pytest.mark.slow
def test_the_kept_files_follow_from_the_kept_conditions():
    conditions = read_frame("conditions", REFERENCE / "interpretations" / "conditions.csv")
    made_now = interpretations_report(conditions, made.choices(), published(), made.claims())
    folder = REFERENCE / "paper"
    kept = {"interpretations.md", *(f"interpretations/{path.name}" for path in (folder / "interpretations").iterdir())}
    assert made_now.keys() == kept
    for name, content in made_now.items():
        data = content.encode() if isinstance(content, str) else content
        assert (folder / name).read_bytes() == data, name

"""The document on the interpretations, with its figures and tables, and the page of its study."""

import io
import re

import matplotlib as mpl
import pandas as pd
import pytest
from tests.unit.studies.paper.interpretations.interpretation_studies import (
    BOUND,
    EXEMPLAR,
    FIGURES,
    KEPT,
    TABLES,
    TIES,
    conditions_of,
    report,
)
from tests.unit.studies.paper.summaries import REFERENCE, ROOT
from tests.unit.studies.steps import read, step

FURTHER_CRITERIA = ("aic-2", "aic-8", "aic-64", "aic-256")


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
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("document")


@pytest.fixture(scope="module")
def files(folder):
    return report(folder, *groups_of_conditions())


def text_of(folder, *groups):
    return " ".join(report(folder, *groups)["interpretations.md"].split())


def test_the_files_belong_together_and_miss_nothing(files):
    links = set(re.findall(r"\]\((interpretations/[^)]*)\)", files["interpretations.md"]))
    assert links == files.keys() - {"interpretations.md"}
    for path, text in files.items():
        assert not re.search(r"\b(None|nan|NaN|inf|Timestamp)\b", text), path
        assert "{{" not in text
        if path.endswith(".csv"):
            assert len(pd.read_csv(io.StringIO(text)))


def test_the_page_of_the_study_has_its_document_figures_and_tables(files, folder):
    figures = [str(folder / f"interpretations/{name}.svg") for name in FIGURES]
    inputs = {"about": ROOT / "CITATION.cff", "document": folder / "interpretations.md", "document_figures": figures}
    settings = {"study": "mine", "kind": "interpretations"}
    (path,) = step("page", {"study": settings}, input=inputs, output={"": [str(folder / "report.html")]})
    page = read(path)
    # The licences of fonts in its figures come from elsewhere.
    assert re.findall(r'data-source="(\w+)"', page) == ["run", "published"]
    document = page[page.index('<div id="document"') :]
    assert len(re.findall("<figure", document)) == 2
    links = set(re.findall(r'href="(interpretations/[^"]*)"', document))
    assert links == {f"interpretations/{name}.csv" for name in TABLES}
    targets = set(re.findall(r'href="#(text-[^"]*)"', page))
    assert len(targets) > 3 and targets <= set(re.findall(r'id="([^"]*)"', page))


@pytest.mark.slow
def test_the_files_depend_on_neither_order_nor_settings_of_the_user(files, tmp_path):
    mixed = [group.sample(frac=1, random_state=1) for group in reversed(groups_of_conditions())]
    with mpl.rc_context({"lines.linewidth": 9, "font.size": 20, "svg.fonttype": "none", "svg.hashsalt": "other"}):
        assert report(tmp_path, *mixed) == files


def test_incomplete_interpretations_are_left_out_and_named(tmp_path):
    groups = [conditions_of("upso2d", "baseline", 2), conditions_of("upso2d", BOUND, 2)[1:]]
    groups += [conditions_of("upso2d", EXEMPLAR, 1)]
    text = text_of(tmp_path, *groups)
    left_out = f"`{BOUND}` of 2D-UPSO, `{EXEMPLAR}` of 2D-UPSO."
    assert f"Left out because conditions are missing: {left_out}" in text
    assert "0 of 0 single options change the deviance of 2D-UPSO clearly" in text


def test_only_several_options_that_bring_an_algorithm_nearer_leave_the_cause_open(tmp_path):
    described = conditions_of("upso2d", "baseline")
    nearer = {"spurious": 6, "nu_max": 6}
    options = [conditions_of("upso2d", BOUND, **nearer), conditions_of("upso2d", "restart-count=reset", **nearer)]
    several = text_of(tmp_path, described, *options)
    assert "Options of 2 choices bring 2D-UPSO clearly nearer, each alone. The tables cannot show" in several
    alone = text_of(tmp_path, described, options[0])
    assert "The tables cannot show" not in alone and "| velocities bounded at 1 † | −" in alone


# What the repository keeps


@pytest.mark.slow
def test_the_kept_files_follow_from_the_kept_conditions(tmp_path):
    for name, text in report(tmp_path, conditions=str(KEPT)).items():
        assert read(REFERENCE / "paper" / name) == text, name

"""The document on the interpretations, with its figures and tables."""

import io
import re

import matplotlib as mpl
import pandas as pd
import pytest
from tests.unit.analysis.multiverses import BOUND, TIES, as_printed, choices, claims, conditions_of, findings, frame_of
from tests.unit.analysis.summaries import published

from narxbench.report.markup import markdown_html
from narxbench.report.multiverse_document import document, interpretations_report

STRONG_GA = "selection=tournament+elitism=on"
FIGURES = {"effects", "ranking", "side_by_side", "claims", "gaps"}


def report(*groups):
    return interpretations_report(frame_of(*groups), choices(), published(), claims(), choices().named["cited-source"])


def text_of(*groups):
    return " ".join(document(findings(*groups)).split())


def some():
    counts = {"spurious": lambda s, d, seed: 3 * seed, "nu_max": lambda s, d, seed: 4 + 2 * seed}
    return [
        *(conditions_of("upso2d", text, **counts) for text in ("baseline", "input=gaussian", TIES)),
        conditions_of("upso2d", BOUND, spurious=9, nu_max=9),
        conditions_of("upso2d", f"{BOUND}+{TIES}", spurious=8, nu_max=9),
        *(conditions_of("upso2d", "baseline", criterion=name) for name in ("aic-8", "aic-256")),
        *(conditions_of("ga", text, **counts) for text in ("baseline", "input=gaussian", STRONG_GA)),
        conditions_of("stepwise", "baseline"),
    ]


def test_the_files_belong_together_and_depend_on_neither_order_nor_settings_of_the_user():
    files = report(*some())
    texts = {path: content.decode() if isinstance(content, bytes) else content for path, content in files.items()}
    assert {path for path in texts if path.endswith(".svg")} == {f"interpretations/{name}.svg" for name in FIGURES}
    page = texts["interpretations.md"]
    links = set(re.findall(r"\]\((interpretations/[^)]*)\)", page))
    assert links == texts.keys() - {"interpretations.md"}
    headings = set(re.findall(r'id="x-([^"]*)"', markdown_html(page, "x", texts)))
    assert set(re.findall(r"\]\(#([^)]*)\)", page)) <= headings
    for path, text in texts.items():
        assert not re.search(r"\b(None|nan|NaN|inf|Timestamp)\b", text), path
        assert "{{" not in text
    for path in (name for name in texts if name.endswith(".csv")):
        assert len(pd.read_csv(io.StringIO(texts[path])))
    mixed = [group.sample(frac=1, random_state=1) for group in reversed(some())]
    with mpl.rc_context({"lines.linewidth": 9, "font.size": 20, "svg.fonttype": "none", "svg.hashsalt": "other"}):
        assert report(*mixed) == files


@pytest.mark.parametrize(
    "groups",
    [
        [conditions_of("upso2d", "baseline", 1), conditions_of("upso2d", BOUND, 1)[1:]],
        [*(conditions_of("upso2d", text, 2) for text in ("baseline", BOUND)), conditions_of("ga", "baseline", 2)],
        [conditions_of("upso2d", "baseline", 2, best_fitness=float("inf"), median_fitness=float("inf"))],
    ],
)
def test_few_conditions_make_a_document_too(groups):
    files = report(*groups)
    assert len(files) == 10
    left_out = f"Left out, for they lack conditions: `{BOUND}` of 2D-UPSO."
    assert (left_out in files["interpretations.md"]) is (len(groups) == 2)


def test_what_is_said_of_the_baseline_follows_from_clear_differences():
    far = text_of(conditions_of("upso2d", "baseline"))
    assert "**2D-UPSO under the baseline does not reproduce the published tables**" in far
    assert "On S1 to S3 it selects fewer spurious terms than published." in far
    printed = as_printed()["nu_max"]
    counts = as_printed(nu_max=lambda system, snr_db, seed: printed(system, snr_db, seed) if seed == 1 else 0)
    near = text_of(conditions_of("upso2d", "baseline", **counts))
    assert "**2D-UPSO under the baseline cannot be told from the published tables on every data seed**" in near
    assert "spurious terms than published" not in near
    for text in (far, near):
        assert "No clear change" not in text
        assert "S4 with ϱ = 256" not in text
        assert "against 2D-UPSO (" not in text


def test_the_closest_is_told_with_those_that_come_as_near():
    text = text_of(
        conditions_of("upso2d", "baseline"),
        conditions_of("upso2d", BOUND, **as_printed(nu_max=lambda s, d, seed: 7 + seed)),
        conditions_of("upso2d", TIES, **as_printed(-0.02, nu_max=8)),
    )
    assert f"**The closest interpretation of 2D-UPSO** is `{BOUND}` †" in text
    assert f"No clear change of the distance tells it from `{TIES}`." in text


@pytest.mark.parametrize(
    ("fitness", "told"),
    [
        (lambda s, d, seed: -1001.0 if s == "S4" else -1000.0, "lower on S4; the same on S1, S2, S3"),
        (lambda s, d, seed: -1001.0 + seed - 1 if s == "S3" else -1001.0, "lower on S1, S2, S4; mixed on S3"),
    ],
)
def test_stepwise_selection_is_better_only_where_it_is(fitness, told):
    text = text_of(conditions_of("upso2d", "baseline"), conditions_of("stepwise", "baseline", median_fitness=fitness))
    start = "**Stepwise selection against 2D-UPSO (baseline, default, closest, closest without contradiction)**"
    assert f"{start}, on the same data: on most data sets its median J is {told} (" in text

"""Tables and figures of a run as files: content, order, marks, the kept medians, and the same bytes again."""

import re
import shutil
from itertools import product

import pandas as pd
import pytest
from tests.lookups import item_with
from tests.unit.studies.paper.runs import PUBLISHED, Run, make_settings
from tests.unit.studies.paper.summaries import CRITERIA, REFERENCE, make_summary, paper_summaries
from tests.unit.studies.steps import read

from narxbench import NarxbenchError

SOURCES = ["this run", "paper", "kept, as described", "kept, closest"]
NAMES = {"bic": "BIC", **{f"aic-{rho}": f"AIC (ϱ = {rho})" for rho in (2, 8, 64, 256)}, "upso2d": "2D-UPSO", "ga": "GA"}
VALUE_TABLES = {**{f"fitness_S{number}": f"table_{number + 2}" for number in range(1, 5)}, "comparison_S4": "table_7"}


def table(run: Run, name: str) -> pd.DataFrame:
    """Return a table of a run, with an empty text for what is missing."""
    (run.folder / "read.csv").write_text(run.tables[f"{name}.csv"], encoding="utf-8")
    return pd.read_csv(run.folder / "read.csv", keep_default_na=False)


def frame(run: Run, name: str) -> pd.DataFrame:
    return pd.read_csv(run.frames[name], keep_default_na=False)


def test_columns_and_rows_are_in_the_papers_order(complete):
    shown = table(complete, "table_4")
    assert list(shown) == ["group", "snr_db", "source", "T1", "T2", "T3", "T4", "T5", "r", "nu_max", "differs"]
    places = shown[["group", "snr_db", "source"]].itertuples(index=False, name=None)
    assert list(places) == list(product(map(NAMES.get, CRITERIA), (50, 40, 30), SOURCES))
    comparison = table(complete, "table_7")
    assert list(dict.fromkeys(comparison["group"])) == ["2D-UPSO", "GA"]
    assert list(comparison)[-4:] == ["T23", "r", "nu_max", "differs"]
    # What the paper does not tabulate has a table for each system.
    further = table(complete, "selection_S1")
    assert further[["group", "snr_db"]].values.tolist() == [["GA, BIC", snr_db] for snr_db in (50, 40, 30)]


def test_every_published_value_and_every_value_of_the_run_has_its_place(complete):
    metrics, selection = frame(complete, "metrics"), frame(complete, "selection").query("system_term")
    of_run = {}
    for row in metrics.itertuples():
        of_run[row.system, row.snr_db, row.method, row.criterion] = {"r": row.r, "nu_max": row.nu_max}
    for row in selection.itertuples():
        of_run[row.system, row.snr_db, row.method, row.criterion][row.label] = row.frequency
    indexed = {name: table(complete, name).set_index(["group", "snr_db", "source"]) for name in VALUE_TABLES.values()}
    published = pd.read_csv(PUBLISHED["published"], keep_default_na=False)
    for value in published.itertuples():
        group = NAMES[value.criterion if value.table.startswith("fitness") else value.algorithm]
        key, shown = value.term or value.metric, indexed[VALUE_TABLES[value.table]]
        assert float(shown.loc[(group, value.snr_db, "paper"), key]) == value.value, value
        expected = of_run[value.system, value.snr_db, value.algorithm, value.criterion][key]
        assert float(shown.loc[(group, value.snr_db, "this run"), key]) == pytest.approx(expected), value
    kept = pd.read_csv(REFERENCE / "paper/interpretations/values.csv", keep_default_na=False).query("system == 'S2'")
    for value in kept[kept["role"].isin(["as described", "closest"])].itertuples():
        row = indexed["table_4"].loc[(NAMES[value.criterion], value.snr_db, f"kept, {value.role}")]
        assert float(row[value.label or value.metric]) == value.reproduced


def test_what_differs_clearly_is_marked_on_its_side(complete, small):
    values = frame(complete, "agreement_values").query("different")
    marks = []
    for name in VALUE_TABLES.values():
        of_table = "; ".join(filter(None, table(complete, name)["differs"])).split("; ")
        marks += [mark.split()[1] for mark in of_table]
        markdown, latex = complete.tables[f"{name}.md"], complete.tables[f"{name}.tex"]
        assert len(of_table) == len(re.findall(r"\*\*[\d.]+\*\* [↓↑]", markdown))
        assert len(of_table) == len(re.findall(r"\\textbf\{[\d.]+\} \$\\(?:down|up)arrow\$", latex))
    sides = (values["difference"] < 0).sum(), (values["difference"] > 0).sum()
    assert (marks.count("lower"), marks.count("higher")) == sides and min(sides) > 0
    # A trial marks and judges nothing.
    assert "differs" not in table(small, "table_3")
    assert set(table(small, "claims")["run"]) == {"trial run, not judged"}


def test_settings_claims_and_final_structures(complete, small):
    settings = complete.tables["table_2.tex"]
    assert "crossover probability" in settings and r"\_" not in settings
    printed = table(complete, "table_2")["published"]
    assert list(printed) == [80, 0.45, 0.01, 30, 0.729, 1.49, 1.49, 0.2, 0.7, 10]
    verdicts = frame(complete, "claims").query("side == 'here'")
    claims = table(complete, "claims")
    assert claims[["run", "evidence_run"]].values.tolist() == verdicts[["verdict", "evidence"]].values.tolist()
    structures = table(small, "final_structures_S1").set_index("term")
    assert list(structures["label"])[:4] == ["T1", "T2", "T3", "T4"]
    shown = item_with(paper_summaries(("S1",)), system="S1", snr_db=30.0, method="ga", criterion="bic")
    final = dict(zip(shown["final_structure"], shown["final_coefficients"], strict=True))
    column = structures["ga 30"].rename({"constant": "1"})
    assert column[column != ""].astype(float).to_dict() == pytest.approx(final)


def test_mistakes_are_one_line(small, tmp_path):
    run = Run(tmp_path, [make_summary(snr_db=20.0, criterion="aic-2")], make_settings(["S1"]))
    with pytest.raises(NarxbenchError, match=r"convergence.csv: found no condition under bic at 20 dB, which figures "):
        assert run.figures
    (tmp_path / "claims.csv").write_text(re.sub(r"(?m)^bic-separates,.*\n", "", read(run.frames["claims"])))
    with pytest.raises(NarxbenchError, match=r"claims.csv: found no verdict on bic-separates; delete it and run again"):
        assert run.tables
    shutil.copy(small.frames["claims"], tmp_path / "claims.csv")
    run.settings["methods"] = {}
    with pytest.raises(NarxbenchError, match="methods: found no criterion to compare them by; allowed: at least one"):
        assert run.tables


# Figures


def texts(run: Run, name: str) -> list[str]:
    """Return the labels of a figure, which is drawn as glyphs, by what a reader of the file is told of them."""
    return list(map(str.strip, re.findall(r"<!--(.*?)-->", read(run.figures[f"{name}.svg"]))))


def test_every_panel_and_every_method_is_named(tmp_path):
    systems, methods = ("S1", "S2", "S4"), ("upso2d", "ga")
    summaries = [make_summary(name, 30, method, runs=4) for name, method in product(systems[:2], methods)]
    # These runs found nothing.
    summaries += [make_summary("S4", 30, method, histories=[[]] * 4) for method in methods]
    run = Run(tmp_path, summaries, make_settings(systems, methods={name: ["bic"] for name in methods}))
    curves = texts(run, "figure_1")
    for name in ("(a) S1 and S2", "(b) S4", "S1: 2D-UPSO", "S2: GA", "S4: GA"):
        assert curves.count(name) == 1, name
    bars = texts(run, "figure_2")
    # The paper leaves S4 out of this figure.
    panels = [f"{name} + {method}" for name, method in product(("S1", "S2"), ("GA", "2D-UPSO"))]
    assert [text[4:] for text in bars if text.startswith("(")] == panels
    assert bars.count("T4") == 4

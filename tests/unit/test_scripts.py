"""The scripts of the steps, called as functions on small inputs."""

import inspect
import json

import pytest
from cells import REFERENCE, make_cell, write_cells
from scripts import aggregate, compare, figures, report, search, simulate, tables
from tests.browser.page import with_model

import narxbench
from narxbench.config import load_experiment
from narxbench.data import read_signals
from narxbench.runs import read_run
from narxbench.yaml_files import read_mapping

PUBLISHED = {
    "published": str(REFERENCE / "published_tables.csv"),
    "system_terms": str(REFERENCE / "system_terms.csv"),
}
ROOT = REFERENCE.parents[1]
ORDERS = {"n_u": 2, "n_y": 2, "degree": 2}
SYSTEM = {"name": "X1", "equation": "y(k) = 0.4*y(k-1) + u(k-1)", **ORDERS}
DATA = {"samples": 200, "washout": 10, "seed": 1, "excitation": {"kind": "gaussian", "sd": 2.0}, "noise": "output"}
SETTINGS = narxbench.search.__globals__["settings_model"]("ga")(population_size=10).model_dump(mode="json")


def paths(folder, *names):
    return {name: str(folder / f"made.{name}") for name in names}


@pytest.fixture
def cells(tmp_path):
    made = [with_model(make_cell("S1", 30, name, "bic")) for name in ("upso2d", "ga")]
    return [str(path) for path in write_cells(made, tmp_path)]


def logged(function, folder):
    """Return the argument for the log of a step that takes one."""
    return {"log": str(folder / "log.json")} if "log" in inspect.signature(function).parameters else {}


def test_simulate_search_and_aggregate(tmp_path):
    data = str(tmp_path / "data.csv")
    simulate.simulate(data, **logged(simulate.simulate, tmp_path), system=SYSTEM, snr_db=37.5, data=DATA)
    u, y = read_signals(data)
    assert len(u) == len(y) == 200
    runs = []
    for seed in ("1", "2", "3"):
        runs.append(str(tmp_path / f"seed-{seed}.json"))
        search.run_search(
            data,
            runs[-1],
            str(tmp_path / "log.json"),
            axes={"system": "X1", "snr_db": "37.5", "search": "mine", "criterion": "aic-6.5", "seed": seed},
            orders={**ORDERS, "n_validation": 60},
            algorithm="ga",
            settings=SETTINGS,
            evaluations=300,
        )
        assert read_run(runs[-1]).axes.seed == int(seed)
    aggregate.aggregate(
        runs,
        [data],
        str(tmp_path / "cell.json"),
        **logged(aggregate.aggregate, tmp_path),
        system=SYSTEM,
        orders={**ORDERS, "n_validation": 60},
        criterion="aic-6.5",
        settings=SETTINGS,
        seeds=[1, 2, 3],
        evaluations=300,
        threshold=0.9,
        confidence=0.95,
        bootstrap_samples=50,
    )
    cell = json.loads((tmp_path / "cell.json").read_text())
    assert (cell["system"], cell["snr_db"], cell["criterion"], cell["runs"]) == ("X1", 37.5, "aic-6.5", 3)
    assert "u(k-1)" in cell["final_structure"]
    assert set(json.loads((tmp_path / "log.json").read_text())) == {"cpu_seconds", "wall_seconds"}


def test_changed_data_is_not_taken_from_memory(tmp_path):
    data = str(tmp_path / "data.csv")
    problems = []
    for seed in (1, 2):
        step = {"system": SYSTEM, "snr_db": 30, "data": {**DATA, "seed": seed}}
        simulate.simulate(data, **logged(simulate.simulate, tmp_path), **step)
        problems.append(search.load_problem(data, str(seed), **ORDERS, n_validation=60, criterion="bic"))
    assert problems[0].evaluate(["u(k-1)"]).fitness != problems[1].evaluate(["u(k-1)"]).fitness


def test_tables(tmp_path, cells):
    made = {
        "systems": tables.table_test_systems([str(ROOT / "config/systems/S1.yaml")]),
        "settings": tables.table_search_settings({"ga": {"algorithm": "ga", "settings": SETTINGS}}, 40, 6000),
        "fitness": tables.table_fitness("S1", cells, **PUBLISHED),
        "comparison": tables.table_comparison("S1", "bic", cells, **PUBLISHED),
    }
    for name, table in made.items():
        folder = tmp_path / name
        files = paths(folder, "csv", "md", "tex")
        tables.write_table(table, **files)
        assert all((folder / f"made.{form}").read_text() for form in files)
    assert "y(k-1)" in (tmp_path / "systems/made.csv").read_text()
    assert "2D-UPSO" in (tmp_path / "comparison/made.md").read_text()
    tables.tidy_tables(cells, **PUBLISHED, **paths(tmp_path, "selection_frequency", "cell_summaries"))
    assert len((tmp_path / "made.selection_frequency").read_text().splitlines()) == 1 + 2 * 66
    assert len((tmp_path / "made.cell_summaries").read_text().splitlines()) == 1 + 2


def test_compare(tmp_path, cells):
    compare.write_comparison(cells, **PUBLISHED, **paths(tmp_path, "rows", "csv", "md", "tex"))
    assert len((tmp_path / "made.rows").read_text().splitlines()) == 1 + 810
    assert "\n| Table |" in (tmp_path / "made.md").read_text()


def test_figures(tmp_path, cells):
    figures.figure_convergence(cells, snr_db=30, **paths(tmp_path, "pdf", "svg"))
    first = (tmp_path / "made.svg").read_bytes()
    figures.figure_term_frequency(cells, **PUBLISHED, snr_db=30, **paths(tmp_path, "pdf", "svg"))
    assert (tmp_path / "made.pdf").read_bytes().startswith(b"%PDF")
    assert b"<svg" in first
    assert (tmp_path / "made.svg").read_bytes() != first


def test_report(tmp_path, cells):
    names = ("convergence", "term_frequency")
    for name in names:
        (tmp_path / f"{name}.svg").write_text(f'<svg xmlns="http://www.w3.org/2000/svg"><title>{name}</title></svg>')
    for name in ("claims", "statistics"):
        (tmp_path / f"{name}.json").write_text("{}")
    sources = [ROOT / "config/config.yaml"]
    config = {**read_mapping(sources[0]), "systems": ["S1"], "snr_db": [30]}
    report.write_report(
        cells,
        systems=[str(ROOT / "config/systems/S1.yaml")],
        figures=[str(tmp_path / f"{name}.svg") for name in names],
        **PUBLISHED,
        errata=str(ROOT / "docs/errata.md"),
        method=str(ROOT / "docs/method.md"),
        fidelity=str(ROOT / "docs/errata.md"),
        fidelity_figures=[str(tmp_path / f"{name}.svg") for name in names],
        citation=str(ROOT / "CITATION.cff"),
        claims=str(tmp_path / "claims.json"),
        statistics=str(tmp_path / "statistics.json"),
        config=load_experiment(config, sources).model_dump(mode="json"),
        html=str(tmp_path / "report.html"),
    )
    page = (tmp_path / "report.html").read_text()
    assert page.startswith("<!DOCTYPE html>")
    assert "2D-UPSO" in page

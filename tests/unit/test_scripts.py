"""The scripts of the steps, called as functions on small inputs."""

import inspect
import json
import subprocess
import sys

import pytest
from cells import REFERENCE, make_cell, write_cells
from scripts import aggregate, compare, figures, report, search, simulate, tables
from tests.browser.page import with_model

import narxbench
from narxbench.experiment.study_settings import load_experiment
from narxbench.model.dataset import read_signals
from narxbench.io.errors import NarxbenchError
from narxbench.io.files import sealed_json, sha256
from narxbench.experiment.runs import read_run
from narxbench.report.tables import cells_digest, read_analysis
from narxbench.io.yaml import read_mapping

PUBLISHED = {
    "published": str(REFERENCE / "published_tables.csv"),
    "system_terms": str(REFERENCE / "system_terms.csv"),
}
ROOT = REFERENCE.parents[1]
ORDERS = {"n_u": 2, "n_y": 2, "degree": 2}
SYSTEM = {"name": "X1", "equation": "y(k) = 0.4*y(k-1) + u(k-1)", **ORDERS}
DATA = {"samples": 200, "washout": 10, "seed": 1, "excitation": {"kind": "gaussian", "sd": 2.0}, "noise": "output"}
DATA["realisation"] = "shared"
EXPERIMENT = {"system": SYSTEM, "snr_db": 37.5, "data": DATA}
AXES = {"system": "X1", "snr_db": "37.5", "search": "mine", "criterion": "aic-6.5"}
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
    simulate.simulate(data, **logged(simulate.simulate, tmp_path), **EXPERIMENT)
    u, y = read_signals(data)
    assert len(u) == len(y) == 200
    runs = []
    for seed in ("1", "2", "3"):
        runs.append(str(tmp_path / f"seed-{seed}.json"))
        search.run_search(
            data,
            runs[-1],
            str(tmp_path / "log.json"),
            axes={**AXES, "seed": seed},
            experiment=EXPERIMENT,
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
        axes=AXES,
        experiment=EXPERIMENT,
        orders={**ORDERS, "n_validation": 60},
        algorithm="ga",
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


def test_a_data_set_that_the_settings_do_not_make_is_refused(tmp_path):
    path = tmp_path / "data.csv"
    log = logged(simulate.simulate, tmp_path)
    own = {**EXPERIMENT, "data": {**DATA, "realisation": "per_run"}}
    for experiment, realisation in ((EXPERIMENT, None), (own, 2)):
        simulate.simulate(str(path), **log, **experiment, realisation=realisation)
        whole = path.read_bytes()
        assert simulate.check_data_set(str(path), 2, **experiment) == sha256(whole)
        path.write_bytes(whole.replace(b"1", b"2", 1))
        with pytest.raises(NarxbenchError, match=r"data\.csv: damaged or edited, these settings make another data set"):
            simulate.check_data_set(str(path), 2, **experiment)
    path.write_bytes(whole)
    with pytest.raises(NarxbenchError, match="another data set"):
        simulate.check_data_set(str(path), 3, **own)
    with pytest.raises(NarxbenchError, match=r"missing\.csv: cannot be read: No such file"):
        simulate.check_data_set(str(tmp_path / "missing.csv"), 1, **EXPERIMENT)


def test_changed_data_is_not_taken_from_memory(tmp_path):
    data = str(tmp_path / "data.csv")
    problems = []
    for seed in (1, 2):
        step = {"system": SYSTEM, "snr_db": 30, "data": {**DATA, "seed": seed}}
        simulate.simulate(data, **logged(simulate.simulate, tmp_path), **step)
        problems.append(search.load_problem(data, str(seed), **ORDERS, n_validation=60, criterion="bic"))
    assert problems[0].evaluate(["u(k-1)"]).fitness != problems[1].evaluate(["u(k-1)"]).fitness


@pytest.mark.parametrize("content", [{"definition_sha256": "e"}, {}])
def test_a_step_reads_only_the_cells_that_are_meant(tmp_path, content):
    for name, text in (("a.json", {"definition_sha256": "d"}), ("b.json", content)):
        (tmp_path / name).write_text(sealed_json(text))
    code = (
        "import sys\nfrom scripts.step import step\nwith step('/dev/null', sys.argv[1:], ['d', 'd']):\n  print('begun')"
    )
    done = [
        subprocess.run(
            [sys.executable, "-c", code, *(str(tmp_path / name) for name in names)],
            cwd=ROOT,
            capture_output=True,
            text=True,
        )
        for names in (("a.json", "a.json"), ("a.json", "b.json"))
    ]
    assert (done[0].returncode, done[0].stdout, done[0].stderr) == (0, "begun\n", "")
    told = f"narxbench: {tmp_path}/b.json: summary of another cell or of other settings; delete it and run again\n"
    assert (done[1].returncode, done[1].stdout, done[1].stderr) == (1, "", told)


def test_a_step_whose_log_finds_no_room_says_the_mistake_alone():
    code = "from scripts.step import step\nfrom narxbench.errors import NarxbenchError\n"
    code += "with step('/dev/full'):\n  raise NarxbenchError('a.csv: empty')"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (1, "", "narxbench: a.csv: empty\n")


def test_an_analysis_of_other_cells_is_refused(tmp_path, cells):
    path = tmp_path / "claims.json"
    path.write_text(sealed_json({"claims": [], "cells_sha256": cells_digest(cells)}))
    assert read_analysis(path, cells) == {"claims": []}
    for other in (cells[:1], cells[::-1]):
        with pytest.raises(NarxbenchError, match="made of other cells than these; delete it and run again"):
            read_analysis(path, other)


def test_a_step_ends_with_the_mistake_in_one_line(tmp_path):
    code = "from scripts.step import step\nfrom narxbench.errors import NarxbenchError\nimport warnings\n"
    code += (
        f"with step({str(tmp_path / 'step.log')!r}):\n  warnings.warn('slow')\n  raise NarxbenchError('a.csv: empty')"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (1, "", "narxbench: a.csv: empty\n")
    log = (tmp_path / "step.log").read_text()
    assert "UserWarning: slow" in log
    assert log.endswith("\nERROR: a.csv: empty\n")


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
        (tmp_path / f"{name}.json").write_text(sealed_json({"cells_sha256": cells_digest(cells)}))
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

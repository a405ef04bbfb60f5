"""The pipeline end to end: it makes all results once, and after a change those that depend on it."""

import re
import shutil
from itertools import chain

import pandas as pd
import pytest
import yaml
from tests.workflow.project import CONDITIONS, PAGES, ROOT, RUNS, TINY, links_to_files, unlike

pytestmark = pytest.mark.slow

GA_RUNS = [path for path in RUNS if "/ga/" in path]
# What follows from each result, and from the frames.
ENDING = {"manifest", "site", "all"}
ANALYSED = {"analyse", "tables", "figures", "page", *ENDING}


def test_the_files_of_codecheck_are_made(finished):
    for entry in yaml.safe_load((ROOT / "codecheck.yml").read_text(encoding="utf-8"))["manifest"]:
        path = entry["file"].replace("reports/paper/", "reports/tiny/").replace("reports/report", "reports/tiny/report")
        assert (finished / path).stat().st_size > 0, path


def test_pages_that_are_asked_for_alone_come_with_all_that_they_link_to(copy):
    shutil.rmtree(copy / "reports")
    copy.snakemake("reports/tiny/report.html")
    n_links = 0
    for page in PAGES:
        links = links_to_files((copy / f"reports/tiny/{page}.html").read_text(encoding="utf-8"))
        for link in links:
            assert (copy / f"reports/tiny/{link}").exists(), f"{page}: {link}"
        n_links += len(links)
    assert n_links > 50
    assert not (copy / "reports/tiny/manifest.csv").exists()


def test_what_it_costs_and_little_of_progress(finished):
    cost = "^narxbench: study tiny: 12 searches, about [0-9]+ s of CPU time with compilation; the largest step takes "
    assert re.search(cost, finished.printed, re.MULTILINE)
    jobs = re.search(r"^total +(\d+)$", finished.printed, re.MULTILINE)[1]
    assert re.search(rf"^{jobs} of {jobs} steps \(100%\) done in \d+ s$", finished.printed, re.MULTILINE)
    assert len(finished.printed.splitlines()) < 40, finished.printed
    assert "warning" not in finished.printed.lower()


def test_nothing_to_do_a_second_time_nor_elsewhere_nor_after_comments(finished, copy):
    printed = finished.snakemake()
    assert "Nothing to be done" in printed and "page: reports/tiny/report.html" in printed
    assert copy.planned() == {}
    for path in copy.root.glob("src/**/*.py"):
        copy.append(str(path), "# A remark.\n")
    text = (copy / "src/narxbench/_algorithms/ga.py").read_text(encoding="utf-8")
    copy.write("src/narxbench/_algorithms/ga.py", text.replace('"""', '"""Reworded: ', 1))
    assert copy.planned() == {}


@pytest.mark.parametrize(
    ("setting", "runs", "summaries"),
    [
        ("methods={ga: {settings: {mutation_probability: 0.02}}}", GA_RUNS, 2),
        ("statistics={threshold: 0.8}", [], 6),
        ("seeds=3", [f"data/tiny/runs/{condition}/seed-3.json" for condition in CONDITIONS], 6),
    ],
)
def test_changed_setting_runs_what_depends_on_it(finished, setting, runs, summaries):
    planned = finished.planned("--config", setting)
    assert sorted(planned.get("search", [])) == sorted(runs)
    assert len(planned["summarise"]) == summaries
    assert set(planned) >= {"run_record", *ANALYSED}
    assert "simulate" not in planned


def test_two_studies_in_one_folder_never_touch_each_other(finished, copy):
    second = copy.with_study("other", TINY.replace("200", "210"))
    for output in chain(*second.planned().values()):
        assert output.split("/")[1] == "other"
    second.snakemake("data/other/conditions/as-described/data-1/S3/30dB/ga/bic.json")
    assert unlike(copy.files(), finished.files()) == []
    assert copy.planned() == {}


def test_mistake_is_reported_in_one_line_before_any_job(finished):
    _, line = finished.snakemake("--config", "evaluation=900", code=1).splitlines()
    assert line.startswith("narxbench: command line (--config): evaluation: unknown key; allowed: ")
    assert line.isprintable()


def test_a_library_that_is_not_installed_is_named_with_the_remedy(finished, tmp_path):
    # A file that comes before the package of this name.
    (tmp_path / "ruamel.py").touch()
    *_, line = finished.snakemake("--dry-run", code=1, env={"PYTHONPATH": str(tmp_path)}).splitlines()
    assert line.startswith("narxbench: Python finds no module 'ruamel.yaml'; set up the environment: ")


def test_the_linter_finds_nothing_in_the_comparison_of_methods(finished):
    assert "Congratulations" in finished.snakemake("--lint", "--configfile", "config/methods.yaml")


def test_the_matrix_is_a_table_and_a_target(copy):
    copy.snakemake("matrix")
    matrix = pd.read_csv(copy / "data/tiny/matrix.csv", dtype=str)
    assert list(matrix) == ["study", "scenario", "data_seed", "system", "snr", "method", "criterion", "seeds"]
    paths = "data/tiny/runs/" + matrix.iloc[:, 1:].agg("/".join, axis=1) + ".json"
    assert set(matrix["study"]) == {"tiny"} and paths.tolist() == RUNS


def test_an_interpreter_that_drops_the_texts_of_pages_is_refused_in_one_line(finished):
    *_, line = finished.snakemake("--dry-run", code=1, env={"PYTHONOPTIMIZE": "2"}).splitlines()
    assert line == "narxbench: PYTHONOPTIMIZE: found 2, which removes texts that pages show; allowed: 0 and 1"


@pytest.mark.parametrize(
    ("path", "again", "spared", "searches"),
    [
        ("src/narxbench/_model/system.py", {"simulate"}, set(), 12),
        ("src/narxbench/_algorithms/ga.py", {"summarise", "run_record", *ANALYSED}, {"simulate"}, 4),
        ("src/narxbench/_report/figures.py", {"figures", "page", *ENDING}, {"summarise", "analyse", "tables"}, 0),
        ("src/narxbench/_report/templates/site.css", {"page", *ENDING}, {"summarise", "analyse"}, 0),
        ("scripts/analyse.py", ANALYSED, {"simulate", "summarise"}, 0),
        ("scripts/search.py", {"search", "summarise", "run_record", *ANALYSED}, {"simulate"}, 12),
    ],
)
def test_plan_after_an_edit(copy, path, again, spared, searches):
    copy.append(path, "\nEDITED = 1\n" if path.endswith(".py") else "\n/* edited */\n")
    planned = copy.planned()
    assert again <= set(planned)
    assert spared & set(planned) == set()
    outputs = planned.get("search", [])
    assert len(outputs) == searches
    if searches == 4:
        for output in outputs:
            assert "/ga/" in output

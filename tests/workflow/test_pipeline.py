"""The pipeline end to end: what it makes, that it makes it once, and what it makes again after a change."""

import json
import re
import subprocess
import sys

import pytest
from project import QUICK, TINY

SYSTEMS = ("S1", "S2", "S3", "S4")
SEARCHED = ("upso2d/bic", "upso2d/aic-2", "upso2d/aic-256", "ga/bic")
CELLS = [f"{system}/30dB/{searched}" for system in SYSTEMS for searched in SEARCHED]
SEARCHES = sorted(f"data/runs/{cell}/seed-{seed}.json" for cell in CELLS for seed in range(1, 5))
GA_SEARCHES = [path for path in SEARCHES if "/ga/" in path]
FORMS = ("csv", "md", "tex")
NOT_A_NUMBER = re.compile(rb"\bnan\b|\binfinity\b|\binf\b", re.IGNORECASE)


def test_quick_run_makes_everything(first_run):
    project, printed = first_run
    tables = ["test_systems", "search_settings", "agreement"]
    tables += [f"{kind}_{system}" for kind in ("fitness", "comparison") for system in SYSTEMS]
    expected = {
        *SEARCHES,
        *(f"data/cells/{cell}.json" for cell in CELLS),
        *(f"data/generated/{system}/30dB.csv" for system in SYSTEMS),
        *(f"reports/tables/{name}.{form}" for name in tables for form in FORMS),
        *(f"reports/tables/{name}.csv" for name in ("selection_frequency", "cells", "published_and_reproduced")),
        *(f"reports/tables/{name}.csv" for name in ("recovery", "search_comparison")),
        "reports/tables/claims.md",
        "reports/claims.json",
        "reports/statistics.json",
        "reports/fidelity.md",
        "reports/fidelity/summary.json",
        *(f"reports/fidelity/{name}.csv" for name in ("distances", "effects", "claims", "gaps")),
        *(f"reports/fidelity/{name}.svg" for name in ("effects", "ranking", "beside", "claims", "gaps")),
        *(f"reports/figures/{name}.{form}" for name in ("convergence", "term_frequency") for form in ("pdf", "svg")),
        "reports/report.html",
        "reports/manifest.csv",
    }
    contents = project.contents("data/generated", "data/runs", "data/cells", "reports")
    assert set(contents) == expected
    assert [path for path, content in contents.items() if not content] == []
    assert len(printed.splitlines()) < 60
    assert "searches 64/64" in printed
    assert "Traceback" not in printed
    assert (project / "reports/made.md").is_file()


def test_no_result_is_not_a_number(first_run):
    contents = first_run[0].contents("data", "reports")
    text = {path: content for path, content in contents.items() if path.endswith((".csv", ".md", ".tex", ".json"))}
    assert len(text) > 100
    assert [path for path, content in text.items() if NOT_A_NUMBER.search(content)] == []


def test_run_files_tell_where_they_come_from(first_run):
    for path in SEARCHES:
        run = json.loads((first_run[0] / path).read_text(encoding="utf-8"))
        assert {"axes", "algorithm", "settings", "problem", "data_sha256", "versions", "evaluations"} <= set(run)
        assert {"narxbench", "numba", "numpy", "python"} <= set(run["versions"])
        axes = run["axes"]
        assert path == "data/runs/{system}/{snr_db}dB/{search}/{criterion}/seed-{seed}.json".format(**axes)
        assert run["settings"]
        assert run["evaluations"] == 900


def test_one_core_gives_the_same_bytes_as_two(first_run, clean):
    clean.snakemake(*QUICK, cores=1)
    ours, theirs = (project.contents("data", "reports") for project in (clean, first_run[0]))
    assert set(ours) == set(theirs)
    assert [path for path in ours if ours[path] != theirs[path]] == []


def test_second_run_has_nothing_to_do(first_run):
    project, _ = first_run
    assert "Nothing to be done" in project.snakemake(*QUICK)
    assert project.planned(*QUICK) == {}


def test_moved_project_has_nothing_to_do(complete):
    assert complete.planned(*QUICK) == {}


def test_deleted_run_file_is_made_again_with_what_follows(first_run, complete):
    lost = "data/runs/S1/30dB/upso2d/bic/seed-2.json"
    (complete / lost).unlink()
    done = complete.done(*QUICK)
    assert done["search"] == [lost]
    assert done.get("aggregate", []) in ([], ["data/cells/S1/30dB/upso2d/bic.json"])
    assert not set(done) & {"simulate", "table_test_systems", "table_search_settings"}
    assert complete.contents("data", "reports") == first_run[0].contents("data", "reports")


def test_more_seeds_run_only_the_new_ones(complete):
    done = complete.done(*QUICK, "--config", "seeds=5")
    assert sorted(done["search"]) == sorted(f"data/runs/{cell}/seed-5.json" for cell in CELLS)
    assert len(done["aggregate"]) == len(CELLS)
    assert "simulate" not in done
    planned = complete.planned(*QUICK)
    assert "search" not in planned
    assert len(planned["aggregate"]) == len(CELLS)


@pytest.mark.parametrize(
    ("overlay", "searches"),
    [
        ("searches: {ga: {settings: {mutation_probability: 0.02}}}", GA_SEARCHES),
        ("statistics: {threshold: 0.8}", []),
        ("data: {seed: 2}", SEARCHES),
        ("evaluations: 901", SEARCHES),
    ],
)
def test_changed_setting_runs_what_depends_on_it(complete, overlay, searches):
    complete.write("mine.yaml", overlay)
    planned = complete.planned(*QUICK, "mine.yaml")
    assert sorted(planned.get("search", [])) == searches
    assert len(planned["aggregate"]) == (4 if searches == GA_SEARCHES else 16)
    assert ("simulate" in planned) == overlay.startswith("data")


EDITS = {
    "comment": lambda text: text + "# A remark.\n",
    "docstring": lambda text: text.replace('"""', '"""Reworded: ', 1),
    "code": lambda text: text + "\nEDITED = 1\n",
    "description": lambda text: text.replace("description: ", "description: reworded ", 1),
}


@pytest.mark.parametrize(
    ("path", "edit", "searches", "rules"),
    [
        ("config/systems/S1.yaml", "description", [], {"table_test_systems", "report", "made", "manifest", "all"}),
        ("config/systems/S1.yaml", "comment", [], {"table_test_systems", "report", "made", "manifest", "all"}),
        ("src/narxbench/kernel.py", "comment", [], set()),
        ("src/narxbench/kernel.py", "docstring", [], set()),
        (
            "src/narxbench/plots.py",
            "code",
            [],
            {"figure_convergence", "figure_term_frequency", "report", "made", "manifest", "all"},
        ),
        ("src/narxbench/kernel.py", "code", SEARCHES, None),
        ("src/narxbench/search/ga.py", "code", GA_SEARCHES, None),
        ("src/narxbench/search/__init__.py", "code", SEARCHES, None),
        ("scripts/search.py", "code", SEARCHES, None),
        ("scripts/tables.py", "code", [], None),
    ],
)
def test_edited_file_runs_what_depends_on_it(complete, path, edit, searches, rules):
    complete.write(path, EDITS[edit]((complete / path).read_text(encoding="utf-8")))
    planned = complete.planned(*QUICK)
    assert sorted(planned.get("search", [])) == searches
    assert rules is None or set(planned) == rules


def test_every_step_uses_the_code_of_its_own_copy(complete):
    """An installed narxbench, such as the one that runs this test, must not take the place of the project's own."""
    check = f"\nimport narxbench\nassert narxbench.__file__.startswith({str(complete.root)!r}), narxbench.__file__\n"
    for script in sorted((complete / "scripts").glob("*.py")):
        script.write_text(script.read_text(encoding="utf-8") + check, encoding="utf-8")
    assert {"table_fitness", "figure_convergence", "compare", "report"} <= set(complete.done(*QUICK))


ADDED = f"""
{TINY}
systems: [S1, X1]
snr_db: [30, 37.5]
searches:
  upso2d: {{criteria: [bic, aic-16]}}
  ga-tournament: {{algorithm: ga, criteria: [bic], settings: {{selection: tournament}}}}
figures: {{snr_db: 37.5}}
"""
X1 = "n_u: 2\nn_y: 2\ndegree: 2\nequation: y(k) = 0.4*y(k-1) + u(k-1)\n"


def test_added_system_snr_criterion_and_search(clean):
    clean.write("config/systems/X1.yaml", X1)
    clean.write("mine.yaml", ADDED)
    clean.snakemake(*QUICK, "mine.yaml")
    cells = (clean / "reports/tables/cells.csv").read_text(encoding="utf-8")
    for added in ("X1", "37.5", "aic-16", "ga-tournament"):
        assert re.search(rf"(^|,){re.escape(added)}(,|$)", cells, re.MULTILINE), added
    assert "AIC" in (clean / "reports/tables/fitness_X1.md").read_text(encoding="utf-8")
    assert "y(k) = " in (clean / "reports/tables/test_systems.csv").read_text(encoding="utf-8")
    assert "ga-tournament" in (clean / "reports/tables/search_settings.csv").read_text(encoding="utf-8")
    assert "ga-tournament" in (clean / "reports/tables/comparison_X1.csv").read_text(encoding="utf-8")
    assert "X1" in (clean / "reports/figures/convergence.svg").read_text(encoding="utf-8")
    page = (clean / "reports/report.html").read_text(encoding="utf-8")
    assert "No published values to compare with: X1." in page
    run = json.loads((clean / "data/runs/X1/37.5dB/ga-tournament/bic/seed-2.json").read_text(encoding="utf-8"))
    assert run["settings"]["selection"] == "tournament"
    # Without noise worth the name, a search over 14 candidates finds the two terms.
    assert set(run["terms"]) >= {"y(k-1)", "u(k-1)"}


@pytest.mark.parametrize(
    ("target", "counts"),
    [
        ("data/runs/S2/30dB/ga/bic/seed-2.json", {"simulate": 1, "search": 1}),
        ("reports/tables/test_systems.md", {"table_test_systems": 1}),
        (
            "reports/tables/comparison_S1.tex",
            {"simulate": 1, "search": 4, "aggregate": 2, "table_comparison": 1},
        ),
        (
            "reports/figures/convergence.svg",
            {"simulate": 4, "search": 16, "aggregate": 8, "figure_convergence": 1},
        ),
    ],
)
def test_single_target_needs_only_its_own(clean, target, counts):
    clean.write("tiny.yaml", TINY)
    done = clean.done(target, *QUICK, "tiny.yaml")
    assert {rule: len(outputs) for rule, outputs in done.items()} == counts
    assert (clean / target).is_file()


def test_truncated_run_file_is_told_with_its_remedy(first_run, complete):
    damaged = "data/runs/S2/30dB/ga/bic/seed-3.json"
    whole = (complete / damaged).read_bytes()
    (complete / damaged).write_bytes(whole[:900])
    printed = complete.snakemake(*QUICK, code=1)
    assert re.search(rf"^narxbench: {damaged}: damaged, .*; delete it and run again$", printed, re.MULTILINE)
    (complete / damaged).unlink()
    assert complete.done(*QUICK)["search"] == [damaged]
    assert complete.contents("data", "reports") == first_run[0].contents("data", "reports")


SEARCH_ONCE = """
import narxbench
u, y = narxbench.load_system("S1").simulate(1000, snr_db=40)
problem = narxbench.StructureProblem(u, y, n_u=2, n_y=2, degree=2, n_validation=300)
print(narxbench.__file__)
for algorithm in ("upso2d", "ga"):
    print(narxbench.search(problem, algorithm=algorithm, seed=1, evaluations=160).terms)
"""


def test_edited_kernel_is_compiled_anew_in_its_callers(clean):
    """The searches are compiled in files of their own, and hold the machine code of the kernel that they call."""

    def found() -> str:
        done = subprocess.run(
            [sys.executable, "-c", SEARCH_ONCE],
            cwd=clean.root,
            env={"PYTHONPATH": str(clean / "src")},
            check=True,
            capture_output=True,
            text=True,
        )
        file, structures = done.stdout.split(maxsplit=1)
        assert file == str(clean / "src/narxbench/__init__.py")
        return structures

    before = found()
    assert before.count("y(k-1)") >= 2
    assert found() == before
    # Every structure is singular now.
    clean.edit("src/narxbench/kernel.py", "SINGULAR = 1e-11", "SINGULAR = 2.0")
    assert found().split() == ["[]", "[]"]


def test_diverging_system_stops_alone(clean):
    clean.write("mine.yaml", f"{TINY}data: {{excitation: {{kind: gaussian, sd: 1.0}}}}\n")
    printed = clean.snakemake(*QUICK, "mine.yaml", "--keep-going", code=1)
    assert re.search(
        r"^narxbench: system S4: its output diverges .*; allowed: an input for which", printed, re.MULTILINE
    )
    assert "Traceback" not in printed
    for system in SYSTEMS:
        made = len(list((clean / "data/cells").glob(f"{system}/30dB/*/*.json")))
        assert made == (0 if system == "S4" else len(SEARCHED))


def test_several_seeds_in_a_job_give_the_same_runs(first_run, clean):
    path = "data/cells/S1/30dB/ga/bic.json"
    jobs = clean.done(path, *QUICK, "--config", "seeds_per_job=3")
    assert [name for name in jobs if name.startswith("search")] == ["search_1_to_3", "search_4_to_4"]
    single = first_run[0].contents("data/runs/S1/30dB/ga", "data/cells/S1/30dB/ga")
    assert clean.contents("data/runs", "data/cells") == single
    assert "seeds_per_job: found 0" in clean.snakemake(path, "--config", "seeds_per_job=0", code=1)


def test_report_of_the_finished_cells(complete):
    (complete / "data/cells/S1/30dB/ga/bic.json").unlink()
    (complete / "data/runs/S1/30dB/ga/bic/seed-2.json").unlink()
    done = complete.done(*QUICK, "--config", "finished_only=true")
    assert not {"simulate", "search", "aggregate"} & set(done)
    assert "Missing cells" in (complete / "reports/report.html").read_text(encoding="utf-8")
    made = (complete / "reports/made.md").read_text(encoding="utf-8")
    assert "| search | 60 |" in made

"""The plan answers the rules of the workflow: combinations, input functions, definitions."""

import re
from collections.abc import Callable
from importlib import metadata
from pathlib import Path

import pytest

from narxbench._io.errors import NarxbenchError
from narxbench._pipeline.manifest import manifest_csv
from narxbench._pipeline.plan import in_order_of_causes
from narxbench._pipeline.plans import plan_of

SMALL = "systems: [S1]\nsnr_db: [30]\nmethods: {upso2d: {criteria: [bic]}, ga: null}\n"
PROBLEM = "data/{study}/problems/{scenario}/{data_seed}/{system}/{snr}"
RUNS = "data/{study}/runs/{scenario}/{data_seed}/{system}/{snr}/{method}/{criterion}/{seeds}.json"
SUMMARY = "data/{study}/conditions/{scenario}/{data_seed}/{system}/{snr}/{method}/{criterion}.json"
METHOD = "data/{study}/methods/{scenario}/{method}/{criterion}"
# The wildcards of the one condition of SMALL.
CONDITION = {
    "study": "mine",
    "scenario": "as-described",
    "data_seed": "data-1",
    "system": "S1",
    "snr": "30dB",
    "method": "upso2d",
    "criterion": "bic",
}


def touch(*paths: str) -> None:
    for path in map(Path, paths):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()


def test_the_matrix_of_the_paper(folder: Path) -> None:
    paper = plan_of()
    assert paper.page == "reports/report.html"
    runs = paper.matrix.paths(RUNS)
    assert (len(runs), len(paper.matrix.paths(SUMMARY)), len(paper.matrix.paths(PROBLEM))) == (2880, 72, 12)
    assert runs[0] == "data/paper/runs/as-described/data-1/S1/50dB/upso2d/bic/seed-1.json"
    assert runs[-1] == "data/paper/runs/as-described/data-1/S4/30dB/ga/bic/seed-40.json"
    table = paper.matrix.csv().splitlines()
    assert table[0] == "study,scenario,data_seed,system,snr,method,criterion,seeds"
    assert table[-1] == "paper,as-described,data-1,S4,30dB,ga,bic,seed-40" and len(table) == 2881


def test_another_study_has_a_page_in_its_own_folder(plan: Callable) -> None:
    mine = plan("{}")
    assert (mine.name, mine.page) == ("mine", "reports/mine/report.html")


COMPARED = """
kind: methods
systems: [S1]
snr_db: [30]
data: {seeds: 2}
seeds: 3
seeds_per_job: 2
methods: {upso2d: {criteria: [bic]}, ga: null, builder: {algorithm: frols, criteria: [bic]}}
scenarios: {base: {description: plain}}
"""
SCORED = {"study": "mine", "scenario": "base", "system": "S1", "snr": "30dB", "data_seed": "data-1", "criterion": "bic"}


def test_methods_are_compared_problem_by_problem(plan: Callable) -> None:
    compared = plan(COMPARED)
    folder = "data/mine/runs/base/data-1/S1/30dB"
    drawn = [f"{folder}/upso2d/bic/{block}.json" for block in ("seeds-1-to-2", "seed-3")]
    # A method that draws nothing is run once.
    once = f"{folder}/builder/bic/seed-1.json"
    assert compared.scored_runs(RUNS)(SCORED) == [*drawn, once]
    assert compared.seeds_by_method(SCORED) == {"upso2d": [1, 2, 3], "builder": [1]}
    definitions = compared.scored_definitions(METHOD)(SCORED)
    assert [path.split("/")[4] for path in definitions] == ["upso2d", "builder"]
    scores = "data/{study}/scores/{scenario}/{data_seed}/{system}/{snr}/{criterion}.json"
    assert compared.matrix.paths(scores) == [f"data/mine/scores/base/data-{seed}/S1/30dB/bic.json" for seed in (1, 2)]
    about = compared.about_methods()
    assert about["builder"]["deterministic"] and "FROLS" in about["builder"]["description"]


def test_the_last_run_of_a_job_of_each_method_with_a_process_of_its_own_is_made_again(plan: Callable) -> None:
    pytest.importorskip("pymoo")
    compared = plan(COMPARED, "methods={other: {algorithm: pymoo_ga, criteria: [bic]}}")
    assert compared.repeated_methods == ["other"]
    wildcards = {"study": "mine", "method": "other"}
    (run,) = compared.repeated(RUNS)(wildcards)
    assert run == "data/mine/runs/base/data-2/S1/30dB/other/bic/seeds-1-to-2.json"
    assert compared.repeated_seed("other") == 2
    (definition,) = compared.repeated_definition(METHOD)(wildcards)
    assert definition.startswith("data/mine/methods/base/other/bic-")


def test_a_method_whose_package_is_missing_is_left_out(plan: Callable, monkeypatch: pytest.MonkeyPatch) -> None:
    def version(name: str) -> str:
        raise metadata.PackageNotFoundError(name)

    monkeypatch.setattr(metadata, "version", version)
    compared = plan(COMPARED, "methods={lasso: {algorithm: lasso, criteria: [bic]}}")
    assert [c.method for c in compared.conditions if c.problem.data_seed == 1] == ["upso2d", "builder"]
    (reason,) = compared.left_out.values()
    assert "lasso" in compared.left_out and "scikit-learn" in reason and "\n" not in reason


def test_blocks_of_seeds_and_a_data_set_for_each_run(plan: Callable) -> None:
    mine = plan(SMALL + "seeds: [7, 3, 5]\nseeds_per_job: 2\ndata: {realisation: per_run}\n")
    folder = "data/mine/runs/as-described/data-1/S1/30dB/upso2d/bic"
    assert mine.runs(RUNS)(CONDITION) == [f"{folder}/{block}.json" for block in ("seeds-7-to-3", "seed-5")]
    assert mine.seeds_of(CONDITION) == [7, 3, 5]
    job = {**CONDITION, "seeds": "seeds-7-to-3"}
    assert mine.seeds_of(job) == [7, 3]
    data_sets = mine.data_sets(PROBLEM)
    folder = "data/mine/problems/as-described/data-1/S1/30dB"
    assert data_sets(job) == [f"{folder}/realisation-{seed}.csv" for seed in (7, 3)]
    assert len(data_sets(CONDITION)) == 3
    assert mine.recorded(PROBLEM, CONDITION) == []


def test_a_target_that_is_not_in_the_study_ends_with_one_line(plan: Callable) -> None:
    mine = plan(SMALL)
    job = {**CONDITION, "seeds": "seed-41"}
    folder = "data/mine/problems/as-described/data-1/S1"
    targets = {
        "seed-41: not in the study mine (did you mean 'seed-": lambda: mine.seeds_of(job),
        f"{folder}/20dB: not in the study mine (did you mean '{folder}/30dB'?)": (
            lambda: mine.defined(PROBLEM)({**job, "snr": "20dB"})
        ),
        "upso: not in the study mine (did you mean 'upso2d'?)": lambda: mine.runs(RUNS)({**job, "method": "upso"}),
    }
    for reported, call in targets.items():
        with pytest.raises(SystemExit, match=f"^narxbench: {re.escape(reported)}"):
            call()
    compared = plan(COMPARED)
    row = {**compared.matrix.rows[0], "scenario": "plane"}
    with pytest.raises(SystemExit, match=r"^narxbench: plane/data-1/.*: not in the study mine"):
        compared.scored_methods(row)


def test_runs_that_share_four_data_sets(plan: Callable) -> None:
    mine = plan(SMALL + "seeds: 6\nseeds_per_job: 6\ndata: {realisation: four}\n")
    names = [path.rpartition("/")[2] for path in mine.data_sets(PROBLEM)(CONDITION)]
    assert names == [f"realisation-{number}.csv" for number in (1, 2, 3, 4, 1, 2)]


def test_a_recorded_input_belongs_to_the_definition_of_its_problem(plan: Callable) -> None:
    recorded = SMALL + "data: {excitation: {kind: recorded, file: own.csv}}"
    files = []
    for value in ("0.5\n", "0.25\n"):
        Path("own.csv").write_text("u\n" + value * 2100)
        mine = plan(recorded)
        files.append(mine.file_of("data/mine/problems/as-described/data-1/S1/30dB"))
        assert mine.recorded(PROBLEM, mine.matrix.rows[0]) == ["own.csv"]
    assert files[0] != files[1]
    # What wildcards can say is no function.
    assert mine.data_sets(PROBLEM) == f"{PROBLEM}.csv"


def test_an_interpretation_has_data_sets_of_its_own(folder: Path) -> None:
    study = plan_of(["config/interpretations.yaml"])
    options = {"input=uniform-1.73", "snr-of=power", "velocity-bound=1.75", "restart-count=reset"}
    row = next(row for row in study.matrix.rows if {*row["scenario"].split("+")} == options)
    (data,) = study.sources(SUMMARY, problem=PROBLEM, runs=RUNS)[study.matrix.rows.index(row)][1]
    assert data == f"data/interpretations/problems/{row['scenario']}/data-1/S1/50dB.csv"


@pytest.mark.parametrize(
    ("setting", "prefixes"),
    [
        ("statistics={threshold: 0.8}", {"steps/summarise/bic"}),
        ("methods={upso2d: {settings: {swarm_size: 20}}}", {"methods/as-described/upso2d/bic"}),
        ("data={washout: 90}", {"problems/as-described/data-1/S1/30dB"}),
        ("evaluations=900", {"methods/as-described/upso2d/bic"}),
        ("seeds=3", set()),
    ],
)
def test_a_setting_changes_the_definitions_that_depend_on_it(plan: Callable, setting: str, prefixes: set[str]) -> None:
    before, after = plan(SMALL), plan(SMALL, setting)
    changed = set()
    for path, file in before._files.items():
        if after.file_of(path) != file:
            changed.add(path.removeprefix("data/mine/"))
    assert changed == prefixes


def test_a_definition_under_another_digest_is_none_of_the_study(plan: Callable) -> None:
    planned = plan(SMALL)
    file = planned.file_of("data/mine/problems/as-described/data-1/S1/30dB")
    assert planned.content(file)["settings"]["simulation"]["snr_db"] == 30.0
    made_up = "data/mine/problems/as-described/data-1/S1/30dB-0123456789abcdef.json"
    with pytest.raises(SystemExit, match=f"^narxbench: {made_up}: not in the study mine"):
        planned.content(made_up)


def test_finished_only(plan: Callable) -> None:
    with pytest.raises(SystemExit, match=r"^narxbench: .*finished_only: found no complete condition; "):
        plan(SMALL, "finished_only=true").keep_finished(SUMMARY, RUNS)
    with pytest.raises(NarxbenchError, match=r"^command line \(--config\): finished_only: found 'yes'; allowed: "):
        plan(SMALL, "finished_only=yes")
    criteria = "methods={upso2d: {criteria: [bic, aic-2]}}"
    whole = plan(SMALL + "seeds: 2\n", criteria)
    whole.keep_finished(SUMMARY, RUNS)
    summaries = whole.matrix.paths(SUMMARY)
    touch(*summaries, *(path for path in whole.matrix.paths(RUNS) if "/bic/" in path))
    some = plan(SMALL + "seeds: 2\n", criteria, "finished_only=True")
    some.keep_finished(SUMMARY, RUNS)
    assert some.matrix.paths(SUMMARY) == summaries[:1]
    assert (len(summaries), some.settings) == (2, whole.settings)


def test_summaries_stand_for_their_data_sets_and_runs_unless_these_are_lost(plan: Callable) -> None:
    mine = plan(SMALL + "seeds: 2\ndata: {realisation: per_run}\n")
    sources = mine.sources(SUMMARY, problem=PROBLEM, runs=RUNS)
    (summary,) = mine.matrix.paths(SUMMARY)
    data = [f"data/mine/problems/as-described/data-1/S1/30dB/realisation-{seed}.csv" for seed in (1, 2)]
    runs = mine.matrix.paths(RUNS)
    assert in_order_of_causes(sources, [summary]) == [*data, *runs, summary]
    # Without the summary they are made for it.
    assert mine.lost(sources) == []
    touch(summary, *data, *runs)
    assert mine.lost(sources) == []
    for path in (data[1], runs[0]):
        Path(path).unlink()
    assert mine.lost(sources) == [data[1], runs[0]]


def test_results_below_the_prefix_of_a_module(plan: Callable) -> None:
    mine = plan(SMALL)
    mine.locate("results/reports/mine/manifest.csv")
    assert mine.placed(["data/mine/a.csv"]) == {"data/mine/a.csv": "results/data/mine/a.csv"}


@pytest.mark.parametrize(("path", "former"), [("S1/30dB/ga", "data/mine/runs/S1"), ("as-described/data-1/S1", "")])
def test_runs_under_paths_of_an_earlier_version_are_named(plan: Callable, path: str, former: str) -> None:
    Path("data/mine/runs", path).mkdir(parents=True)
    assert plan(SMALL).former_results() == former


def test_to_verify(plan: Callable) -> None:
    mine = plan(SMALL)
    manifest = Path("reports/mine/manifest.csv")
    with pytest.raises(SystemExit, match=r"^narxbench: verify: there is no manifest reports/mine/manifest.csv"):
        mine.to_verify([], ["page"])
    touch(str(manifest))
    manifest.write_text(manifest_csv({}, mine.made_with))
    assert (mine.reference(), mine.to_verify([], ["page"])) == (str(manifest), [])
    with pytest.raises(SystemExit, match=r"narxbench: verify: .*: evaluations: found 900; needed: 6000$"):
        plan(SMALL, "evaluations=900").to_verify([], ["page"])
    assert kept_of(mine, "reports/mine/tables/a.md") == ["data/reference/mine/a.md"]
    assert kept_of(mine, "reports/mine/interpretations/a.csv") == ["data/reference/mine/interpretations/a.csv"]


def kept_of(plan: object, path: str) -> list[str]:
    """Return the reference results that are copies of a result, without the folder of the project."""
    return [kept[kept.index("data/reference") :] for kept in plan.kept_files([path])]  # type: ignore[attr-defined]


def test_resources_grow_with_the_runs_of_a_job(plan: Callable) -> None:
    few, many = plan(SMALL), plan(SMALL, "evaluations=4000000", "seeds_per_job=40")
    assert (few.memory_mb("upso2d"), few.minutes()) == (1000, 60)
    assert many.minutes() > 60

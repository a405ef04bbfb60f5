"""The plan answers the rules: the combinations of the settings, what each is made with, and what all of it costs."""

from importlib import metadata
from pathlib import Path
from types import SimpleNamespace

import pytest
from tests.lookups import values_of
from tests.unit.algorithms.plugins import install

from narxbench import NarxbenchError
from narxbench._pipeline.comparison import ComparisonPlan
from narxbench._pipeline.manifest import manifest_csv, other_settings
from narxbench._pipeline.plan import ROOT, plan_of
from narxbench._pipeline.reference import kept_files, kept_manifest, to_verify
from narxbench._pipeline.sources import Sources

SMALL = "systems: [S1]\nsnr_db: [30]\nmethods: {upso2d: {criteria: [bic]}, ga: null}\n"
PROBLEM = "data/{study}/problems/{scenario}/{data_seed}/{system}/{snr}"
RUNS = "data/{study}/runs/{scenario}/{data_seed}/{system}/{snr}/{method}/{criterion}/{seeds}.json"
SUMMARY = "data/{study}/conditions/{scenario}/{data_seed}/{system}/{snr}/{method}/{criterion}.json"
SCORE = "data/{study}/scores/{scenario}/{data_seed}/{system}/{snr}/{criterion}.json"
# The wildcards of the one condition of SMALL.
CONDITION = {"study": "mine", "scenario": "as-described", "data_seed": "data-1", "system": "S1", "snr": "30dB"}
CONDITION |= {"method": "upso2d", "criterion": "bic"}


class Wildcards(SimpleNamespace):
    """Wildcards as Snakemake gives them: attributes, and items as a mapping has them."""

    def items(self):
        return vars(self).items()


def paths(plan, pattern):
    """Return the paths that a pattern with wildcards represents, each once."""
    return list(dict.fromkeys(map(pattern.format_map, plan.jobs)))


def sources_of(plan, folder=""):
    return Sources(plan, folder, summary=SUMMARY, problem=PROBLEM, runs=RUNS)


def touch(*paths):
    for path in map(Path, paths):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()


def test_the_jobs_of_the_paper(folder):
    paper = plan_of()
    runs = paths(paper, RUNS)
    assert (len(runs), len(paths(paper, SUMMARY)), len(paths(paper, PROBLEM))) == (2880, 72, 12)
    assert runs[0] == "data/paper/runs/as-described/data-1/S1/50dB/upso2d/bic/seed-1.json"
    assert runs[-1] == "data/paper/runs/as-described/data-1/S4/30dB/ga/bic/seed-40.json"
    assert paper.estimate.line().startswith("2880 searches, about ")
    # The results that the repository keeps are of these settings.
    assert other_settings(ROOT / "data/reference/paper/manifest.csv", paper.made_with) == []
    assert [*paper.jobs[0]] == ["study", "scenario", "data_seed", "system", "snr", "method", "criterion", "seeds"]


COMPARED = """
kind: methods
systems: [S1]
snr_db: [30]
data: {seeds: 2}
seeds: 3
seeds_per_job: 2
methods:
  upso2d: {criteria: [bic]}
  ga: null
  builder: {algorithm: frols, criteria: [bic]}
  slow: {algorithm: frols, criteria: [bic], limits: {candidates: 50}}
scenarios: {base: {description: plain}}
"""
SCORED = {"study": "mine", "scenario": "base", "system": "S1", "snr": "30dB", "data_seed": "data-1", "criterion": "bic"}


def test_methods_are_compared_problem_by_problem(plan):
    planned = plan(COMPARED)
    compared, scored = ComparisonPlan(planned), Wildcards(**SCORED)
    folder = "data/mine/runs/base/data-1/S1/30dB"
    drawn = [f"{folder}/upso2d/bic/{block}.json" for block in ("seeds-1-to-2", "seed-3")]
    # A method that draws nothing is run once.
    once = f"{folder}/builder/bic/seed-1.json"
    assert compared.scored_runs(RUNS, scored) == [*drawn, once]
    assert planned.estimate.searches == 2 * 4
    methods = compared.methods(scored)
    assert {name: method["seeds"] for name, method in methods.items()} == {"upso2d": [1, 2, 3], "builder": [1]}
    problem = compared.problem(scored)
    assert problem["problem"]["scenario"] == "base" and "method" not in problem["problem"]
    assert problem["structure"] == planned.problem(scored).structure
    assert paths(planned, SCORE) == [f"data/mine/scores/base/data-{seed}/S1/30dB/bic.json" for seed in (1, 2)]
    # A method that would need too long is scored and not run.
    (slow,) = problem["too_slow"].values()
    assert (slow["algorithm"], slow["minimises"]) == ("frols", False)


def test_the_last_run_of_a_job_of_each_method_with_a_process_of_its_own_is_made_again(
    plan, monkeypatch, tmp_path_factory
):
    install(monkeypatch, tmp_path_factory.mktemp("site"))
    planned = plan(COMPARED, "methods={other: {algorithm: honest_annealing, criteria: [bic]}}")
    compared = ComparisonPlan(planned)
    assert compared.repeated_methods == ["other"]
    again = compared.repeated(Wildcards(study="mine", method="other"))
    assert RUNS.format(**vars(again)) == "data/mine/runs/base/data-2/S1/30dB/other/bic/seeds-1-to-2.json"
    assert planned.seeds(again) == [1, 2]
    assert planned.run(again)["algorithm"] == "honest_annealing"
    with pytest.raises(SystemExit, match=r"^narxbench: upso2d: not in the study mine"):
        compared.repeated(Wildcards(study="mine", method="upso2d"))


def test_a_method_whose_package_is_missing_is_left_out(plan, monkeypatch):
    def version(name):
        raise metadata.PackageNotFoundError(name)

    monkeypatch.setattr(metadata, "version", version)
    compared = plan(COMPARED, "methods={lasso: {algorithm: adaptive_lasso, criteria: [bic]}}")
    methods = [c.method for c in compared.conditions.values() if c.problem.data_seed == 1]
    assert methods == ["upso2d", "builder"]
    (reason,) = compared.left_out.values()
    assert "lasso" in compared.left_out and "scikit-learn" in reason and "\n" not in reason


def test_blocks_of_seeds_and_a_data_set_for_each_run(plan):
    mine = plan(SMALL + "seeds: [7, 3, 5]\nseeds_per_job: 2\ndata: {realisation: per_run}\n")
    condition, blocks = Wildcards(**CONDITION), ["seeds-7-to-3", "seed-5"]
    assert mine.blocks("upso2d") == values_of(mine.jobs, "seeds") == blocks
    assert mine.seeds(condition) == [7, 3, 5]
    job = Wildcards(**CONDITION, seeds="seeds-7-to-3")
    assert mine.seeds(job) == [7, 3]
    data_sets = mine.data_sets(PROBLEM)
    folder = "data/mine/problems/as-described/data-1/S1/30dB"
    assert data_sets(job) == [f"{folder}/realisation-{seed}.csv" for seed in (7, 3)]
    assert len(data_sets(condition)) == 3
    assert mine.problem(condition).recorded_files == []


def test_a_target_that_is_not_in_the_study_ends_with_one_line(plan):
    mine = plan(SMALL)
    name = "as-described/data-1/S1"
    with pytest.raises(SystemExit, match=rf"^narxbench: {name}/30dB/upso/bic: not in the study mine \(did you mean "):
        mine.run(Wildcards(**{**CONDITION, "method": "upso"}))


def test_runs_that_share_four_data_sets(plan):
    mine = plan(SMALL + "seeds: 6\nseeds_per_job: 6\ndata: {realisation: four}\n")
    names = [path.rpartition("/")[2] for path in mine.data_sets(PROBLEM)(Wildcards(**CONDITION))]
    assert names == [f"realisation-{number}.csv" for number in (1, 2, 3, 4, 1, 2)]
    # What wildcards can say is no function.
    assert plan(SMALL).data_sets(PROBLEM) == f"{PROBLEM}.csv"


def test_a_recorded_input_is_that_of_its_problem(plan):
    Path("own.csv").write_text("u\n" + "0.5\n" * 2100)
    mine = plan(SMALL + "data: {excitation: {kind: recorded, file: own.csv}}")
    assert mine.problem(Wildcards(**CONDITION)).recorded_files == ["own.csv"]


def test_finished_only(plan):
    with pytest.raises(SystemExit, match=r"^narxbench: .*finished_only: found no complete condition; "):
        plan(SMALL, "finished_only=true").keep_finished(SUMMARY, RUNS)
    with pytest.raises(NarxbenchError, match=r"^command line \(--config\): finished_only: found 'yes'; allowed: "):
        plan(SMALL, "finished_only=yes")
    criteria = "methods={upso2d: {criteria: [bic, aic-2]}}"
    whole = plan(SMALL + "seeds: 2\n", criteria)
    whole.keep_finished(SUMMARY, RUNS)
    summaries = paths(whole, SUMMARY)
    touch(*summaries, *(path for path in paths(whole, RUNS) if "/bic/" in path))
    some = plan(SMALL + "seeds: 2\n", criteria, "finished_only=True")
    some.keep_finished(SUMMARY, RUNS)
    assert paths(some, SUMMARY) == summaries[:1]
    assert (len(summaries), some.settings) == (2, whole.settings)


def test_to_verify(plan):
    mine, manifest = plan(SMALL), "reports/mine/manifest.csv"
    with pytest.raises(SystemExit, match=r"^narxbench: verify: there is no manifest reports/mine/manifest.csv"):
        to_verify(mine, sources_of(mine), manifest, ["page"])
    touch(manifest)
    Path(manifest).write_text(manifest_csv({}, mine.made_with))
    assert kept_manifest("mine", mine.made_with, manifest) == manifest
    assert to_verify(mine, sources_of(mine), manifest, ["page"]) == []
    changed = plan(SMALL, "evaluations=900")
    with pytest.raises(SystemExit, match=r"narxbench: verify: .*: evaluations: found 900; needed: 6000$"):
        to_verify(changed, sources_of(changed), manifest, ["page"])
    assert kept_of("reports/mine/tables/a.md") == ["data/reference/mine/a.md"]
    assert kept_of("reports/mine/interpretations/a.csv") == ["data/reference/mine/interpretations/a.csv"]


def kept_of(path):
    """Return the reference results that are copies of a result, without the folder of the project."""
    return [kept[kept.index("data/reference") :] for kept in kept_files("mine", [path])]


def test_resources_grow_with_the_runs_of_a_job(plan):
    few, many = plan(SMALL), plan(SMALL, "evaluations=4000000", "seeds_per_job=40")
    assert 1000 < few.memory_mb("upso2d") < 1010 and few.minutes == 60
    assert many.minutes > 60


# What it costs

GB = 1e9
TWO_SYSTEMS = "kind: methods\n" + SMALL.replace("[S1]", "[S1, S2]") + "scenarios: {base: {description: plain}}\n"


@pytest.mark.parametrize(
    ("text", "setting", "place"),
    [
        (SMALL, "evaluations=10000000", "evaluations: found 10000000, with which a search of upso2d on S1 would take"),
        (SMALL, "data={samples: 10000000}", "data.samples: found 10000000, with which a search of upso2d on S1 would"),
        (SMALL, "seeds=100000", "seeds: found 100000, with which planning would take about"),
        (TWO_SYSTEMS, "scenarios={base: {description: x, n_u: 48, n_y: 48}}", "scenarios.base: candidate terms of S1"),
    ],
)
def test_more_than_the_machine_has(plan, monkeypatch, text, setting, place):
    monkeypatch.setattr("narxbench._io.resources.memory_of_machine", lambda: 0.7 * GB)
    plan(text)  # an ordinary study fits
    with pytest.raises(NarxbenchError) as error:
        plan(text, setting)
    message = str(error.value)
    assert message.startswith(place) and message.endswith(" GB of memory; allowed: up to 0.7 GB on this machine")


def test_cores_that_together_take_too_much(plan, monkeypatch):
    monkeypatch.setattr("narxbench._io.resources.memory_of_machine", lambda: 4 * GB)
    estimate = plan(SMALL, "evaluations=1000000", "seeds=100").estimate
    estimate.refuse(cores=4)
    with pytest.raises(NarxbenchError, match=r"^evaluations: found .* of memory with --cores 64; allowed: up to 4.0"):
        estimate.refuse(cores=64)

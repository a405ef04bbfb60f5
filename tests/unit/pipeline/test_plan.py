"""A study as files."""

from collections.abc import Callable
from importlib import metadata
from pathlib import Path

import pytest

from narxbench._io.errors import NarxbenchError
from narxbench._pipeline.manifest import manifest_csv
from narxbench._pipeline.plans import plan_of

SMALL = "systems: [S1]\nsnr_db: [30]\nmethods: {upso2d: {criteria: [bic]}, ga: null}\n"


def made(*paths: str) -> None:
    for path in map(Path, paths):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()


def test_files_of_the_paper(plan: Callable) -> None:
    paper = plan_of()
    assert (paper.page, paper.manifest) == ("reports/report.html", "reports/paper/manifest.csv")
    results = paper.results()
    assert len(results) == len(set(results))
    for kind, count in (("problems", 12), ("runs", 2880), ("conditions", 72), ("frames", len(paper.frames))):
        assert sum(path.startswith(f"data/paper/{kind}/") for path in results) == count
    assert results[0] == "data/paper/problems/S1/50dB.csv" and set(paper.pages) <= set(results)
    assert "data/paper/runs/S4/30dB/ga/bic/seed-40.json" in results
    other = plan("{}")
    assert (other.study.study, other.page) == ("mine", "reports/mine/report.html")
    # The door stands above the folder of its study; every other page is in it.
    assert paper.pages[1:] == [page.replace("mine", "paper") for page in other.pages[1:]]
    assert {Path(page).parent for page in other.pages} == {Path("reports/mine")}
    assert not set(other.results()) & set(results)


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


def test_methods_are_compared_problem_by_problem(plan: Callable) -> None:
    compared = plan(COMPARED)
    problem = "base/S1/30dB/data-1/bic"
    drawn = [f"data/mine/runs/base/S1/30dB/data-1/upso2d/bic/{block}.json" for block in ("seeds-1-to-2", "seed-3")]
    # What draws nothing is run once.
    once = "data/mine/runs/base/S1/30dB/data-1/builder/bic/seed-1.json"
    found = {"runs": [*drawn, once], "data": ["data/mine/problems/base/S1/30dB/data-1.csv"]}
    assert compared.compared(problem) == found
    assert compared.summaries == [f"data/mine/scores/base/S1/30dB/data-{seed}/bic.json" for seed in (1, 2)]
    scoring = compared.scoring(problem)
    assert scoring["runs"] == {"upso2d": drawn, "builder": [once]}
    found = {name: (m["seeds"], m["deterministic"], m["stops_early"]) for name, m in scoring["methods"].items()}
    assert found == {"upso2d": ([1, 2, 3], False, False), "builder": ([1], True, True)}
    assert scoring["problem"]["scenario"] == "base" and "method" not in scoring["problem"]
    results = compared.results()
    assert len(results) == len(set(results)) and {*compared.summaries, *compared.documents} <= {*results}
    assert not any("interpretations" in path for path in results)
    about = compared.about_methods()
    assert about["builder"]["deterministic"] and "FROLS" in about["builder"]["description"]


def test_the_last_run_of_a_job_of_each_method_with_a_process_of_its_own_is_made_again(plan: Callable) -> None:
    pytest.importorskip("pymoo")
    compared = plan(COMPARED, "methods={other: {algorithm: pymoo_ga, criteria: [bic]}}")
    assert compared.page_files["repeats"] == ["data/mine/repeats/other.json"]
    found = compared.repeated("other")
    assert found["run"] == "data/mine/runs/base/S1/30dB/data-2/other/bic/seeds-1-to-2.json"
    assert found["data"] == ["data/mine/problems/base/S1/30dB/data-2.csv"]
    assert (found["repeat"]["seed"], found["repeat"]["run"]["algorithm"]) == (2, "pymoo_ga")
    # Its time is another each time.
    assert not any("repeats" in path for path in [*compared.results(), *compared.input_files])


def test_a_method_whose_package_is_missing_is_left_out(plan: Callable, monkeypatch: pytest.MonkeyPatch) -> None:
    def version(name: str) -> str:
        raise metadata.PackageNotFoundError(name)

    monkeypatch.setattr(metadata, "version", version)
    compared = plan(COMPARED, "methods={lasso: {algorithm: lasso, criteria: [bic]}}")
    assert [c.method for c in compared.conditions if c.problem.data_seed == 1] == ["upso2d", "builder"]
    (reason,) = compared.left_out.values()
    assert "lasso" in compared.left_out and "scikit-learn" in reason and "\n" not in reason


def test_blocks_of_seeds_and_data_of_their_own(plan: Callable) -> None:
    own = plan(SMALL + "seeds: [7, 3, 5]\nseeds_per_job: 2\ndata: {realisation: per_run}\n")
    name = "S1/30dB/upso2d/bic"
    assert own.blocks[name] == {"seeds-7-to-3": [7, 3], "seed-5": [5]}
    assert own.run_files[name] == [f"data/mine/runs/{name}/{block}.json" for block in ("seeds-7-to-3", "seed-5")]
    data = [f"data/mine/problems/S1/30dB/realisation-{seed}.csv" for seed in (7, 3, 5)]
    assert (own.data_files(name), own.data_files(name, [3])) == (data, data[1:2])
    assert [simulation["realisation"] for simulation in own.simulations.values()] == [7, 3, 5]
    assert own.recorded["S1/30dB/realisation-3"] == []
    Path("own.csv").write_text("u\n" + "0.5\n" * 2100)
    recorded = plan(SMALL + "data: {excitation: {kind: recorded, file: own.csv}}")
    assert recorded.recorded["S1/30dB"] == ["own.csv"]
    assert own.code("search", "ga") == own.code("search", "ga") != own.code("search")


def test_finished_only(plan: Callable) -> None:
    with pytest.raises(NarxbenchError, match="finished_only: found no complete condition; repeat it without"):
        plan(SMALL, "finished_only=true")
    with pytest.raises(NarxbenchError, match=r"^command line \(--config\): finished_only: found 'yes'; allowed: "):
        plan(SMALL, "finished_only=yes")
    criteria = "methods={upso2d: {criteria: [bic, aic-2]}}"
    whole = plan(SMALL + "seeds: 2\n", criteria)
    made(*whole.run_files["S1/30dB/upso2d/bic"], *whole.summaries)
    some = plan(SMALL + "seeds: 2\n", criteria, "finished_only=True")
    assert [condition.name for condition in some.conditions] == ["S1/30dB/upso2d/bic"]
    assert (len(whole.conditions), len(some.all_conditions), some.settings) == (2, 2, whole.settings)


def test_summaries_stand_for_their_data_sets_and_runs_unless_these_are_lost(plan: Callable) -> None:
    mine = plan(SMALL + "seeds: 2\ndata: {realisation: per_run}\n")
    name = "S1/30dB/upso2d/bic"
    sources = [*mine.data_files(name), *mine.run_files[name]]
    assert mine.results() == [*sources, *mine.from_summaries]
    assert mine.from_summaries[0] == mine.summary_file(mine.by_name[name])
    # Without the summary they are made for it.
    assert (len(sources), mine.lost()) == (4, [])
    made(mine.summary_file(mine.by_name[name]), *sources)
    assert mine.lost() == []
    for path in (sources[1], sources[2]):
        Path(path).unlink()
    assert mine.lost() == sources[1:3]


def test_to_verify(plan: Callable) -> None:
    mine = plan(SMALL)
    with pytest.raises(SystemExit, match=r"^narxbench: verify: there is no manifest reports/mine/manifest.csv"):
        mine.to_verify()
    Path(mine.reports).mkdir(parents=True)
    Path(mine.manifest).write_text(manifest_csv({}, mine.made_with))
    assert (mine.reference, mine.to_verify()) == (mine.manifest, [])
    Path(mine.kept).mkdir(parents=True)
    Path(mine.kept, "manifest.csv").write_text(manifest_csv({}, mine.made_with))
    assert mine.to_verify() == mine.from_summaries
    with pytest.raises(SystemExit, match=r"narxbench: verify: .*: evaluations: found 900; needed: 6000$"):
        plan(SMALL, "evaluations=900").to_verify()


def test_kept_results(plan: Callable) -> None:
    for study in (plan(SMALL), plan_of(["config/interpretations.yaml"])):
        kept = study.kept_files()
        assert len(set(kept.values())) == len(kept) > 1 and {*kept.values()} <= {*study.results(), study.manifest}
        assert all(path.startswith(f"{study.kept}/") for path in kept)

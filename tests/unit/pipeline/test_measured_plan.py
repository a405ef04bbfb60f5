"""A study of measured data as files."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from narxbench._io.errors import NarxbenchError
from narxbench._pipeline.measured_plan import MeasuredPlan
from narxbench._pipeline.paper_plan import PaperPlan
from narxbench._pipeline.plans import plan_of

OWN = """
kind: measured
data: {files: ./mine.csv, input: u, output: y, test: test.csv}
identification: {degree: [1, 2], y_lags: 2, u_lags: 2, seeds: 3, blocks: 4, resamples: 2}
"""


@pytest.fixture(autouse=True)
def data(folder: Path) -> None:
    """Write what is to be identified."""
    for seed, name in enumerate(("mine.csv", "test.csv"), 1):
        u = np.random.default_rng(seed).uniform(size=200)
        y = np.convolve(u, [0, 1, 0.5])[:200]
        np.savetxt(name, np.column_stack([u, y]), delimiter=",", header="u,y", comments="")


def test_files_and_jobs(plan: Callable) -> None:
    own = plan(OWN)
    assert (own.page, own.manifest) == ("reports/mine/report.html", "reports/mine/manifest.csv")
    assert own.input_files == ["mine.csv", "test.csv"]
    assert own.briefs[0] == f"data/mine/brief/{own.scan.configurations[0].name}.json"
    assert len(own.briefs) == len(own.scan.configurations) == len(set(own.configurations.values()))
    ranks = min(6, len(own.briefs))
    # Every seed of every search is a job of its own: three on all data, one without each part.
    jobs = [(0, 1), (0, 2), (0, 3), (1, 1), (2, 1), (3, 1), (4, 1)]
    wanted = [f"rank-{rank}/part-{part}/seed-{seed}" for rank in range(1, ranks + 1) for part, seed in jobs]
    assert own.searches == [f"data/mine/thorough/{name}.json" for name in wanted]
    assert own.resampled == ["data/mine/resampled/1.json", "data/mine/resampled/2.json"]
    assert plan(OWN, "identification={resamples: 0}").resampled == []
    results = own.results()
    assert len(results) == len(set(results)) and results[:2] == own.input_files
    assert results[-len(own.from_summaries) :] == own.from_summaries
    assert own.kept_files() == {
        "data/reference/mine/identification.json": "reports/mine/identification.json",
        "data/reference/mine/manifest.csv": "reports/mine/manifest.csv",
    }


def test_names_of_many_lags_are_no_longer_than_those_of_files(plan: Callable) -> None:
    lags = [*range(1, 48, 2)]
    own = plan(OWN, f"identification={{y_lags: {lags}, u_lags: {lags}, degree: 1, decimation: 1}}")
    assert len(own.configurations) == len(own.scan.configurations)
    assert all(len(Path(path).name) < 110 for path in own.briefs)
    assert max(map(len, own.configurations.values())) > 110


def test_settings_tell_the_kind_of_a_study(plan: Callable) -> None:
    assert isinstance(plan("data: {files: mine.csv, output: y}", "kind=measured"), MeasuredPlan)
    assert isinstance(plan_of(), PaperPlan)
    with pytest.raises(NarxbenchError, match=r"^mine.yaml: kind: missing; allowed: "):
        plan("data: {files: mine.csv, output: y}\nidentification: {seeds: 2}")
    with pytest.raises(
        NarxbenchError, match=r"^command line \(--config\): finished_only: unknown key; allowed: study, "
    ):
        plan(OWN, "finished_only=true")
    # Of the profiles for clusters.
    assert plan(OWN, "seeds_per_job=50").settings == plan(OWN).settings


def test_lost_searches_are_asked_for_next_to_the_report(plan: Callable) -> None:
    own = plan(OWN)
    assert own.lost() == []
    Path(own.page).parent.mkdir(parents=True)
    Path(own.page).touch()
    assert own.lost() == own.sources[0][1][2:]

"""A study of measured data as files."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from tests.lookups import names_of

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


def test_jobs(plan: Callable) -> None:
    mine = plan(OWN)
    assert mine.page == "reports/mine/report.html"
    assert mine.input_files == ["mine.csv", "test.csv"]
    assert list(mine.configurations.values()) == names_of(mine.scan.configurations)
    assert list(mine.ranks) == list(range(1, 1 + min(6, len(mine.configurations))))
    # Every seed of every search is a job of its own: three on all data, one without each part.
    assert mine.jobs == [(0, 1), (0, 2), (0, 3), (1, 1), (2, 1), (3, 1), (4, 1)]
    assert list(mine.resamples) == [1, 2]
    assert list(plan(OWN, "identification={resamples: 0}").resamples) == []


def test_steps_depend_on_settings_and_data(plan: Callable) -> None:
    path = "data/mine/steps/brief_search"
    file = plan(OWN).file_of(path)
    assert plan(OWN).file_of(path) == file
    assert plan(OWN, "identification={seeds: 2}").file_of(path) != file
    Path("mine.csv").write_text(Path("mine.csv").read_text() + "0.5,0.5\n")
    assert plan(OWN).file_of(path) != file


def test_names_of_many_lags_are_no_longer_than_those_of_files(plan: Callable) -> None:
    lags = [*range(1, 48, 2)]
    mine = plan(OWN, f"identification={{y_lags: {lags}, u_lags: {lags}, degree: 1, decimation: 1}}")
    assert len(mine.configurations) == len(mine.scan.configurations)
    assert max(map(len, mine.configurations)) < 105
    assert max(map(len, mine.configurations.values())) > 110


def test_settings_tell_the_kind_of_a_study(plan: Callable) -> None:
    assert isinstance(plan("data: {files: mine.csv, output: y}", "kind=measured"), MeasuredPlan)
    assert isinstance(plan_of(), PaperPlan)
    with pytest.raises(NarxbenchError, match=r"^mine.yaml: kind: missing; allowed: "):
        plan("data: {files: mine.csv, output: y}\nidentification: {seeds: 2}")
    with pytest.raises(
        NarxbenchError, match=r"^command line \(--config\): finished_only: unknown key; allowed: study, "
    ):
        plan(OWN, "finished_only=true")

"""A study reports its searches and their time before any job, and refuses in one line what memory cannot hold."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from narxbench._io.errors import NarxbenchError
from narxbench._io.resources import memory_of_machine
from narxbench._pipeline.estimate import Estimate
from narxbench._pipeline.plan import plan_of

GB = 1e9
SMALL = "systems: [S1]\nsnr_db: [30]\nmethods: {upso2d: {criteria: [bic]}, ga: null}\n"
COMPARED = "kind: methods\n" + SMALL.replace("[S1]", "[S1, S2]") + "scenarios: {base: {description: plain}}\n"
COUNTED = """
kind: methods
systems: [S1, S2]
snr_db: [30, 40]
data: {seeds: 3}
seeds: 5
seeds_per_job: 2
methods: {upso2d: {criteria: [aic-2]}, ga: null, frols: {algorithm: frols, criteria: [bic]}}
scenarios: {base: {description: x}, own: {description: x, systems: [S2], seeds: 2, snr_db: [10, 20, 30]}}
"""
Planned = Callable[..., Estimate]


@pytest.fixture
def planned(plan: Callable) -> Planned:
    """Return the estimate of the overlay ``mine.yaml``."""
    return lambda *texts: plan(*texts).estimate


@pytest.mark.parametrize(
    "text", ["{}", SMALL + "seeds: [7, 3, 5]\nseeds_per_job: 2\ndata: {realisation: per_run}\n", COUNTED, "varied"]
)
def test_searches_are_those_of_the_matrix(planned: Planned, text: str) -> None:
    estimate = planned(Path("config/interpretations.yaml").read_text() if text == "varied" else text)
    plan = plan_of(["mine.yaml"])
    assert estimate.searches == sum(len(plan.block(job["seeds"])) for job in plan.jobs)
    assert estimate.line().startswith(f"{estimate.searches} searches, about ")


@pytest.mark.parametrize(
    ("text", "setting", "place"),
    [
        (SMALL, "evaluations=10000000", "evaluations: found 10000000, with which a search of upso2d on S1 would take"),
        (SMALL, "data={samples: 10000000}", "data.samples: found 10000000, with which a search of upso2d on S1 would"),
        (SMALL, "data={washout: 10000000}", "data.washout: found 10000000, with which the simulation of S1 would take"),
        (SMALL, "seeds=100000", "seeds: found 100000, with which planning would take about"),
        pytest.param(
            COMPARED,
            "data={seeds: 30000}",
            "data.seeds: found 30000, with which planning",
            marks=pytest.mark.slow,
        ),
        (COMPARED, "scenarios={base: {description: x, n_u: 48, n_y: 48}}", "scenarios.base: candidate terms of S1: f"),
    ],
)
def test_more_than_the_machine_has(
    planned: Planned, monkeypatch: pytest.MonkeyPatch, text: str, setting: str, place: str
) -> None:
    monkeypatch.setattr("narxbench._io.resources.memory_of_machine", lambda: 0.7 * GB)
    planned(text)  # an ordinary study fits
    with pytest.raises(NarxbenchError) as error:
        planned(text, setting)
    message = str(error.value)
    assert message.startswith(place) and message.endswith(" GB of memory; allowed: up to 0.7 GB on this machine")


def test_cores_that_together_take_too_much(planned: Planned, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("narxbench._io.resources.memory_of_machine", lambda: 4 * GB)
    estimate = planned(SMALL, "evaluations=1000000", "seeds=100")
    estimate.refuse(cores=4)
    with pytest.raises(NarxbenchError, match=r"^evaluations: found .* of memory with --cores 64; allowed: up to 3.8"):
        estimate.refuse(cores=64)


def test_memory_is_that_of_the_machine_or_less() -> None:
    assert 0 < memory_of_machine() <= os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")

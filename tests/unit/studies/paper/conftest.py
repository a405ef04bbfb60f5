"""Runs of the paper's study that many tests look at."""

import pytest
from tests.unit.studies.paper.runs import Run
from tests.unit.studies.paper.summaries import paper_summaries


@pytest.fixture(scope="session")
def complete(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """Return a run with all that the paper has."""
    return Run(tmp_path_factory.mktemp("complete"), paper_summaries())


@pytest.fixture(scope="session")
def small(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """Return a run of one system of the paper."""
    return Run(tmp_path_factory.mktemp("small"), paper_summaries(("S1",)))

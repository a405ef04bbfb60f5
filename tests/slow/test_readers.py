"""Damaged files of the steps of other studies than those of tests/workflow/test_readers.py."""

import pytest
from tests.workflow.jobs import jobs_of
from tests.workflow.test_measured import MINE
from tests.workflow.test_readers import try_damages

pytestmark = pytest.mark.slow

BOARD = """\
page: methods
interpretation: as-described
systems: [S1, piroddi2003]
snr_db: [40]
seeds: 2
seeds_per_job: 2
evaluations: 300
data: {seeds: 1}
methods:
  upso2d: {criteria: [bic]}
  ga: {criteria: [bic]}
  frols: {algorithm: frols, criteria: [bic]}
scenarios:
  base: {description: as it is}
  noisy: {description: much noise, snr_db: [20]}
figures: {snr_db: 40}
statistics: {bootstrap_samples: 50}
"""
STUDIES = {
    "board": {"score": 15, "rank": 30, "ranking_tables": 25, "leaderboard": 15},
    "mine": {
        "brief_search": 15,
        "rank_configurations": 15,
        "thorough_search": 15,
        "choose_structure": 15,
        "resample": 15,
        "conclude": 4,
    },
}


@pytest.mark.parametrize("study", STUDIES)
def test_damaged_files(finished, tmp_path, monkeypatch, study):
    project = finished.copied(tmp_path / "project", made=False)
    project = project.with_study(study, {"board": BOARD, "mine": MINE}[study])
    project.snakemake()
    found = jobs_of(project)
    monkeypatch.chdir(project.root)
    for script, examples in STUDIES[study].items():
        assert found[script].outcome() == ""
        try_damages(found[script], examples)

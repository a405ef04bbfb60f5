"""Results of other settings, or of unknown ones, never pass for current ones."""

import pytest
from tests.workflow.project import unlike

pytestmark = pytest.mark.slow

RUN = "data/tiny/runs/as-described/data-1/S3/30dB/ga/bic/seed-1.json"
DATA = "data/tiny/problems/as-described/data-1/S3/30dB.csv"


def test_settings_and_back_again(finished, copy):
    """A run that did not finish leaves results of earlier settings; none of them passes for another."""
    reasons = copy.snakemake("--dry-run", "--config", "evaluations=100")
    assert "Params have changed since last execution" in reasons and "'evaluations': 100" in reasons
    copy.snakemake("all", "--until", "search", "--config", "evaluations=100")
    assert len(copy.planned()["search"]) == 12
    copy.snakemake(RUN)
    assert len(copy.planned()["search"]) == 11
    # A data set of other settings, younger than its summary, is no edited one.
    copy.snakemake(DATA, "--config", "data={washout: 90}")
    assert copy.planned()["simulate"] == [DATA]
    copy.snakemake()
    assert unlike(copy.files(), finished.files()) == []
    assert copy.planned() == {}

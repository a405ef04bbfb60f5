import pytest
from tests.unit.studies.paper.summaries import REFERENCE, UNKNOWN, make_summary, paper_study, published, read_back

from narxbench._studies.paper.analysis import analyse
from narxbench._studies.paper.claims import load_claims
from narxbench._studies.paper.frames import SCHEMAS
from narxbench._studies.paper.interpretations import findings as interpretations

CHANGED = [0.6, 0.3, 0.3, 0.5]


def frames_of(summaries):
    claims = load_claims(REFERENCE / "claims.yaml")
    return analyse(summaries, published(), claims, confidence=0.95, figure_snr_db=30)


@pytest.mark.parametrize(
    "summaries",
    [
        paper_study(("S1", "S4")),
        [make_summary("S2", 37.5, runs=1)],
        [make_summary(histories=[[], []], true=None), make_summary(method="ga", histories=[[], [(9, 1.0)]])],
        [make_summary(UNKNOWN), make_summary(true_coefficients=CHANGED)],
    ],
)
def test_every_frame_reads_back_as_it_was(tmp_path, summaries):
    frames = frames_of(summaries)
    assert frames.keys() == SCHEMAS.columns.keys() - {*interpretations.FRAMES, "values"}
    read_back(frames, tmp_path)


def test_the_paper_claims_nothing_about_other_systems():
    frames = frames_of([make_summary(UNKNOWN), make_summary(true_coefficients=CHANGED)])
    assert set(frames["agreement_values"]["method"]) == {""}
    here = frames["claims"].query("side == 'here'")
    assert (here["verdict"] == "cannot be judged").all() and (here["evidence"] != "").all()

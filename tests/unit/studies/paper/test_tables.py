"""The tables of claims and settings, and the order of rows."""

import pytest
from tests.unit.studies.paper.factory import few_claims, make_frames, make_settings, summary

from narxbench._io.errors import NarxbenchError
from narxbench._studies.paper import tables
from narxbench._studies.paper.figures import paper_figures
from narxbench._study.table_files import to_csv, to_latex, to_markdown


@pytest.mark.parametrize(
    ("methods", "criterion"),
    [({"a": ["aic-2", "bic"], "b": ["bic"]}, "bic"), ({"a": ["bic", "aic-8"], "b": ["aic-8"]}, "aic-8")],
)
def test_shared_criterion(methods, criterion):
    assert tables.shared_criterion(make_settings(methods=methods)) == criterion


def test_claims_table():
    table = tables.claims_table(few_claims(), make_frames([summary()])["claims"], is_trial=False)
    rule = "every place; one clear miss fails"
    evidence = "It holds at 10 of 12."
    assert to_csv(table).splitlines()[1:] == [
        f"Claim 0 on ν_max,section V,{rule},holds,10 of 12,1,holds,{evidence},{evidence}",
        f"Claim 1 on ν_max,section V,{rule},undecided,10 of 12,1,holds,{evidence},{evidence}",
        f"Claim 2 on ν_max,section V,{rule},fails,10 of 12,1,fails,{evidence},{evidence}",
    ]
    # The evidence would not fit a printed page.
    assert to_markdown(table).count(evidence) == 6 and evidence not in to_latex(table)


def test_mistakes_are_one_line():
    claims = make_frames([summary()])["claims"]
    with pytest.raises(NarxbenchError, match=r"claims.csv: found no verdict on c0; delete it and run again"):
        tables.claims_table(few_claims(), claims[claims["id"] != "c0"], is_trial=False)
    with pytest.raises(NarxbenchError, match="methods: found no criterion to compare them by; allowed: at least one"):
        tables.shared_criterion({"methods": {}})
    frames = make_frames([summary(snr_db=20)])
    with pytest.raises(NarxbenchError, match=r"convergence.csv: found no condition at an SNR of 30 dB; allowed: 20"):
        paper_figures(frames, make_settings(["S1"]) | {"snr_db": [20]})

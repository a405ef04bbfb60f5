"""Score files are read strictly."""

import pytest
from tests.unit.analysis.scores import edit, methods_study, write_scores

from narxbench.experiment.score_file import read_score
from narxbench.io.errors import NarxbenchError

METHOD, RUN = ["methods", 3], ["methods", 3, "runs", 0]


@pytest.mark.parametrize(
    ("place", "value"),
    [
        (["scenario"], 1),
        (["n_validation"], 0),
        (["methods"], []),
        ([*METHOD, "method"], "frols"),
        ([*METHOD, "runs"], []),
        ([*METHOD, "budget"], 0),
        ([*METHOD, "speed"], 1.0),
        ([*RUN, "seed"], 2),
        ([*RUN, "fitness"], None),
        ([*RUN, "fitness"], "-4000"),
        ([*RUN, "evaluations"], -1),
        ([*RUN, "terms"], []),
        ([*RUN, "hits"], -1),
        ([*RUN, "fresh_error"], -0.1),
        ([*RUN, "failure"], "no\nmemory"),
        ([*RUN, "history", "fitness"], [3000.0]),
    ],
)
def test_damaged_score_files_are_refused(tmp_path, place, value):
    (path,) = write_scores(tmp_path, methods_study(("S1",), ("base",), data_seeds=1))
    assert read_score(path).methods[3].method == "ga"
    edit(path, place, value)
    with pytest.raises(NarxbenchError, match=r"bic\.json: .*; not a score file of this version") as caught:
        read_score(path)
    assert "\n" not in str(caught.value)

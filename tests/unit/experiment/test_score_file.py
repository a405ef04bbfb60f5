"""Score files are read strictly."""

import pytest
from tests.unit.analysis.scores import edit, methods_study, write_scores

from narxbench.experiment.score_file import read_score
from narxbench.io.errors import NarxbenchError

METHOD, RUN = ["methods", 1], ["methods", 1, "runs", 0]


@pytest.mark.parametrize(
    ("place", "value"),
    [
        (["scenario"], 1),
        (["n_validation"], 0),
        (["true_terms"], 3),
        (["true_terms"], 0),
        (["methods"], []),
        ([*METHOD, "method"], "frols"),
        ([*METHOD, "deterministic"], True),
        ([*METHOD, "runs"], []),
        ([*METHOD, "budget"], 0),
        ([*METHOD, "speed"], 1.0),
        ([*RUN, "seed"], 2),
        ([*RUN, "fitness"], None),
        ([*RUN, "fitness"], -1e6),
        ([*RUN, "fitness"], "-4000"),
        ([*RUN, "evaluations"], 10),
        ([*RUN, "terms"], []),
        ([*RUN, "hits"], 5),
        ([*RUN, "fresh_error"], -0.1),
        ([*RUN, "failure"], "no memory"),
        ([*RUN, "history", "fitness"], [3000.0]),
        ([*RUN, "history", "fitness"], [-3000.0] * 7),
        ([*RUN, "history", "evaluations"], [7, 6, 5, 4, 3, 2, 1]),
    ],
)
def test_damaged_score_files_are_refused(tmp_path, place, value):
    (path,) = write_scores(tmp_path, methods_study(("S1",), ("base",), data_seeds=1))
    assert read_score(path).methods[1].method == "ga"
    edit(path, place, value)
    with pytest.raises(NarxbenchError, match=r"bic\.json: .*; not a score file of this version") as caught:
        read_score(path)
    assert "\n" not in str(caught.value)

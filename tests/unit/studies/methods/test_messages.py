"""Answers to damaged scores, and the sentences that follow from ranks; `messages.txt` has all of them."""

from functools import partial
from pathlib import Path

from tests.messages import calls
from tests.unit.studies.methods.scores import with_gaps, write_scores
from tests.unit.studies.methods.test_answer import STUDIES, document

from narxbench._studies.methods.ranking import rank_study
from narxbench._studies.methods.views import read_cost


def rank(*scores, cut=0):
    paths = [write_scores(Path(str(number)), [score])[0] for number, score in enumerate(scores)]
    for path in paths:
        path.write_text(path.read_text(encoding="utf-8")[: -cut or None], encoding="utf-8")
    rank_study(paths, confidence=0.95)


def damaged_cost():
    with open("cost.csv", "w", encoding="utf-8") as file:
        file.write("method,n_terms,seconds,evaluations,machine\nga,66,fast,6000,Processor\n")
    read_cost("cost.csv")


def recommendation(name):
    """Return the answer of one of the `STUDIES`."""
    problems, seconds = STUDIES[name]
    return document(problems(), **seconds)


def test_messages(review):
    score = with_gaps({"ga": [0.1]})
    review(
        {"scores: none": rank, "scores: twice": partial(rank, score, score)}
        | {"scores: cut": partial(rank, score, cut=20)}
        | {"scores: the name of all": partial(rank, {**score, "scenario": "all"})}
        | calls("use:", recommendation, STUDIES)
        | {"cost": damaged_cost}
    )

"""Answers to damaged scores, and the sentences that follow from ranks; `messages.txt` has all of them."""

from functools import partial
from pathlib import Path

from tests.messages import calls
from tests.unit.studies.methods.leaderboards import FRAMES, Compared, cost_rows
from tests.unit.studies.methods.scores import with_gaps, write_scores
from tests.unit.studies.methods.test_comparison import STUDIES
from tests.unit.studies.steps import step


def rank(*scores, cut=0):
    paths = [write_scores(Path(str(number)), [score])[0] for number, score in enumerate(scores)]
    for path in paths:
        path.write_text(path.read_text(encoding="utf-8")[: -cut or None], encoding="utf-8")
    ranking = {"confidence": 0.95, "situations": {}}
    inputs = {"scores": list(map(str, paths)), "repeats": []}
    step("rank", {"ranking": ranking}, input=inputs, output={name: f"{name}.csv" for name in FRAMES})


def damaged_cost():
    compared = Compared(Path("cost"), [with_gaps({"ga": [0.1]})])
    Path("cost.csv").write_text("method,n_terms,seconds,evaluations,machine\nga,66,fast,6000,Processor\n")
    compared.cost = "cost.csv"
    compared.page()


def recommendation(name):
    """Return the answer of one of the `STUDIES`."""
    problems, seconds = STUDIES[name]
    return "\n".join(Compared(Path(name), problems(), cost=cost_rows(**seconds)).answer)


def test_messages(review):
    score = with_gaps({"ga": [0.1]})
    review(
        {"scores: none": rank, "scores: twice": partial(rank, score, score)}
        | {"scores: cut": partial(rank, score, cut=20)}
        | {"scores: the name of all": partial(rank, {**score, "scenario": "all"})}
        | calls("use:", recommendation, STUDIES)
        | {"cost": damaged_cost}
    )

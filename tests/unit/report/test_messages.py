"""What is answered to mistakes, and the sentences that follow from numbers: `messages.txt` has all of them."""

from types import SimpleNamespace

import pandas as pd
from tests.unit.report.factory import few_claims, make_frames, make_settings, summary
from tests.unit.report.test_answer import FOUND, found, near, verdicts
from tests.unit.report.test_leaderboard_answer import STUDIES, document

from narxbench.report import answer as answers
from narxbench.report.figures import paper_figures
from narxbench.report.leaderboard_views import read_cost
from narxbench.report.screenshot import screenshot
from narxbench.report.tables import claims_table, shared_criterion

HOLDS, UNCLEAR, FAILS, UNJUDGED = "holds", "no clear difference", "does not hold", "cannot be judged"
CLAIMS = {
    "as the paper": [(HOLDS, 9, ""), (UNCLEAR, 4, ""), (FAILS, 3, "S4"), (FAILS, 1, "S1, S4")],
    "all hold": [(HOLDS, 3, ""), (UNCLEAR, 1, "")],
    "one that can be judged": [(HOLDS, 1, ""), (UNJUDGED, 2, "")],
    "none holds": [(FAILS, 3, "")],
    "most do not": [(HOLDS, 1, ""), (FAILS, 2, "S4")],
    "none can be judged": [(UNJUDGED, 4, "")],
}
UNIFORM = {"kind": "uniform", "low": -1.0, "high": 1.0}
RECORDED = {"kind": "recorded", "file": "data/own-input.csv"}


def shown(found):
    return "\n".join([found.word, *found.sentences])


def data(excitation, systems=(), noise="output", seeds=(1,)):
    return answers.data_shown({"data": {"excitation": excitation, "noise": noise, "seeds": list(seeds)}}, systems)


def damaged_cost():
    with open("cost.csv", "w", encoding="utf-8") as file:
        file.write("method,n_terms,seconds,evaluations,machine\nga,66,fast,6000,Processor\n")
    read_cost("cost.csv")


def test_messages(review, monkeypatch):
    monkeypatch.setenv("PATH", ".")
    own = SimpleNamespace(name="mill", excitation={"kind": "gaussian"})
    far = near(300.0, 60.0)
    board, nothing = answers.found_board(FOUND), answers.found_board(found(plain={"S1": (0.0, 0.0, 0.0)}))
    short = "**Use it.** Of 14 methods it has the best rank, 1.58 (19 systems). Its gaps are lower.\n"
    off = make_settings(["S1"]) | {"snr_db": [20]}
    review(
        {f"claims: {name}": lambda of=of: shown(answers.claims_hold(verdicts(of), far)) for name, of in CLAIMS.items()}
        | {"claims: three roles": lambda: shown(answers.claims_hold(verdicts(*list(CLAIMS.values())[:3]), far))}
        | {
            f"near: {of[:2]}": lambda of=of: shown(answers.values_near(near(*of)))
            for of in ((300.0, 60.0), (50.0, 60.0))
        }
        | {"near: one data set": lambda: shown(answers.values_near(near(300.0, float("nan"), bias_r=float("nan"))))}
        | {"worth using": lambda: shown(answers.use_of_the_swarm(FOUND)), "best": lambda: shown(answers.best_of(board))}
        | {"best of nothing": lambda: shown(answers.best_of(nothing)), "in short": lambda: answers.in_short(short)}
        | {"board": lambda: board.note, "board of one data seed": lambda: nothing.note}
        | {"data": lambda: data(UNIFORM), "own data": lambda: data(RECORDED, [own], "equation", (3, 5))}
        | {f"use: {name}": lambda of=of: document(of[0](), **of[1]) for name, of in STUDIES.items()}
        | {
            "cost": damaged_cost,
            "no browser": lambda: screenshot("page.html"),
            "no criterion": lambda: shared_criterion({"methods": {}}),
            "no verdict": lambda: claims_table(few_claims(), pd.DataFrame(columns=["id", "side", "holds", "evidence"])),
            "no condition": lambda: paper_figures(make_frames([summary(snr_db=20)]), off),
        }
    )

"""Answers to mistakes, and the sentences that follow from numbers: `sentences.txt` has all of them."""

import math
from functools import partial
from types import SimpleNamespace

import pandas as pd
from tests.unit.studies.paper.factory import few_claims, make_frames, make_settings, of_other_studies, summary
from tests.unit.studies.paper.test_answer import STRUCTURES_FOUND, structures_found, tables_near, two_roles, verdicts

from narxbench._studies.paper import answer as answers
from narxbench._studies.paper.causes import CAUSES
from narxbench._studies.paper.figures import paper_figures
from narxbench._studies.paper.frames import framed
from narxbench._studies.paper.tables import claims_table, shared_criterion
from narxbench._study.design_choices import load_design_choices

HOLDS, UNDECIDED, FAILS, UNJUDGED = "holds", "undecided", "fails", "cannot be judged"
CLAIMS = {
    "as the paper": [(HOLDS, 9, ""), (UNDECIDED, 4, ""), (FAILS, 3, "S4"), (FAILS, 1, "S1, S4")],
    "all hold": [(HOLDS, 3, ""), (UNDECIDED, 1, "")],
    "one that can be judged": [(HOLDS, 1, ""), (UNJUDGED, 2, "")],
    "none holds": [(FAILS, 3, "")],
    "most do not": [(HOLDS, 1, ""), (FAILS, 2, "S4")],
}
NEAR = (1, 1, 1)
BEST, WORSE = {"S1": (0.9, 1.0, 1.0)}, {"S1": (0.1, 0.2, 0.3)}
SEARCHES = {
    "is": {"swarm": BEST, "stepwise": WORSE, "plain": BEST},
    "is not": {"swarm": WORSE, "stepwise": BEST, "plain": BEST},
    "is not next to a strong GA": {"swarm": BEST, "stepwise": WORSE, "plain": WORSE, "strong": BEST},
}
OF_LOWER_J = verdicts([(HOLDS, 1, "")], [(HOLDS, 1, "")]).assign(claim="upso-reaches-better-j")
MISLED = pd.DataFrame({"system": ["S1", "S2", "S3"], "misled": [0, 1, 12], "data_sets": [30, 30, 30]})
UNIFORM = {"kind": "uniform", "low": -1.0, "high": 1.0}
RECORDED = {"kind": "recorded", "file": "data/own-input.csv"}


def shown(answer):
    return "\n".join([answer.word, *answer.sentences])


def data(excitation, systems=(), noise="output", seeds=(1,)):
    return answers.data_shown({"data": {"excitation": excitation, "noise": noise, "seeds": list(seeds)}}, systems)


def why():
    bound = ("upso2d", "upso2d", "velocity-bound", "1.75", "not bounded")
    rows = [
        (*bound, "S1", 10.0, 20.0, 2, 1.0),
        (*bound, "S2", 10.0, 40.0, 2, 0.9),
        ("upso2d", "data", "input", "uniform-1.73", "", "S4", 17.0, 43.0, 2, math.nan),
        (*bound, "S4", 17.0, 50.0, 2, 0.5),
        ("ga", "ga", "selection", "cumulative", "", "S4", 60.0, 1100.0, 2, 1.0),
    ]
    options = {"1.75": "velocity-bound", "reset": "restart-count", "3000": "evaluations", "2": "ring"}
    effects = [("upso2d", option, choice, "", -99.0, -120.0, -80.0, 1) for option, choice in options.items()]
    effects[-1] = (*effects[-1][:6], 20.0, 4)
    causes = pd.DataFrame(rows, columns=CAUSES)
    return "\n".join(answers.why(causes, framed("effects_overview", effects), load_design_choices()))


def of_methods():
    frames = of_other_studies()
    kept = dict(frames["compared"].itertuples(index=False, name=None))
    return answers.on_the_papers_systems(frames["scored"], kept, "pem", ["S1"])


def near_in_words(nearness, by_table):
    return shown(answers.values_near(nearness, by_table))


def claims_with_all_hold(verdicts_as_described):
    return shown(answers.claims_hold(verdicts(verdicts_as_described, CLAIMS["all hold"])))


def word_on_the_swarm(**searches):
    return answers.use_of_the_swarm(structures_found(**searches), verdicts(CLAIMS["all hold"], CLAIMS["all hold"])).word


def sentences_on_claims_and_values():
    far, close = two_roles((5, 4, 9), NEAR), two_roles([0.8] * 3, [0.8] * 3)
    sentences = {f"claims: {name}": partial(claims_with_all_hold, roles) for name, roles in CLAIMS.items()}
    # Of several rows of a role that with most values counts.
    few = two_roles((9, 9, 9), (9, 9, 9)).assign(values=207)
    fairly_near = pd.concat([few, two_roles((2, 2, 2), NEAR)], ignore_index=True)
    for name, nearness, n_near in (
        ("near", close, 21),
        ("mostly near", few, 16),
        ("partly near", fairly_near, 6),
        ("not near", far, 5),
    ):
        sentences[name] = partial(near_in_words, nearness, tables_near(n_near, 20))
    return sentences


def sentences_on_searches():
    sentences = {f"swarm {name}": partial(word_on_the_swarm, **searches) for name, searches in SEARCHES.items()}
    sentences |= {"why": why, "of methods": of_methods}
    for misled in (MISLED[:1], MISLED[1:], MISLED):
        sentences[f"J on {len(misled)}"] = partial(answers.where_j_misleads, misled)
    board = answers.board_of_searches(STRUCTURES_FOUND)
    nothing = answers.board_of_searches(structures_found(plain={"S1": (0.0, 0.0, 0.0)}))
    short = "**Use it.** Of 14 methods it has the best rank, 1.58 (19 systems). Its gaps are lower.\n"
    return sentences | {
        "worth using": lambda: shown(answers.use_of_the_swarm(STRUCTURES_FOUND, OF_LOWER_J)),
        "best": lambda: shown(answers.best_of(board)),
        "best of nothing": lambda: shown(answers.best_of(nothing)),
        "in short": lambda: answers.in_short(short),
        "board": lambda: board.note,
    }


def sentences_on_data_and_gaps():
    mill = SimpleNamespace(name="mill", excitation={"kind": "gaussian"})
    no_verdicts = pd.DataFrame(columns=["id", "side", "holds", "evidence"])
    without_condition = make_settings(["S1"]) | {"snr_db": [20]}
    return {
        "data": lambda: data(UNIFORM),
        "own data": lambda: data(RECORDED, [mill], "equation", (3, 5)),
        "no criterion": lambda: shared_criterion({"methods": {}}),
        "no verdict": lambda: claims_table(few_claims(), no_verdicts),
        "no condition": lambda: paper_figures(make_frames([summary(snr_db=20)]), without_condition),
    }


def test_messages(review):
    review(sentences_on_claims_and_values() | sentences_on_searches() | sentences_on_data_and_gaps())

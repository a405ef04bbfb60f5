"""The answers on the first screen follow from the frames."""

import math

import pandas as pd
import pytest
from tests.unit.report.factory import of_other_studies

from narxbench.analysis.causes import CAUSES
from narxbench.analysis.frames import framed
from narxbench.experiment.interpretations import load_design_choices
from narxbench.report import answer
from narxbench.report.answer import Share


def verdicts(*roles):
    """Return the verdicts under some roles, each a list of (verdict, number of claims, systems that are missed)."""
    rows = []
    for role, groups in zip(("as described", "with reset", "closest"), roles, strict=False):
        each = [(word, missed) for word, times, missed in groups for _ in range(times)]
        for n, (word, missed) in enumerate(each):
            places = (10, 0, 0) if word == "cannot be judged" else (10, 100 if word == "holds" else 80, 120)
            rows.append((f"c{n}", role, word, 10 * (word == "holds"), *places, missed))
    return framed("role_verdicts", rows)


def near(deviance, own, bias_r=-0.151):
    return roles_near({"as described": (deviance,) * 3}, own, bias_r)


def roles_near(roles, own=60.0, bias_r=0.0):
    """Return the nearness of some roles, each with the deviances of both algorithms together, of 2D-UPSO and of GA."""
    rows = []
    for role, deviances in roles.items():
        for name, deviance in zip(("joint", "upso2d", "ga"), deviances, strict=True):
            biases = (0.3 if bias_r and name == "ga" else 0.0, bias_r, 0.2)
            values = (*[deviance] * 3, *[own] * 3, *biases, 28, 20, 30, math.nan, math.nan)
            rows.append((role, "all", 5, name, "baseline", 738, *values))
    return framed("nearness", rows)


@pytest.mark.parametrize(("times", "word"), [(0.9, "Near."), (1.4, "Near."), (2.9, "Fairly near."), (3.1, "Not near.")])
def test_numbers_are_near_or_not_next_to_the_deviance_of_two_data_sets(times, word):
    assert answer.values_near(near(60.0 * times, 60.0)).word == word


def test_one_data_set_has_no_deviance_of_its_own():
    row = answer.nearness_rows(near(300.0, math.nan))[0]
    assert [row[name] for name in ("deviance", "own_deviance", "different", "values")] == ["300", "–", "28", "738"]


def two_roles(described, closest):
    """Return the nearness of two roles, each with so many times the deviance between data sets."""
    roles = {"as described": described, "closest": closest}
    return roles_near({role: [60.0 * times for times in of] for role, of in roles.items()})


HALF = [("holds", 6, ""), ("no clear difference", 6, ""), ("does not hold", 5, "S4")]


@pytest.mark.parametrize(
    ("described", "closest", "near", "word"),
    [
        (HALF, [("holds", 17, "")], ((7, 4, 29), (1, 1, 1)), "Mostly yes in kind; S4 and the GA hang on what the"),
        (HALF, HALF, ((7, 4, 29), (1, 1, 1)), "Mostly yes in kind; the GA hangs on what the paper leaves open."),
        (HALF, [("holds", 17, "")], ((1, 1, 1), (1, 1, 1)), "Mostly yes; S4 hangs on what the paper leaves open."),
        (HALF, HALF, ((7, 4, 29), (7, 4, 29)), "Mostly yes in kind."),
        ([("holds", 17, "")], HALF, ((7, 4, 29), (1, 1, 1)), "Yes in kind."),
        ([("does not hold", 3, "S4")], HALF, ((7, 4, 29), (7, 4, 29)), "No."),
    ],
)
def test_the_headline_names_what_it_hangs_on(described, closest, near, word):
    reported = verdicts(described, closest).replace({"role": {"with reset": "closest"}})
    assert answer.claims_hold(reported, two_roles(*near)).word.startswith(word)


def test_of_several_rows_of_a_role_that_with_most_values_counts():
    few = two_roles((9, 9, 9), (9, 9, 9)).assign(values=207)
    reported = answer.values_near(pd.concat([few, two_roles((2, 2, 2), (1, 1, 1))], ignore_index=True))
    assert reported.sentences[0].startswith("As described, our numbers are 2.0 times as far")
    assert reported.sentences[-1] == "The closest interpretation, chosen after seeing the tables: 1.0 times as far."


def found(**searches):
    """Return the frame of searches, each with (low, rate, high) by system; names of the paper's methods are theirs."""
    known = {
        "swarm": ("2D-UPSO as described", "upso2d", "baseline"),
        "plain": ("GA as described", "ga", "baseline"),
        "strong": ("GA with elitism", "ga", "elitism=on"),
        "stepwise": ("Add/drop/swap", "stepwise", "baseline"),
    }
    return framed(
        "found",
        [
            (*known[name], system, 15, 600, round(600 * rate), rate, low, high)
            for name, of in searches.items()
            for system, (low, rate, high) in of.items()
        ],
    )


FOUND = found(
    stepwise={"S1": (1.0, 1.0, 1.0), "S2": (0.7, 0.9, 1.0), "S3": (0.5, 0.6, 0.7), "S4": (0.8, 0.9, 1.0)},
    swarm={"S1": (0.8, 0.9, 0.95), "S2": (0.6, 0.8, 0.9), "S3": (0.75, 0.8, 0.9), "S4": (0.0, 0.0, 0.0)},
    plain={"S1": (0.0, 0.1, 0.2), "S2": (0.0, 0.0, 0.0), "S3": (0.0, 0.0, 0.0), "S4": (0.0, 0.0, 0.0)},
)


BEST, WORSE = {"S1": (0.9, 1.0, 1.0)}, {"S1": (0.1, 0.2, 0.3)}


@pytest.mark.parametrize(
    ("searches", "word"),
    [
        ({"swarm": BEST, "stepwise": WORSE, "plain": BEST}, "Yes."),
        ({"swarm": WORSE, "stepwise": BEST}, "Hardly."),
        ({"swarm": BEST, "stepwise": WORSE, "strong": BEST}, "Hardly."),
        ({"swarm": BEST, "plain": WORSE}, "More than the paper’s GA."),
        ({"stepwise": BEST}, "Unknown."),
    ],
)
def test_whether_the_swarm_is_worth_using(searches, word):
    assert answer.use_of_the_swarm(found(**searches)).word == word


def test_the_board_has_all_searches_and_systems_in_their_order():
    short = FOUND.drop(index=FOUND.index[0])  # add/drop/swap has no run on S1
    board = answer.found_board(short)
    assert board.systems == ["S2", "S3", "S4", "S1"]
    rows = dict(board.rows)
    assert list(rows) == ["Add/drop/swap", "2D-UPSO as described", "GA as described"]
    shares = [
        Share("90 %", "70–100 %", 9, True),
        Share("60 %", "50–70 %", 6, False),
        Share("90 %", "80–100 %", 9, True),
    ]
    assert rows["Add/drop/swap"] == [*shares, None]
    assert rows["GA as described"][2] == Share("0 %", "0 %", 0, False)
    assert "for each system 15 data sets. Below it the smallest and largest share on one realisation" in board.note
    few = answer.found_board(short.assign(data_sets=short["data_sets"].where(short["algorithm"] != "stepwise", 6)))
    assert "Add/drop/swap on 6 data sets and 2D-UPSO as described, GA as described on 15 data sets." in few.note
    assert "Below it" not in answer.found_board(short[short["system"] == "S4"][1:]).note


def test_the_board_of_a_study_adds_up_its_snrs():
    rows = [("S1", snr, 1, "", name, crit, exact, 40, exact / 40, 0.0, 1.0) for snr, name, crit, exact in (
        (50, "ga", "bic", 10), (40, "ga", "bic", 20), (50, "upso2d", "bic", 40), (50, "upso2d", "aic-2", 0),
    )]  # fmt: skip
    board = answer.own_board(framed("recovery", rows), "bic", "BIC")
    assert board.rows == [("GA", [Share("38 %", "", 4, False)]), ("2D-UPSO", [Share("100 %", "", 10, True)])]


def test_what_brings_the_numbers_nearer_is_reported_by_system():
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
    causes, choices = pd.DataFrame(rows, columns=CAUSES), load_design_choices()
    sparse, full, of_ga, caution = answer.why(causes, framed("effects_overview", effects), choices)
    assert sparse.startswith("2D-UPSO on S1 and S2: a slower search.") and "(60 to 20, against the sources)" in sparse
    assert full.startswith("2D-UPSO on S4: the input of the data and the search.")
    assert "(43 to 17) and" in full and "(50 to 17, against the sources); medians of 2 data sets" in full
    assert of_ga.startswith("GA on S4: its selection.") and "(1,100 to 60)" in of_ga
    assert "2 other options" in caution
    assert answer.why(causes[:0], framed("effects_overview", []), choices) == []


def test_where_j_misleads():
    some = pd.DataFrame({"system": ["S1", "S2", "S3"], "misled": [0, 1, 12], "data_sets": [30, 30, 30]})
    reported = answer.where_j_misleads(some)
    assert "On 1 of 30 data sets of S2 and 12 of 30 data sets of S3" in reported and "On S1 that never" in reported
    assert "never" not in answer.where_j_misleads(some[1:])
    assert answer.where_j_misleads(some[:1]).startswith("On S1 no run")


def test_a_method_of_the_comparison_on_the_papers_systems():
    other = of_other_studies()
    kept = dict(other["compared"].itertuples(index=False, name=None))
    reported = answer.on_the_papers_systems(other["scored"], kept, "pem", ["S1", "S2"])
    assert reported.endswith("2 data sets each (2000 samples at 40 dB): pem 100 % on S1; 2D-UPSO 50 % on S1.")
    assert answer.on_the_papers_systems(other["scored"], kept, "pem", ["S2"]) == ""

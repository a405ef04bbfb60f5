"""The answers on the first screen follow from the frames."""

import math

import pytest

from narxbench.analysis.frames import framed
from narxbench.report import answer
from narxbench.report.answer import Move, Share


def overview(**counts):
    groups = [group for group, count in counts.items() for _ in range(count)]
    rows = [(f"c{n}", "title", "holds", "holds", 5, 40, 7, group) for n, group in enumerate(groups)]
    return framed("claim_overview", rows)


EVERY = "under each of the 40 interpretations that can judge them"
DEPEND = "on what the paper leaves open"


@pytest.mark.parametrize(
    ("counts", "word", "sentence"),
    [
        (
            {"all": 2, "none": 7, "some": 9},
            "Partly.",
            f"2 of the paper’s 18 claims hold {EVERY}, 7 under none, 9 depend {DEPEND}.",
        ),
        (
            {"all": 1, "unjudged": 2},
            "Yes.",
            f"1 of the paper’s 3 claims holds {EVERY}, 2 cannot be judged.",
        ),
        (
            {"none": 3},
            "No.",
            "0 of the paper’s 3 claims hold under every interpretation that can judge them, 3 under none.",
        ),
        ({"all": 5, "some": 1}, "Mostly.", f"5 of the paper’s 6 claims hold {EVERY}, 1 depends {DEPEND}."),
        ({"unjudged": 4}, "Unknown.", "None of the paper’s claims could be judged."),
    ],
)
def test_claims_hold(counts, word, sentence):
    assert answer.claims_hold(overview(**counts)) == (word, [sentence])


def test_claims_that_few_interpretations_can_judge_are_told_as_such():
    few = overview(all=2, none=1).assign(judged=[2, 40, 40])
    assert "hold under each of the 2–40 interpretations that can judge them" in answer.claims_hold(few).sentences[0]


def near(deviance, own, bias_r=-0.151):
    values = [deviance, deviance, deviance, own, own, own, 0.0, bias_r, 0.2, 28, 20, 30, math.nan]
    rows = [("as described", name, "baseline", 738, *values) for name in ("joint", "upso2d", "ga")]
    rows[2] = (*rows[2][:10], 0.3, *rows[2][11:])
    return framed("nearness", rows)


def test_numbers_are_near_or_not_beside_the_deviance_of_two_data_sets():
    found = answer.values_near(near(300.0, 60.0))
    assert found.word == "Not near."
    assert found.sentences == [
        "As described, our numbers are 5.0 times as far from the published ones as two data sets of ours are from "
        "each other.",
        "28 of 738 values differ clearly.",
        "Reproduced minus published, on average: 2D-UPSO ν 0.00, r −0.15, ν_max +0.20; "
        "GA ν +0.30, r −0.15, ν_max +0.20.",
    ]
    words = {times: answer.values_near(near(60.0 * times, 60.0)).word for times in (0.9, 1.4, 2.9, 3.1)}
    assert words == {0.9: "Near.", 1.4: "Near.", 2.9: "Fairly near.", 3.1: "Not near."}
    assert "no farther from the published ones than two data sets" in answer.values_near(near(50.0, 60.0)).sentences[0]


def test_one_data_set_has_no_deviance_of_its_own():
    alone = near(300.0, math.nan, bias_r=math.nan)
    word, sentences = answer.values_near(alone)
    assert word == "On one data set alone:"
    assert sentences == [
        "28 of 738 values differ clearly.",
        "Reproduced minus published, on average: 2D-UPSO ν 0.00, ν_max +0.20; GA ν +0.30, ν_max +0.20.",
    ]
    row = answer.nearness_rows(alone)[0]
    assert row == {"role": "as described", "deviance": "300", "own": "–", "different": "28", "compared": "738"}


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


def test_whether_the_swarm_is_worth_using():
    word, sentences = answer.worth_using(FOUND)
    assert word == "On S3 alone."
    assert sentences == [
        "It finds the true structure more often than the paper’s GA on S1, S2 and S3, "
        "neither clearly more nor less often on S4.",
        "Add/drop/swap finds it more often than 2D-UPSO on S1 and S4, less often on S3, "
        "neither clearly more nor less often on S2.",
        "2D-UPSO never found that of S4.",
    ]
    best, worse = {"S1": (0.9, 1.0, 1.0)}, {"S1": (0.1, 0.2, 0.3)}
    assert answer.worth_using(found(swarm=best, stepwise=worse, plain=best)).word == "Yes."
    assert answer.worth_using(found(swarm=worse, stepwise=best)).word == "Hardly."
    assert answer.worth_using(found(swarm=best, stepwise=worse, strong=best)).word == "Hardly."
    assert answer.worth_using(found(swarm=best, plain=worse)).word == "More than the paper’s GA."
    assert answer.worth_using(found(stepwise=best)) == ("Unknown.", ["2D-UPSO was not run."])


def test_the_board_has_all_searches_and_systems_in_their_order():
    short = FOUND.drop(index=FOUND.index[0])  # add/drop/swap has no run on S1
    board = answer.found_board(short, seeds=5)
    assert board.systems == ["S2", "S3", "S4", "S1"]
    rows = dict(board.rows)
    assert list(rows) == ["Add/drop/swap", "2D-UPSO as described", "GA as described"]
    assert rows["Add/drop/swap"] == [
        Share("90 %", "70–100 %", 9, True),
        Share("60 %", "50–70 %", 6, False),
        Share("90 %", "80–100 %", 9, True),
        None,
    ]
    assert rows["GA as described"][2] == Share("0 %", "0 %", 0, False)
    # 5 realisations: 1 - 2 / 32.
    assert "one of 5 realisations" in board.note and "94 % confidence" in board.note
    assert "confidence" not in answer.found_board(short, seeds=1).note


def test_the_board_of_a_study_adds_up_its_snrs():
    rows = [("S1", snr, 1, "", name, crit, exact, 40, exact / 40, 0.0, 1.0) for snr, name, crit, exact in (
        (50, "ga", "bic", 10), (40, "ga", "bic", 20), (50, "upso2d", "bic", 40), (50, "upso2d", "aic-2", 0),
    )]  # fmt: skip
    board = answer.own_board(framed("recovery", rows), "bic", "BIC")
    assert board.rows == [("GA", [Share("38 %", "", 4, False)]), ("2D-UPSO", [Share("100 %", "", 10, True)])]


def test_what_moves_the_numbers():
    rows = [
        ("upso2d", "coloured", "input", "", 800.0, 700.0, 900.0, 1),
        ("upso2d", "1.75", "velocity-bound", "not bounded", -250.0, -280.0, -200.0, 2),
        ("upso2d", "2", "velocity-bound", "not bounded", 900.0, 800.0, 950.0, 3),
        ("ga", "two-point", "crossover", "", -40.0, -50.0, -30.0, 1),
        ("ga", "coloured", "input", "", math.nan, math.nan, math.nan, 2),
    ]
    assert answer.what_moves(framed("effects_overview", rows)) == {
        "2D-UPSO": [Move("input", "coloured", "+800", False), Move("velocity bound", "1.75", "−250", True)],
        "GA": [Move("crossover", "two point", "−40", False)],
    }
    assert answer.what_moves(framed("effects_overview", [])) == {}


def test_the_best_method_of_each_system():
    board = answer.found_board(FOUND, seeds=5)
    word, sentences = answer.best_of(board)
    assert word == "It depends on the system."
    assert sentences == [
        "Add/drop/swap most often on S1 (100 %), S2 (90 %) and S4 (90 %).",
        "2D-UPSO as described most often on S3 (80 %).",
    ]
    assert answer.best_of(answer.found_board(found(plain={"S1": (0.0, 0.0, 0.0)}), seeds=1)) == (
        "None.",
        ["Never on S1."],
    )


def test_the_data_are_told():
    class Own:
        name, excitation = "mill", {"kind": "gaussian"}

    uniform = {"excitation": {"kind": "uniform", "low": -1.0, "high": 1.0}, "noise": "output", "seeds": [1]}
    told = answer.data_shown({"data": uniform}, [])
    assert told == "input white, uniform between −1 and 1; noise on the measured output; data seed 1"
    data = uniform | {
        "excitation": {"kind": "recorded", "file": "data/own-input.csv"},
        "noise": "equation",
        "seeds": [3, 5],
    }
    told = answer.data_shown({"data": data}, [Own()])
    assert told == (
        "input recorded, from data/own-input.csv (not for mill, with inputs of their own); noise inside the equation; "
        "data seeds 3 and 5"
    )


def test_an_answer_in_short_is_its_first_two_sentences():
    text = "**Use it.** Of 14 methods it has the best rank, 1.58 (19 systems). Its gaps are lower.\n"
    assert answer.in_short(text) == "**Use it.** Of 14 methods it has the best rank, 1.58 (19 systems)."

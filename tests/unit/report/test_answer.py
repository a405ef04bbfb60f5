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


def near(deviance, own, bias_r=-0.151):
    values = [deviance, deviance, deviance, own, own, own, 0.0, bias_r, 0.2, 28, 20, 30, math.nan]
    rows = [("as described", name, "baseline", 738, *values) for name in ("joint", "upso2d", "ga")]
    rows[2] = (*rows[2][:10], 0.3, *rows[2][11:])
    return framed("nearness", rows)


@pytest.mark.parametrize(("times", "word"), [(0.9, "Near."), (1.4, "Near."), (2.9, "Fairly near."), (3.1, "Not near.")])
def test_numbers_are_near_or_not_next_to_the_deviance_of_two_data_sets(times, word):
    assert answer.values_near(near(60.0 * times, 60.0)).word == word


def test_one_data_set_has_no_deviance_of_its_own():
    row = answer.nearness_rows(near(300.0, math.nan))[0]
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

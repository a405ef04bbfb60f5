"""The boards on the first screen follow from the frames; `test_messages.py` has the sentences."""

import math

from narxbench._studies.paper import answer
from narxbench._studies.paper.answer import Share
from narxbench._studies.paper.frames import framed

# Data sets on which a claim holds, is undecided and fails, data sets, places in which it holds, and places; by verdict.
COUNTS = {
    **{"holds": (10, 0, 0, 10, 100, 120), "undecided": (0, 10, 0, 10, 80, 120)},
    **{"fails": (0, 0, 10, 10, 80, 120), "cannot be judged": (0, 0, 0, 10, 0, 0)},
}


def verdicts(*roles):
    """Return the verdicts under some roles, each a list of (verdict, number of claims, systems that are missed)."""
    rows = []
    for role, groups in zip(("as described", "closest"), roles, strict=True):
        number = 0
        for word, times, missed in groups:
            counts = COUNTS[word]
            for _ in range(times):
                rows.append((f"c{number}", role, word, *counts, missed))
                number += 1
    return framed("role_verdicts", rows)


def two_roles(described, closest):
    """Return the nearness of two roles: of both algorithms, 2D-UPSO and GA so many times that of two data sets."""
    rows = []
    for role, times, p in (("as described", described, 0.004), ("closest", closest, 0.137)):
        for name, factor in zip(("joint", "upso2d", "ga"), times, strict=True):
            deviances, bias_of_nu = [60.0 * factor] * 3, 0.3 * (name == "ga")
            farthest = "S1, S4" if times[0] > 1 else ""
            values = (
                *deviances,
                60.0,
                60.0,
                60.0,
                bias_of_nu,
                -0.151,
                0.2,
                28,
                20,
                30,
                math.nan,
                p,
                1296,
                farthest,
                4,
            )
            rows.append((role, "all", 5, name, "baseline", 738, *values))
    return framed("nearness", rows)


def tables_near(described, closest):
    """Return the frame of 21 tables, of which so many are near in each of two roles."""
    rows = []
    for role, n_near in (("as described", described), ("closest", closest)):
        for place in range(21):
            names = ("upso2d", f"aic-{place}", "S1")
            rows.append((role, *names, "baseline", 5, 18, 10.0 if place < n_near else 16.0, 10.0, 3))
    return framed("by_table", rows)


def structures_found(**searches):
    """Return the frame of searches, each with (low, rate, high) by system; names of the paper's methods are theirs."""
    methods = {
        "swarm": ("2D-UPSO as described", "upso2d", "baseline"),
        "plain": ("GA as described", "ga", "baseline"),
        "strong": ("GA with elitism", "ga", "elitism=on"),
        "stepwise": ("Add/drop/swap", "stepwise", "baseline"),
    }
    rows = []
    for name, rates in searches.items():
        for system, (low, rate, high) in rates.items():
            rows.append((*methods[name], system, 15, 600, round(600 * rate), rate, low, high))
    return framed("found", rows)


STRUCTURES_FOUND = structures_found(
    stepwise={"S1": (1.0, 1.0, 1.0), "S2": (0.7, 0.9, 1.0), "S3": (0.5, 0.6, 0.7), "S4": (0.8, 0.9, 1.0)},
    swarm={"S1": (0.8, 0.9, 0.95), "S2": (0.6, 0.8, 0.9), "S3": (0.75, 0.8, 0.9), "S4": (0.0, 0.0, 0.0)},
    plain={"S1": (0.0, 0.1, 0.2), "S2": (0.0, 0.0, 0.0), "S3": (0.0, 0.0, 0.0), "S4": (0.0, 0.0, 0.0)},
)


def test_the_board_has_all_searches_and_systems_in_their_order():
    short = STRUCTURES_FOUND.drop(index=STRUCTURES_FOUND.index[0])  # add/drop/swap has no run on S1
    board = answer.board_of_searches(short)
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


def test_the_board_of_a_study_adds_up_its_snrs():
    rows = [
        ("S1", 50, 1, "", "ga", "bic", 10, 40, 10 / 40, 0.0, 1.0),
        ("S1", 40, 1, "", "ga", "bic", 20, 40, 20 / 40, 0.0, 1.0),
        ("S1", 50, 1, "", "upso2d", "bic", 40, 40, 40 / 40, 0.0, 1.0),
        ("S1", 50, 1, "", "upso2d", "aic-2", 0, 40, 0 / 40, 0.0, 1.0),
    ]
    board = answer.board_of_study(framed("recovery", rows), "bic", "BIC")
    assert board.rows == [("GA", [Share("38 %", "", 4, False)]), ("2D-UPSO", [Share("100 %", "", 10, True)])]

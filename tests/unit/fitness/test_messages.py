"""Mistakes in arguments of a problem; `messages.txt` has the answers."""

import math
from functools import partial

import numpy as np

from narxbench import StructureProblem, load_system

CRITERIA = ["BIC", "aic", "aic-", "aic-0", "aic-nan", "aic--2", "aic-1e999", "aic-２", "bic-2", "ebic-1.5", 2, ["bic"]]
ARGUMENTS = [
    *({"u": [1.0, 2.0]}, {"y": [math.nan] * 1000}, {"u": [0.0] * 7 + [-math.inf] * 993}, {"y": "text"}),
    *({"y": [[0.0], [1.0]]}, {"n_validation": 998}, {"u": [], "y": []}, {"n_validation": 0}),
    *({"n_validation": True}, {"estimation": "al"}, {"error": "free run"}, {"degree": 0}),
    *({"required_terms": "outputs"}, {"required_terms": "linear_output", "n_y": 0}, {"validation_part": "end"}),
    {"free_run_start": "rest"},
    {"criterion": "aicc", "n_validation": 2},
    *({"n_u": 100, "n_y": 100}, {"n_segments": 0}, {"n_segments": 601}, {"segment_length": 2.5}),
    *({"n_segments": 7, "segment_length": 100}, {"n_u": 0, "n_y": 0}),
]
NO_POSITIONS = [
    *(np.zeros(15, np.uint8), np.zeros((2, 14), np.uint8), np.full((1, 15), 2, np.uint8), np.full((1, 15), 0.5)),
    *(np.full((1, 15), -1), np.full((1, 15), math.nan), [["1"] * 15]),
]
TERMS = [["y(k-3)"], ["y(k-1)", "y(t-1)"], "y(k-1)", [1]]


def test_messages(review, small_problem):
    u, y = load_system("S1").simulate(1000)
    arguments = {"u": u, "y": y, "n_u": 2, "n_y": 2, "degree": 2}
    mistakes = {}
    for text in CRITERIA:
        mistakes[f"criterion {text!r}"] = partial(StructureProblem, **arguments | {"criterion": text})
    for change in ARGUMENTS:
        mistakes[f"problem {change!r:.60}"] = partial(StructureProblem, **arguments | change)
    for number, positions in enumerate(NO_POSITIONS):
        mistakes[f"positions {number}"] = partial(small_problem.evaluate_positions, positions)
    for terms in TERMS:
        mistakes[f"terms {terms!r}"] = partial(small_problem.evaluate, terms)
    review(mistakes)

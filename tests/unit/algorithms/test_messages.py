"""Mistakes in what a search is asked for, and in what an algorithm returns; `messages.txt` has the answers."""

from functools import partial

import numpy as np
from tests.unit.algorithms.plugins import FOLDER, install_text

from narxbench import search
from narxbench._algorithms.contract import Found, as_found, checked_found

ARGUMENTS = [{"algorithm": "upso"}, {"algorithm": "objective"}, {"seed": -1}, {"seed": True}, {"evaluations": 0}]
ARGUMENTS += [{"algorithm": "upso2d", "swarm_size": 0}, {"algorithm": "upso2d", "swarm_sizes": 3}]
ARGUMENTS.append({"algorithm": "honest_annealing", "first_temperatur": 1.0})
ARGUMENTS += [{"algorithm": "honest_annealing", "first_temperature": value} for value in (0.0, 1j)]
NO_RESULTS = [
    [1, 0, 1],
    None,
    ["u(k-1)", "y(k-4)"],
    Found([1, 0]),
    Found([1, 0, 2]),
    Found([1, 0, 1], [1.0]),
    Found([1, 0, 1], [1.0, np.nan]),
]
NO_RESULTS += [Found([1, 0, 1], ["1", "2"])]
NO_RESULTS += [Found([1, 0, 1], None, details) for details in ({"a": object}, {"sse": np.nan}, [1], {"x": "x" * 10**5})]


def _checked(returned):
    checked_found(as_found(returned, ["1", "y(k-1)", "u(k-1)"]), 3)


def test_messages(review, monkeypatch, tmp_path_factory, small_problem):
    points = {"honest_annealing": "honest.honest_annealing"}
    install_text(monkeypatch, tmp_path_factory.mktemp("site"), points, "honest")
    monkeypatch.syspath_prepend(FOLDER)
    mistakes = {}
    for arguments in ARGUMENTS:
        mistakes[f"search {arguments}"] = partial(search, small_problem, **{"seed": 1} | arguments)
    for returned in NO_RESULTS:
        mistakes[f"result {returned!s:.90}"] = partial(_checked, returned)
    review(mistakes)

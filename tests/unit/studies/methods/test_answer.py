"""Which method to use: the lines follow the numbers, whatever they are."""

import re

from tests.unit.studies.methods.leaderboards import comparison, cost, frames_of, shape
from tests.unit.studies.methods.scores import N_VALIDATION, SPURIOUS, TRUE, make_method, make_run, make_score, with_gaps

from narxbench._studies.methods.answer import answer_line, answer_lines
from narxbench._studies.methods.metrics import GAP

TEN = tuple(f"S{n}" for n in range(10))


def a_run(exact, gap, error):
    terms = {"terms": TRUE, "hits": len(TRUE)} if exact else {"terms": SPURIOUS, "hits": 0}
    return make_run(1, -4000.0 + gap * N_VALIDATION, fresh_error=error, **terms)


def study(methods, systems=TEN, *, held_out=True, **changes):
    """Return problems of methods that are exact on so many systems, with nearly the same gap and error on all."""
    problems = []
    for n, system in enumerate(systems):
        methods_of_problem = []
        for name, (exact, gap, error) in methods.items():
            run = a_run(n < exact, gap * (1 + n / 100), error * (1 + n / 1e3))
            methods_of_problem.append(make_method(name, [run]))
        problems.append(make_score(methods_of_problem, system, held_out=held_out, **changes))
    return problems


def document(problems, **seconds):
    """Return the answer of a comparison, one sentence a line."""
    lines = answer_lines(comparison(frames_of(problems), cost(seconds, **seconds)))
    return "\n".join(lines).replace("\u00a0", " ")


CLEAR = {"mine": (9, 0.0, 0.01), "frols": (5, 0.1, 0.02), "ga": (1, 0.5, 0.1)}
EQUAL = {"mine": (9, 0.0, 0.01), "near": (9, 0.2, 0.0101), "ga": (1, 0.5, 0.1)}
NONE = {"mine": (0, 0.0, 0.01), "ga": (0, 0.5, 0.1)}
USUAL = {"mine": (10, 0.0, 0.01), "frols": (0, 0.1, 0.02), "ga": (1, 0.5, 0.1)}
SPECIAL = {"mine": (2, 0.2, 0.01), "frols": (10, 0.1, 0.02), "ga": (1, 0.1, 0.1)}
STUDIES = {
    "a clear lead, and a cheap method with less": (lambda: study(CLEAR), {"mine": 2.0, "frols": 0.001, "ga": 0.5}),
    "a cheaper one is as good": (lambda: study(EQUAL), {"mine": 2.0, "near": 0.25, "ga": 1.0}),
    "few systems, none held out": (lambda: study(CLEAR, TEN[:3], held_out=False), {"mine": 2.0, "ga": 3.0}),
    "time not measured": (lambda: study(CLEAR), {}),
    "no method finds the terms": (lambda: study(NONE), {"mine": 1.0, "ga": 2.0}),
    "special data": (lambda: [*study(USUAL), *study(SPECIAL, scenario="noisy")], {"mine": 1.0, "frols": 0.1}),
    "the truth is no candidate": (lambda: study(NONE, true_terms=0, true_fitness=None), {"mine": 1.0}),
    "no search": (lambda: study({"frols": (5, 0.1, 0.02)}), {"frols": 0.1}),
    "all failed": (lambda: [with_gaps({"ga": [None], "mine": [None] * 2}, system=n) for n in TEN[:2]], {}),
    "no common data set": (lambda: [with_gaps({"ga": [0.1]}), with_gaps({"mine": [0.1]}, system="S2")], {}),
}


def test_the_terminal_has_the_place_of_each_added_method():
    frames = frames_of(study(CLEAR))
    line = answer_line(comparison(frames, added=["frols", "unknown"]))
    beginning = "by exact recovery on the held-out data sets: "
    assert line.startswith(f"{beginning}frols is 2 of 3 with 50.0 % (") and line.endswith("); unknown is not ranked")
    assert answer_line(comparison(frames)).startswith(f"{beginning}mine is 1 of 3 with 90.0 % (")
    assert answer_line(comparison(frames_of(STUDIES["all failed"][0]()))) == ""


def test_only_data_sets_with_right_terms_count_where_terms_are_judged():
    reported = document([*study(CLEAR, TEN[:8]), *study(CLEAR, TEN[8:], true_terms=0, true_fitness=None)])
    sizes = re.findall("([0-9]+) held-out data sets of ([0-9]+) systems", reported)
    assert sizes == [("8", "8"), ("10", "10")]


def test_a_method_that_does_not_repeat_is_not_recommended():
    frames = frames_of(study(CLEAR), unsteady=["mine"])
    first = answer_lines(comparison(frames, repeats={"mine": (False, "another J", 1.0)}))[0]
    assert "frols" in first and "of 2 methods" in first and "mine" not in first


def test_an_answer_of_development_data_sets_has_its_caveat():
    assert not any("not confirmatory" in line for line in answer_lines(comparison(shape("usual"))))
    frames = frames_of(study(CLEAR, held_out=False))
    assert "not confirmatory" in answer_lines(comparison(frames))[-1]


def test_the_lowest_gap_may_belong_to_another_method_than_the_right_terms():
    problems = study({"mine": (2, 0.0, 0.05), "frols": (9, 0.1, 0.01), "ga": (1, 0.5, 0.1)})
    shown = comparison(frames_of(problems))
    assert (shown.whole.best()["method"], shown.whole.best(GAP)["method"]) == ("frols", "mine")
    (line,) = [line for line in answer_lines(shown) if line.startswith("**For the lowest J")]
    assert "use mine" in line and "the lowest J need not have the true terms: 20.0\u00a0%" in line

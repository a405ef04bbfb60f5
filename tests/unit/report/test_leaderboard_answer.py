"""Which method to use: the lines follow the numbers, whatever they are."""

import re

import pytest
from tests.unit.analysis.scores import with_gaps
from tests.unit.report.leaderboards import SHAPES, cost, frames_of, methods_of, shape

from narxbench.report.leaderboard_answer import answer_lines

TEN = tuple(f"S{n}" for n in range(10))


def study(gaps, systems=TEN, **changes):
    """Return the frames of a study in which each method has the same gaps on every system, up to a small shift."""
    return frames_of(
        [
            with_gaps({name: [gap + n / 1000 for gap in own] for name, own in gaps.items()}, system=name_of, **changes)
            for n, name_of in enumerate(systems)
        ]
    )


def answer(frames, **seconds):
    return [line.replace("\u00a0", " ") for line in answer_lines(frames, cost(seconds, **seconds))]


def test_the_best_method_is_told_with_its_tests():
    first, second, third = answer(study({"ga": [0.5], "mine": [0.1], "other": [0.1, 0.7]}), ga=1, mine=2, other=3)
    assert first.startswith(
        "**Use mine.** Of 3 methods it has the best average rank, 1.00 (interval 1.00 to 1.00), on "
    )
    assert (
        "on 10 systems in 1 scenario; averaged over the systems, 100 % (interval 100 % to 100 %) of its runs" in first
    )
    assert "lower than those of 2 of 2 other methods (Wilcoxon’s signed-rank test over 10 systems, p < 0.05" in first
    assert "Holm’s correction over 3 pairs of methods)." in first and "told apart" not in first
    assert second == (
        "**If time matters, use mine too.** A run takes 2.0 s of CPU time (measured at 66 candidate terms); the same "
        "test tells it from 1 of 1 cheaper method."
    )
    assert third.startswith("**Special cases.** Within 501 evaluations, mine has reached the most targets")


def test_a_cheaper_method_that_the_test_does_not_tell_apart_is_named():
    near = [0.05] * 4 + [0.15] * 6
    problems = [
        with_gaps({"far": [3.0], "mine": [0.1], "near": [gap]}, system=name)
        for name, gap in zip(TEN, near, strict=True)
    ]
    first, second, _ = answer(frames_of(problems), far=0.1, near=0.25, mine=2.0)
    assert first.startswith("**Use mine.**") and first.endswith("methods); not told apart from it: near.")
    said = "**If time matters, use near.** A run takes 0.25 s of CPU time, where mine takes 2.0 s (measured at 66 "
    said += "candidate terms); the same test does not tell the two apart (p = _). Its average rank is 1.60, "
    said += "its exact recovery 100 %."
    assert re.sub(r"p = [01]\.\d{3}", "p = _", second) == said


def test_too_few_systems_for_a_test_are_told():
    first, second, _ = answer(study({"ga": [0.5], "mine": [0.1]}, TEN[:3]), ga=0.5, mine=2)
    assert first.endswith("Its lead is untested: a test of 1 pair of methods needs more systems.")
    assert second.endswith("; GA takes 0.50 s, untested, at place 2 of 2.")


@pytest.mark.parametrize(
    ("seconds", "said"),
    [({"mine": 1.0, "ga": 2.0}, "no method takes less."), ({"ga": 2.0}, "the CPU time of mine was not measured.")],
)
def test_without_a_cheaper_method(seconds, said):
    assert answer(study({"ga": [0.5], "mine": [0.1]}), **seconds)[1].endswith(said)


def test_special_cases_name_who_leads_there():
    small, large = {"mine": [0.1], "wide": [0.5], "frols": [0.7]}, {"mine": [0.5], "wide": [0.1], "frols": [0.7]}
    problems = [with_gaps(small, system=name) for name in TEN]
    problems += [with_gaps(large, system=name, scenario="terms", n_terms=1001) for name in TEN[:2]]
    for problem in problems:
        frols = next(method for method in problem["methods"] if method["method"] == "frols")
        for run in frols["runs"]:
            run |= {"evaluations": 1, "history": {"evaluations": [1], "fitness": [run["fitness"]]}}
    special = answer(frames_of(problems), mine=1)[2]
    assert "with 1,001 candidate terms (2 systems), wide has the best average rank, 1.00 (mine: 2.00)" in special
    assert special.endswith("without evaluations of *J*, frols ranks best, place 3 of 3, with 100 % exact recovery.")
    # Whoever returns its result at once has reached its targets early.
    assert "Within 501 evaluations, frols has reached the most targets, 14 % (mine: 0 %)" in special


def test_contributed_methods_are_marked():
    frames = study({"ga": [0.5], "mine": [0.1]})
    assert answer_lines(frames, cost(["mine"]), ["mine"])[0].startswith("**Use mine (contributed).**")


def test_where_nothing_was_found_nothing_is_recommended():
    failed = frames_of([with_gaps({"ga": [None], "mine": [None, None]}, system=name) for name in TEN[:2]])
    assert answer(failed, ga=1) == ["**No method can be recommended.** All 6 runs failed."]
    apart = frames_of([with_gaps({"ga": [0.1]}, system="S1"), with_gaps({"mine": [0.1]}, system="S2")])
    assert answer(apart, ga=1) == ["**No method can be recommended.** There is no data set that all of them ran on."]


@pytest.mark.parametrize("name", SHAPES)
def test_no_line_has_anything_but_words_and_numbers(name):
    frames = shape(name)
    lines = answer_lines(frames, cost(methods_of(frames)))
    assert len(lines) == 3
    assert not re.search(r"\b(nan|None|inf|True|False)\b", " ".join(lines))
    assert all(line.startswith("**") and line.endswith(".") for line in lines)


def test_the_method_that_finds_the_system_terms_most_often_is_named():
    frames = study({"ga": [0.5], "mine": [0.1]})
    ranking = frames["ranking"].copy()
    ranking.loc[ranking["method"] == "mine", "exact"] = 0.5
    ranking.loc[ranking["method"] == "ga", "exact"] = 0.99
    assert (
        "need not have the system terms: GA ends at them most often, 99 % (mine: 50 %)"
        in (answer({**frames, "ranking": ranking})[2])
    )
    assert "need not have" not in "".join(answer({**frames, "ranking": ranking.assign(exact=0.5)}))

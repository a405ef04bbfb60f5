"""Which method to use: the lines follow the numbers, whatever they are."""

import re

import pytest
from tests.tiers import mostly_slow
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
    """Return the answer of a comparison, one sentence a line."""
    lines = answer_lines(frames, cost(seconds, **seconds))
    return "\n".join(lines).replace("\u00a0", " ").replace(". ", ".\n")


def near_study():
    """Return a study whose test does not tell the cheap method `near` from the best."""
    near = [0.05] * 4 + [0.15] * 6
    gaps = [{"far": [3.0], "mine": [0.1], "near": [gap]} for gap in near]
    return frames_of([with_gaps(own, system=name) for own, name in zip(gaps, TEN, strict=True)])


def special_study():
    """Return a study in which another method leads with many candidate terms, and one evaluates nothing."""
    small, large = {"mine": [0.1], "wide": [0.5], "frols": [0.7]}, {"mine": [0.5], "wide": [0.1], "frols": [0.7]}
    problems = [with_gaps(small, system=name) for name in TEN]
    problems += [with_gaps(large, system=name, scenario="terms", n_terms=1001) for name in TEN[:2]]
    for problem in problems:
        frols = next(method for method in problem["methods"] if method["method"] == "frols")
        for run in frols["runs"]:
            run |= {"evaluations": 1, "history": {"evaluations": [1], "fitness": [run["fitness"]]}}
    return frames_of(problems)


def finding_study():
    """Return a study whose best method by rank is not the one that finds the system terms most often."""
    frames = study({"ga": [0.5], "mine": [0.1]})
    exact = frames["ranking"]["method"].map({"mine": 0.5, "ga": 0.99})
    return frames | {"ranking": frames["ranking"].assign(exact=exact)}


def disjoint_study():
    """Return a study without a data set that all methods ran on."""
    return frames_of([with_gaps({"ga": [0.1]}, system="S1"), with_gaps({"mine": [0.1]}, system="S2")])


def test_contributed_methods_are_marked():
    frames = study({"ga": [0.5], "mine": [0.1]})
    assert "mine (contributed)" in answer_lines(frames, cost(["mine"]), ["mine"])[0]


@pytest.mark.parametrize("name", mostly_slow(SHAPES, "usual"))
def test_no_line_has_anything_but_words_and_numbers(name):
    frames = shape(name)
    lines = answer_lines(frames, cost(methods_of(frames)))
    assert len(lines) == 3
    assert not re.search(r"\b(nan|None|inf|True|False)\b", " ".join(lines))
    assert all(line.startswith("**") and line.endswith(".") for line in lines)

"""The rule of evidence on forged studies, in which the truth is known: what it claims, and what readers are told."""

import re
from html import unescape

import numpy as np
import pytest
from tests.tiers import mostly_slow
from tests.unit.studies.methods.leaderboards import comparison, frames_of, render
from tests.unit.studies.methods.scores import SPURIOUS, TRUE, make_method, make_run, make_score

from narxbench._studies.methods.answer import answer_lines, document_lines
from narxbench._studies.methods.evidence import compare_with_best, pairs_of_chance
from narxbench._studies.methods.leads import lead_for
from narxbench._studies.methods.metrics import IN_FRESH_ERROR, IN_RECOVERY
from narxbench._studies.methods.tables import leaderboard_tables
from narxbench._studies.methods.wants import NEW_DATA, TERMS, WANTS

ALPHA = 0.05


def compared(values, difference=IN_RECOVERY):
    """Return the comparisons of the method of the highest mean, and the places of it and of the others."""
    best = int(values.mean(axis=0).argmax())
    rivals = np.delete(np.arange(values.shape[1]), best).tolist()
    return compare_with_best(values, best, difference, np.random.default_rng(1), alpha=ALPHA), best, rivals


def shares(rng, n_systems, chances):
    """Return exact recovery in six runs on each system, some of which are hard for all methods."""
    is_hard = rng.random((n_systems, 1))
    return rng.binomial(6, np.clip(chances - 0.3 * is_hard, 0, 1)) / 6


def normal(rng, n_systems, means):
    """Return values with a part that is common to all methods."""
    return means + rng.normal(size=(n_systems, 1)) + rng.normal(size=(n_systems, len(means)))


def false_claims(draw, n_systems, n_equal, n_methods, gap, draws):
    """Return in which share of studies a method is called better than one that is as good."""
    rng = np.random.default_rng(2)
    means = np.where(np.arange(n_methods) < n_equal, 0.0, -gap)
    n_false = 0
    for _ in range(draws):
        values = draw(rng, n_systems, means)
        comparisons, best, rivals = compared(values, IN_RECOVERY if draw is shares else IN_FRESH_ERROR)
        verdicts_of_equals = []
        for rival, verdict in zip(rivals, comparisons.verdicts, strict=True):
            if best >= n_equal or rival < n_equal:
                verdicts_of_equals.append(verdict)
        n_false += not {"better", "worse"}.isdisjoint(verdicts_of_equals)
    return n_false / draws


@pytest.mark.parametrize(
    ("n_systems", "n_equal", "n_methods", "gap"),
    mostly_slow(
        [
            (9, 2, 2, 0.0),
            (9, 3, 3, 0.0),
            (13, 6, 6, 0.0),
            (9, 25, 25, 0.0),
            (9, 2, 25, 3.0),
            (11, 3, 25, 3.0),
            (6, 2, 5, 9.0),
        ],
        *[(9, 2, 2, 0.0), (9, 2, 25, 3.0)],
    ),
)
def test_equal_methods_are_rarely_told_apart(n_systems, n_equal, n_methods, gap):
    draws = 400
    # Two standard deviations of chance above 5 %.
    most = ALPHA + 2 * (ALPHA * (1 - ALPHA) / draws) ** 0.5
    assert false_claims(normal, n_systems, n_equal, n_methods, gap, draws) <= most
    chances = lambda rng, n, means: shares(rng, n, np.where(means < 0, 0.2, 0.9))  # noqa: E731
    assert false_claims(chances, n_systems, n_equal, n_methods, gap, draws) <= most


def test_the_lead_over_all_others_takes_no_more_than_the_test_of_one_pair():
    # Twelve systems agree; the runner-up is as good in half of them.
    best, second, far_behind = np.ones(12), np.repeat([1.0, 0.4], 6), np.zeros((12, 20))
    comparisons, *_ = compared(np.column_stack([best, second, far_behind]))
    assert set(comparisons.n_pairs) == {1} and set(comparisons.verdicts) == {"better"}
    assert max(comparisons.p_values) == pytest.approx(2 / 2**6)


@pytest.mark.parametrize(
    ("p_values", "expected"),
    [
        ([0.03, 0.001, 0.04], [1, 1, 1]),
        # The first is undecided, and all three pairs of it, the best and the second can give the p of the second.
        ([0.06, 0.016, 0.001], [1, 3, 3]),
        ([0.06, 0.017, 0.001], [1, 3, 6]),
        ([0.5, 0.4, 0.3], [1, 3, 6]),
        ([], []),
    ],
)
def test_p_is_multiplied_by_the_pairs_among_which_a_false_lead_can_hide(p_values, expected):
    possible = np.zeros((4, 4))
    assert pairs_of_chance(p_values, possible, ALPHA) == expected


def test_pairs_that_differ_in_too_few_systems_for_so_low_a_p_do_not_count():
    # All good methods differ in the last three systems only; the last method is worse in all.
    good = np.ones((9, 8)) - np.pad(np.eye(3, 8), ((6, 0), (0, 0)))
    comparisons, *_ = compared(np.column_stack([np.ones(9), good, np.zeros(9)]))
    assert comparisons.verdicts[:8] == ["open"] * 8 and comparisons.verdicts[8] == "better"
    # The cluster has ten methods, of which only the pairs with the last one differ in nine or eight systems.
    assert comparisons.n_pairs[8] == 6 and comparisons.p_values[8] == pytest.approx(6 * 2 / 2**9, rel=1e-5)


@pytest.mark.parametrize("draw", [normal, shares])
def test_verdict_interval_and_p_agree(draw):
    rng = np.random.default_rng(7)
    verdicts = set()
    for _ in range(150):
        n_systems, n_methods = int(rng.integers(2, 13)), int(rng.integers(2, 8))
        means = rng.uniform(0.2, 1.4, n_methods) * rng.choice([0.0, 1.0, 2.0])
        comparisons, *_ = compared(draw(rng, n_systems, means), IN_RECOVERY if draw is shares else IN_FRESH_ERROR)
        for p, (low, high), verdict in zip(comparisons.p_values, comparisons.limits, comparisons.verdicts, strict=True):
            verdicts.add(verdict)
            is_clear = not low <= 0 <= high
            assert is_clear == (p <= ALPHA)
            if verdict != "practically equal":
                assert (verdict != "open") == is_clear
    assert verdicts >= {"open", "better" if draw is shares else "worse"}


def test_ties_in_all_systems_are_no_proof_of_equality():
    comparisons, *_ = compared(np.ones((13, 2)))
    low, high = comparisons.limits[0]
    assert comparisons.verdicts == ["open"] and comparisons.p_values == [1.0]
    assert (low, high) == (pytest.approx(-0.247, abs=1e-3), pytest.approx(0.247, abs=1e-3))
    many, *_ = compared(np.ones((80, 2)))
    assert many.verdicts == ["practically equal"]
    # Where one method has all and the other nothing, the interval is no point.
    clear, *_ = compared(np.column_stack([np.ones(13), np.zeros(13)]))
    assert clear.limits[0] == (pytest.approx(0.753, abs=1e-3), 1.0)


def forged(chances, n_systems, seed, scenarios=("base",)):
    """Return the comparison of methods that recover the terms with these chances, one error of the free run for all."""
    rng = np.random.default_rng(seed)
    problems = []
    for scenario in scenarios:
        for system in range(n_systems):
            methods = []
            for name, chance in chances.items():
                runs = [forged_run(rng, 1, chance), forged_run(rng, 2, chance)]
                methods.append(make_method(name, runs))
            problems.append(make_score(methods, f"S{system}", scenario, held_out=True))
    return comparison(frames_of(problems))


def forged_run(rng, seed, chance):
    terms = {"terms": TRUE, "hits": len(TRUE)} if rng.random() < chance else {"terms": SPURIOUS, "hits": 0}
    return make_run(seed, -4000.0 + float(rng.integers(0, 300)), fresh_error=float(rng.uniform(0.01, 0.05)), **terms)


def read_by_a_reader(compared_methods):
    """Return all text that readers see of a comparison: the answer, the tables, the page."""
    texts = ["\n".join(document_lines(compared_methods))]
    for table in leaderboard_tables(compared_methods).values():
        texts.append("\n".join(" | ".join(row) for row in table.rows("plain")))
    page = re.sub(r"<(script|style)\b.*?</\1>", "", render(compared_methods), flags=re.DOTALL)
    texts.append(unescape(re.sub(r"<[^>]+>", " ", page)))
    return [re.sub(r"[\s\u00a0]+", " ", text) for text in texts]


def check_that_nothing_contradicts(compared_methods):
    """Check every comparison as it is shown: p, verdict and interval say the same."""
    for view in compared_methods.views:
        for want in (TERMS, NEW_DATA):
            for rival in lead_for(view, want).rivals:
                shown = 0.0 if rival.p_text.startswith("<") else float(rival.p_text)
                assert (shown <= ALPHA) == (rival.verdict in ("better", "worse")), rival
                if rival.interval != "none":
                    low, high = (float(text.strip("×+").replace("−", "-")) for text in rival.interval.split(" to "))
                    middle = 1.0 if want == NEW_DATA else 0.0
                    assert (low > middle or high < middle) == (rival.verdict in ("better", "worse")), rival


EQUAL = dict.fromkeys(("aols", "frols", "ga", "mine"), 0.6)


@pytest.mark.parametrize("n_studies", mostly_slow([3, 20], 3))
def test_a_study_without_a_difference_names_no_best_method(n_studies):
    n_claims = 0
    for seed in range(n_studies):
        study = forged(EQUAL, 7, seed)
        check_that_nothing_contradicts(study)
        first = document_lines(study)[0]
        n_claims += "may be as good" not in first and "No method is shown to be best" not in first
    # 5 % of the studies, and two standard deviations of chance.
    assert n_claims <= round(ALPHA * n_studies + 2 * (ALPHA * (1 - ALPHA) * n_studies) ** 0.5)


def test_one_better_method_is_told_from_all_others():
    study = forged({**EQUAL, "mine": 1.0, "frols": 0.1, "ga": 0.1, "aols": 0.2}, 9, 1, ("base", "noisy"))
    check_that_nothing_contradicts(study)
    answer, *_ = texts = read_by_a_reader(study)
    assert answer.startswith(
        "**Use mine.** 100 % of the runs of mine end at exactly the system terms (interval 66.4 % to 100 %)"
    )
    assert "mine is better than 3 of 3 others (p" in answer and "with 9 systems no p can be below 0.003906" in answer
    for text in texts:
        assert "100 % to 100 %" not in text
    assert "mine is first and at 80 % or above in all 3 conditions" in answer


@pytest.mark.slow
def test_too_few_systems_give_no_answer():
    for n_systems in (1, 2, 3, 5):
        study = forged({"mine": 1.0, "ga": 0.0}, n_systems, 1)
        for text in read_by_a_reader(study):
            assert not re.search(r"\bUse \w+\.|better than [1-9]", text)
        for want in WANTS:
            first = answer_lines(study.views[0], want)[0]
            assert first.startswith("**Not enough data sets") or first.startswith("**No method can"), first
    assert "With 5 systems no p can be below 0.0625, and a verdict takes 0.05 or less, which 6 systems can reach." in (
        document_lines(study)[0].replace("\u00a0", " ")
    )
    assert document_lines(forged({"mine": 1.0, "ga": 0.0}, 6, 1))[0].startswith("**Use mine.**")


def test_perfect_methods_are_not_told_apart():
    study = forged({"mine": 1.0, "frols": 1.0, "ga": 1.0}, 13, 1)
    check_that_nothing_contradicts(study)
    answer, *texts = read_by_a_reader(study)
    assert answer.startswith("**No method is shown to be best;")
    assert "difference 0.0 points (interval −" in answer and "75.3 % to 100 %" in answer
    assert texts
    for text in texts:
        assert "100 % to 100 %" not in text
    assert sum("better than 0 of 2" in text for text in texts) == 2

"""Every number of the errata is that of the published values, of the systems, or of the kept results."""

import math
from collections import Counter
from itertools import product
from pathlib import Path
from statistics import median

import numpy as np
import pytest
from tests.unit.studies.paper.summaries import REFERENCE, published

from narxbench.algorithms.upso2d import LITERAL, self_feedback
from narxbench.fitness.problem import StructureProblem
from narxbench.io.errors import NarxbenchError
from narxbench.model.excitation import UniformInput
from narxbench.model.system import load_system
from narxbench.report.formats import rounded
from narxbench.studies.paper.agreement import compare, own_deviances
from narxbench.studies.paper.claims import GA, SPARSE, SYSTEMS, UPSO, both_criteria, published_view
from narxbench.studies.paper.frames import read_frame
from narxbench.study.design_choices import BASELINE, interpretation_text, load_design_choices

SNRS = (50, 40, 30)
VIEW = published_view(published())
SECTIONS = (Path(__file__).parents[3] / "docs" / "errata.md").read_text(encoding="utf-8").split("\n## ")


def erratum(number):
    """Return the text of an erratum in one line."""
    return " ".join(SECTIONS[number].split())


def row(system, snr_db, algorithm=UPSO, criterion="bic"):
    return VIEW.row(system, snr_db, algorithm, criterion)


def nu(system, label, *place):
    return row(system, *place).nu[int(label[1:]) - 1]


def listed(values, last=" and "):
    """Return numbers as a sentence lists them."""
    *first, end = map(rounded, values)
    return f"{', '.join(first)}{last}{end}"


def smallest(*place):
    return min(row(*place).nu)


def test_order_of_s4():
    text, terms = erratum(1), published().systems["S4"].reset_index().set_index("label")
    always = {label for label in terms.index if all(nu("S4", label, snr, GA) == 1 for snr in SNRS)}
    by_size = terms["coefficient"].abs().sort_values(ascending=False)
    assert always == set(by_size.index[:4]) == {"T5", "T7", "T18", "T19"}
    for label in (*by_size.index[:5], by_size.index[-1]):
        assert terms["term"][label] in text
        assert f"({terms['coefficient'][label]:.4f})" in text
    assert by_size.index[4] == "T22"
    found = [nu("S4", "T22", snr, GA) for snr in SNRS]
    rest = [label for label in terms.index if label not in always]
    for snr, value in zip(SNRS, found, strict=True):
        assert value == max(nu("S4", label, snr, GA) for label in rest)
    assert f"({listed(found)})" in text
    assert [label for label in terms.index if nu("S4", label, 30) < 1] == ["T1", "T15"]
    assert by_size.index[-1] == "T15"
    by_appendix = terms.reset_index().set_index("appendix_label")["term"]
    for label in always:
        assert f"`{by_appendix[label]}`" in text
    assert by_appendix["T1"] == "u(k-1)"
    assert all(round(10 * (1 - nu("S4", "T1", snr, GA))) == 4 for snr in SNRS)


def test_what_speaks_against_the_order_of_s4():
    text, terms = erratum(1), published().systems["S4"]
    for term, label in (("y(k-2)", "T2"), ("u(k-3)", "T7")):
        assert terms["label"][term] == label
        assert f"({terms['coefficient'][term]})" in text
        assert listed([nu("S4", label, snr, UPSO, "aic-256") for snr in SNRS]) in text
    assert f"T1 with a ν of {listed([nu('S4', 'T1', snr, UPSO, 'aic-256') for snr in SNRS])}" in text
    kept = read_frame("conditions", REFERENCE / "interpretations" / "conditions.csv")
    kept = kept[(kept["system"] == "S4") & (kept["method"] == UPSO) & (kept["criterion"] == "aic-256")]
    counts = kept[kept["interpretation"] == BASELINE]["nu"]
    assert {count[1] for count in counts} == {0}
    assert f"in {min(count[6] for count in counts)} to {max(count[6] for count in counts)} of 40 runs" in text


def test_terms_of_s2_and_s3():
    terms = published().systems["S2"].reset_index().set_index("label")
    assert (terms["term"]["T1"], terms["coefficient"]["T1"]) == ("1", 0.5)
    assert terms["term"]["T3"] == "u(k-2)"
    assert not any("u" in term and "y" in term for term in terms["term"])
    assert len(published().systems["S3"]) == 4


def test_bic_is_an_aic():
    text = erratum(4)
    assert f"ln 600 = {math.log(600):.3f}" in text
    assert f"ϱ = {math.log(600):.2f}" in text
    met = {
        rho: sum(both_criteria(row(*place, UPSO, f"aic-{rho}")).holds for place in product(SYSTEMS, SNRS))
        for rho in (2, 8, 64, 256)
    }
    assert [rho for rho, count in met.items() if count == 12] == [8]
    assert "2, 64 and 256 each fail in some row" in text
    assert all(both_criteria(row(*place)).holds for place in product(SYSTEMS, SNRS))


def test_rho_2_on_s4():
    text = erratum(5)
    assert [both_criteria(row("S4", snr, UPSO, "aic-2")).holds for snr in SNRS] == [True, True, False]
    at_30 = row("S4", 30, UPSO, "aic-2")
    assert f"T1 has ν = {rounded(at_30.nu[0])} and ν_max is {rounded(at_30.nu_max)}" in text
    assert at_30.nu[0] < at_30.nu_max
    assert {sum(value >= 0.95 for value in row("S4", snr, UPSO, "aic-256").nu) for snr in SNRS} == {1}
    for snr in (50, 40):
        rising = [row("S4", snr, UPSO, f"aic-{rho}") for rho in (2, 8, 64)]
        assert f"from {' to '.join(rounded(of.nu_max) for of in rising)} as ϱ rises" in text
        assert all(min(of.nu) == 1 for of in rising)


def test_thresholds():
    text = erratum(6)
    assert all(row(*place).nu_max < smallest(*place) for place in product(SYSTEMS, SNRS))
    above, below = row("S4", 40).nu_max, nu("S3", "T1", 30)
    assert above == max(row(*place).nu_max for place in product(SYSTEMS, SNRS))
    assert below == min(smallest(*place) for place in product(SYSTEMS, SNRS)) <= above
    assert f"above {rounded(above)}, the published ν_max" in text
    assert f"no higher than {rounded(below)}, the ν of T1" in text
    kept = {place: row(*place).nu_max for place in product(SYSTEMS, SNRS) if row(*place).nu_max >= 0.9}
    assert kept == {("S4", 40): 0.95, ("S4", 30): 0.9}
    assert "on S4 at 40 dB (0.95) and at 30 dB (0.90)" in text


def test_spurious_terms_on_s4():
    text = erratum(7)
    own, other = ([row("S4", snr, name) for snr in SNRS] for name in (UPSO, GA))
    assert f"is {listed([of.r for of in own])} against {rounded(other[0].r)} of GA at every SNR" in text
    assert len({of.r for of in other}) == 1
    found, against = (listed([of.nu_max for of in side]) for side in (own, other))
    assert f"{found} against {against}" in text
    assert all(a.nu_max > b.nu_max for a, b in zip(own, other, strict=True))


def test_rho_256_on_s2():
    below = {place: smallest(*place, UPSO, "aic-256") for place in product(SPARSE, SNRS)}
    assert Counter(below.values()) == {1: 8, 0.9: 1}
    assert below["S2", 30] == nu("S2", "T4", 30, UPSO, "aic-256") == 0.9
    assert "on S2 at 30 dB T4 has ν = 0.90 with ϱ = 256. In the other eight rows" in erratum(8)


@pytest.mark.parametrize("name", SYSTEMS)
def test_good_models_have_a_negative_fitness(name):
    system = load_system(name)
    for snr in SNRS:
        u, y = system.simulate(2000, snr_db=snr)
        orders = {"n_u": system.n_u, "n_y": system.n_y, "degree": system.degree}
        assert StructureProblem(u, y, **orders, n_validation=600).evaluate(system.terms).fitness < 0


@pytest.mark.parametrize("worst", [-1000.0, 1000.0])
def test_equation_6_as_printed(worst):
    delta = 1 - -1100 / worst
    found = self_feedback(np.array([-1100.0, worst]), np.array([-1000.0, worst]), LITERAL)[0]
    assert f"max F = {worst:g} δ is {delta:.1f} and Δ is {found:.1f}" in erratum(9)
    assert not 0 <= delta <= 1


def test_r_counts_the_terms_of_all_runs():
    text, n_terms = erratum(12), 66
    spurious = n_terms - len(published().systems["S4"])
    assert f"of which {spurious} are spurious, and {spurious}/{n_terms} = {spurious / n_terms:.2f}" in text
    assert {row("S4", snr, GA).r for snr in SNRS} == {round(spurious / n_terms, 2)}
    assert f"is {listed([row('S4', snr, GA).nu_max for snr in SNRS])};" in text


@pytest.fixture(scope="module")
def kept():
    """Return the deviances of the kept results, of a table each."""
    conditions = read_frame("conditions", REFERENCE / "interpretations" / "conditions.csv")
    of_s4 = conditions[(conditions["system"] == "S4") & conditions["criterion"].isin(["bic", "aic-64", "aic-256"])]
    return compare(of_s4, published().once)


def distances(kept, algorithm, criterion, interpretation):
    """Return the deviances of the table of S4 by data seed, and the median one between two data sets."""
    own = kept.query("algorithm == @algorithm and criterion == @criterion and interpretation == @interpretation")
    return own.groupby("data_seed")["deviance"].sum(), median(own_deviances(own).values())


def test_selection_of_the_ga(kept):
    text = erratum(13)
    described, own = distances(kept, GA, "bic", BASELINE)
    assert len(described) == 10
    assert f"lies {described.median():.0f} from the tables" in text and f"data sets lie {own:.0f} apart" in text
    found = [
        distances(kept, GA, "bic", name) for name in ("selection=maximising", "selection=cumulative", "evaluations=160")
    ]
    words = [f"{each.iloc[0]:.0f} and {each.iloc[1]:.0f}" for each, _ in found]
    assert f"lies {words[0]} from them" in text and f"{words[1]}, and one" in text and f"evaluations {words[2]}" in text
    assert all(each.median() < 1.5 * between for each, between in found)


def test_input_of_s4(kept):
    text, choices = erratum(14), load_design_choices()
    closest = interpretation_text(choices, choices.named["closest"], UPSO)
    for name, words in (
        (BASELINE, "lies {} from the table of S4 (median of three data sets; {} between"),
        (closest, "lies {} from it ({} between"),
    ):
        by_seed, own = distances(kept, UPSO, "aic-64", name)
        assert words.format(f"{by_seed.median():.0f}", f"{own:.0f}") in text
        assert len(by_seed) == 3
    by_seed, own = distances(kept, UPSO, "aic-256", closest)
    assert f"lie {own:.0f} apart there, and the table lies {by_seed.median():.0f} from them" in text


def test_s4_diverges_under_a_larger_input():
    def diverges(seed):
        try:
            load_system("S4").simulate(
                2000, snr_db=None, seed=seed, excitation=UniformInput(kind="uniform", low=-2, high=2)
            )
        except NarxbenchError:
            return True
        return False

    assert [seed for seed in range(1, 11) if diverges(seed)] == [2, 7, 10]
    assert "three of ten data sets, 2, 7 and 10" in erratum(14)

"""Numbers of the errata that are computed, of systems or kept results, are current; published values do not change."""

from pathlib import Path
from statistics import median

import numpy as np
import pytest
from tests.unit.analysis.summaries import REFERENCE, published

from narxbench.algorithms.upso2d import LITERAL, self_feedback
from narxbench.analysis.agreement import compare, own_deviances
from narxbench.analysis.claims import GA, SYSTEMS, UPSO
from narxbench.analysis.frames import read_frame
from narxbench.experiment.interpretations import BASELINE, interpretation_text, load_design_choices
from narxbench.fitness.problem import StructureProblem
from narxbench.io.errors import NarxbenchError
from narxbench.model.excitation import UniformInput
from narxbench.model.system import load_system

SECTIONS = (Path(__file__).parents[3] / "docs" / "errata.md").read_text(encoding="utf-8").split("\n## ")


def erratum(number):
    """Return the text of an erratum in one line."""
    return " ".join(SECTIONS[number].split())


def test_what_speaks_against_the_order_of_s4():
    text = erratum(1)
    kept = read_frame("conditions", REFERENCE / "interpretations" / "conditions.csv")
    kept = kept[(kept["system"] == "S4") & (kept["method"] == UPSO) & (kept["criterion"] == "aic-256")]
    counts = kept[kept["interpretation"] == BASELINE]["nu"]
    assert {count[1] for count in counts} == {0}
    assert f"in {min(count[6] for count in counts)} to {max(count[6] for count in counts)} of 40 runs" in text


@pytest.mark.parametrize("name", SYSTEMS)
def test_good_models_have_a_negative_fitness(name):
    system = load_system(name)
    for snr in (50, 40, 30):
        u, y = system.simulate(2000, snr_db=snr)
        orders = {"n_u": system.n_u, "n_y": system.n_y, "degree": system.degree}
        assert StructureProblem(u, y, **orders, n_validation=600).evaluate(system.terms).fitness < 0


@pytest.mark.parametrize("worst", [-1000.0, 1000.0])
def test_equation_6_as_printed(worst):
    delta = 1 - -1100 / worst
    found = self_feedback(np.array([-1100.0, worst]), np.array([-1000.0, worst]), LITERAL)[0]
    assert f"max F = {worst:g} δ is {delta:.1f} and Δ is {found:.1f}" in erratum(9)
    assert not 0 <= delta <= 1


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

import pytest

from narxbench import load_system, search
from narxbench.algorithms.search import prepared

pytest.importorskip("pymoo")


def test_it_finds_the_system_and_spends_its_budget(small_problem):
    result = search(small_problem, algorithm="pymoo_ga", seed=1, evaluations=1500)
    assert result.terms == load_system("S1").terms
    assert result.evaluations == 1500


def test_its_seed_decides_all_of_its_draws(small_problem):
    with prepared("pymoo_ga", {"population_size": 20}) as runner:
        first, again, other = (runner.run(small_problem, seed=seed, evaluations=200) for seed in (1, 1, 2))
    assert first.trace.tolist() == again.trace.tolist() != other.trace.tolist()
    assert len(first.trace) == 200

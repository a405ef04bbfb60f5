import json
import math

import pytest

import narxbench
from narxbench import NarxbenchError
from narxbench.cli import main
from narxbench.fitness.criteria import canonical_criterion, parse_criterion, penalty_per_term
from narxbench.model.dataset import write_signals


@pytest.mark.parametrize(("criterion", "rho"), [("aic-6.5", 6.5), ("aic-2", 2.0), ("aic-1e3", 1000.0), ("aic-.5", 0.5)])
def test_any_positive_penalty(criterion, rho):
    assert parse_criterion(criterion) == penalty_per_term(criterion, 600) == rho


def test_penalty_of_bic_is_the_logarithm_of_the_samples():
    assert parse_criterion("bic") is None
    assert penalty_per_term("bic", 600) == pytest.approx(math.log(600), rel=1e-15)


@pytest.mark.parametrize("text", ["BIC", "aic", "aic-", "aic-0", "aic-nan", "aic--2", "aic-1e999", "aic-２", 2])
def test_no_criterion(text):
    with pytest.raises(NarxbenchError, match=r"^criterion: found .*; allowed: 'bic', or 'aic-'"):
        parse_criterion(text)


@pytest.mark.parametrize("rho", [2.0, 6.5, 0.1, 1e-300, 1e22, 123456789.125])
def test_a_canonical_name_means_the_same(rho):
    name = canonical_criterion(f"aic-{rho!r}")
    assert parse_criterion(name) == rho and canonical_criterion(name) == name


def test_criteria_that_mean_the_same_search_alike():
    u, y = narxbench.load_system("S1").simulate(400, snr_db=30)

    def found(criterion):
        problem = narxbench.StructureProblem(u, y, n_u=2, n_y=2, degree=2, n_validation=100, criterion=criterion)
        return problem.criterion, narxbench.search(problem, algorithm="ga", seed=1, evaluations=300)

    name, result = found("aic-2")
    assert name == "aic-2" and [found(text) for text in ("aic-2.0", "aic-02", "aic-2e0")] == [(name, result)] * 3


def test_criteria_that_mean_the_same_identify_alike(tmp_path, capsys):
    write_signals(tmp_path / "data.csv", *narxbench.load_system("S1").simulate(300, snr_db=30))
    command = f"identify {tmp_path}/data.csv --input u --output y --degree 1 --y-lags 1 --u-lags 1 --resamples 0 --json"
    printed = []
    for criterion in ("aic-2", "aic-02.0"):
        assert main([*command.split(), "--criterion", criterion]) == 0
        printed.append(capsys.readouterr().out)
    assert printed[0] == printed[1] and json.loads(printed[0])["settings"]["criterion"] == "aic-2"

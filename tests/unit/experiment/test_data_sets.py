"""Data sets of a study: what decides their input."""

import pytest

from narxbench.experiment.data_sets import simulated_csv
from narxbench.io.errors import NarxbenchError
from narxbench.model.dataset import signals_csv
from narxbench.model.excitation import GaussianInput, UniformInput
from narxbench.model.system import System

DATA = {"samples": 20, "washout": 5, "noise": "output"}
SYSTEM = System("X", "y(k) = 0.5*y(k-1) + u(k-1)", n_u=1, n_y=1, degree=1, excitation=UniformInput(high=4.0))


def simulated(excitation, **given):
    data = {**DATA, "excitation": excitation}
    return simulated_csv(system=SYSTEM.definition(), snr_db=30, seed=2, data=data, **given)


def test_an_input_that_is_given_prevails_over_that_of_the_system():
    own, other = (
        SYSTEM.simulate(20, snr_db=30, seed=2, washout=5, excitation=e) for e in (None, GaussianInput(sd=0.5))
    )
    assert simulated(None) == signals_csv(*own)
    assert simulated({"kind": "gaussian", "sd": 0.5}) == signals_csv(*other) != simulated(None)


def test_data_that_no_run_sees_are_others():
    assert len({simulated(None, realisation=number) for number in (None, 0, 1)}) == 3


def test_an_impossible_input_is_reported():
    with pytest.raises(NarxbenchError, match=r"data: excitation\.kind: found 'gausian'"):
        simulated({"kind": "gausian"})

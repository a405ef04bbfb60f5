"""Simulated data sets that are not what their simulations give."""

from pathlib import Path

import pytest

from narxbench._io.errors import NarxbenchError
from narxbench._io.files import write_atomically
from narxbench._pipeline import data_sets
from narxbench._pipeline.data_sets import check_data_sets, simulated

SYSTEM = {"name": "X1", "equation": "y(k) = 0.4*y(k-1) + u(k-1)", "n_u": 1, "n_y": 1, "degree": 1}
DATA = {"samples": 20, "washout": 10, "excitation": {"kind": "uniform"}, "noise": "output"}
SIMULATION = {"system": SYSTEM, "snr_db": 30.0, "seed": 1, "data": DATA}


@pytest.fixture(autouse=True)
def _nothing_simulated(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(data_sets, "_DIGESTS", {})


@pytest.mark.parametrize("name", ["30dB.csv", "30dB/realisation-3.csv"])
def test_a_data_set_is_compared_with_its_simulation(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    write_atomically(path, simulated(str(path), SIMULATION))
    check_data_sets([str(path)], SIMULATION)
    data_sets._DIGESTS.clear()
    check_data_sets([str(path)], SIMULATION)
    with pytest.raises(NarxbenchError, match=r"\.csv: changed since it was simulated; delete it and run again$"):
        check_data_sets([str(path)], {**SIMULATION, "seed": 2})
    path.write_text(path.read_text() + "0,0\n")
    with pytest.raises(NarxbenchError, match=r"\.csv: changed since it was simulated; delete it and run again$"):
        check_data_sets([str(path)], SIMULATION)


def test_a_realisation_in_the_place_of_another_is_another_data_set(tmp_path: Path) -> None:
    paths = [tmp_path / f"30dB/realisation-{number}.csv" for number in (1, 2)]
    write_atomically(paths[0], simulated(str(paths[1]), SIMULATION))
    with pytest.raises(NarxbenchError, match=r"realisation-1\.csv: changed since it was simulated"):
        check_data_sets([str(paths[0])], SIMULATION)

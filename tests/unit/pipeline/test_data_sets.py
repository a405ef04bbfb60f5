"""Simulated data sets that are not what their definitions give."""

import os
from pathlib import Path

import pytest

from narxbench._io.errors import NarxbenchError
from narxbench._io.files import canonical_json, sha256, write_atomically
from narxbench._pipeline import data_sets
from narxbench._pipeline.data_sets import changed_data_sets, check_data_sets, simulated
from narxbench._pipeline.definitions import definition_file, write_definition

SYSTEM = {"name": "X1", "equation": "y(k) = 0.4*y(k-1) + u(k-1)", "n_u": 1, "n_y": 1, "degree": 1}
DATA = {"samples": 20, "washout": 10, "excitation": {"kind": "uniform"}, "noise": "output"}


@pytest.fixture
def definition(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """The definition of a problem, whose data sets no test has simulated yet."""
    monkeypatch.setattr(data_sets, "_DIGESTS", {})
    content = {"settings": {"simulation": {"system": SYSTEM, "snr_db": 30.0, "seed": 1, "data": DATA}}}
    file = definition_file(str(tmp_path / "30dB"), content)
    write_definition(file, content)
    return file


@pytest.mark.parametrize(("name", "realisation"), [("30dB.csv", None), ("30dB/realisation-3.csv", 3)])
def test_a_data_set_is_compared_with_its_definition(
    tmp_path: Path, definition: str, name: str, realisation: int | None
) -> None:
    path = tmp_path / name
    write_atomically(path, simulated(definition, realisation))
    check_data_sets([str(path)], definition)
    data_sets._DIGESTS.clear()
    check_data_sets([str(path)], definition)
    path.write_text(path.read_text() + "0,0\n")
    with pytest.raises(NarxbenchError, match=r"\.csv: changed since it was simulated; delete it and run again$"):
        check_data_sets([str(path)], definition)


def test_a_realisation_in_the_place_of_another_is_another_data_set(tmp_path: Path, definition: str) -> None:
    path = tmp_path / "30dB/realisation-1.csv"
    write_atomically(path, simulated(definition, 2))
    with pytest.raises(NarxbenchError, match=r"realisation-1\.csv: changed since it was simulated"):
        check_data_sets([str(path)], definition)


def test_data_sets_that_were_changed_after_their_summary(tmp_path: Path, definition: str) -> None:
    path, summary = tmp_path / "30dB.csv", tmp_path / "bic.json"
    text = simulated(definition, None)
    write_atomically(path, text)

    def changed() -> list[str]:
        return changed_data_sets(str(summary), {str(path): definition})

    assert changed() == []  # nothing is summed up
    write_atomically(summary, canonical_json({"data_sha256": sha256(text)}))
    for date in (0.0, 1e9, 4e9):
        write_atomically(path, text.replace("0", "1", 1))
        os.utime(path, (date, date))
        assert changed() == [str(path)]
    write_atomically(path, text)
    assert changed() == []
    write_atomically(path, text.replace("0", "1", 1))
    write_atomically(Path(definition), Path(definition).read_text())
    assert changed() == []  # older than its definition: it is made again

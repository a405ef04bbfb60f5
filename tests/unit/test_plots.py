"""The figures: deterministic bytes, and any matrix can be drawn."""

import subprocess
import sys
from xml.etree import ElementTree

import pytest
from cells import UNKNOWN, make_cell, published

from narxbench import plots
from narxbench.io.errors import NarxbenchError


def matrix(systems: tuple[str, ...]) -> list[dict[str, object]]:
    return [make_cell(system, 30, search) for system in systems for search in ("upso2d", "ga")]


def test_the_same_cells_give_the_same_bytes() -> None:
    cells = matrix(("S1", UNKNOWN))
    assert plots.convergence(cells, 30) == plots.convergence(cells, 30)
    first = plots.term_frequency(cells, 30, published())
    assert first == plots.term_frequency(cells, 30, published())
    assert b"CreationDate" not in first["pdf"]
    assert b"<dc:date>" not in first["svg"]


@pytest.mark.parametrize("systems", [("S1",), ("S1", "S2", UNKNOWN), ("S1", "S2", "S3", "S4", UNKNOWN)])
def test_any_number_of_systems_can_be_drawn(systems: tuple[str, ...]) -> None:
    for figure in (plots.convergence(matrix(systems), 30), plots.term_frequency(matrix(systems), 30, published())):
        ElementTree.fromstring(figure["svg"])
        assert figure["pdf"].startswith(b"%PDF")


def test_runs_that_found_nothing_and_missing_searches_can_be_drawn() -> None:
    cells = [*matrix(("S1",)), make_cell("S2", 30)]
    points = len(cells[0]["convergence"]["evaluations"])  # type: ignore[index]
    for key in ("mean", "low", "high"):
        cells[0]["convergence"][key] = [None] * points  # type: ignore[index]
    plots.convergence(cells, 30)
    plots.term_frequency(cells, 30, published())


def test_dollar_signs_in_names_are_not_mathematics() -> None:
    plots.convergence([make_cell("a$b$\\x", 30, "$s")], 30)


def test_an_snr_without_cells_is_an_error() -> None:
    with pytest.raises(NarxbenchError, match="found no cell at an SNR of 20 dB; allowed: 30"):
        plots.convergence(matrix(("S1",)), 20)


def test_labels_are_kept_apart() -> None:
    assert plots._spread([0.1, 0.15, 0.9], gap=0.2) == pytest.approx([0.1, 0.3, 0.9])


def test_pyplot_is_never_imported() -> None:
    code = "import sys, narxbench.plots; sys.exit('matplotlib.pyplot' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0

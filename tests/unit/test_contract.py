"""The module that algorithms of other packages import from, and its former paths."""

from importlib import import_module

import pytest

from narxbench import contract


@pytest.mark.parametrize(
    ("path", "names"),
    [
        ("narxbench.algorithms.contract", ["About", "Found", "Objective", "ProblemView"]),
        ("narxbench.io.settings", ["Settings"]),
    ],
)
def test_former_paths_give_the_same_objects(path: str, names: list[str]) -> None:
    former = import_module(path)
    assert former.__all__ == names
    for name in names:
        assert getattr(former, name) is getattr(contract, name)

"""The public interface."""

import types

import narxbench
import narxbench.algorithms as algorithms


def test_every_public_name_is_there_and_documented():
    for name in narxbench.__all__:
        assert getattr(narxbench, name).__doc__, name
    assert set(narxbench.__all__) <= set(dir(narxbench))


def test_a_package_is_a_module_and_the_search_a_function():
    assert isinstance(algorithms, types.ModuleType)
    assert callable(narxbench.search)

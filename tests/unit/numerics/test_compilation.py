"""Compiled functions: their arithmetic, and what is said while they are compiled."""

import ast
import gc
import itertools
import math
import threading
from collections import Counter
from pathlib import Path
from types import SimpleNamespace
from unittest.mock import Mock

import numba
import numpy as np
import pytest
from numba.core import event

import narxbench
from narxbench._numerics import compilation
from narxbench._numerics.compilation import NOTICE, Notice, compiled, inlined, inner


@pytest.fixture(autouse=True)
def empty_cache(tmp_path, of_numba):
    of_numba(CACHE_DIR=tmp_path)


@pytest.fixture
def said(caplog):
    """Return what a notice of the given patience says while functions are called."""

    def during(patience, *calls):
        caplog.clear()
        with event.install_listener("numba:compile", Notice(patience)):
            for call in calls:
                call()
        return caplog.messages

    # That of this process may be about to speak.
    event.unregister("numba:compile", NOTICE)
    yield during
    event.register("numba:compile", NOTICE)


def _ratio(a, b):
    return a / b


def _half(a):
    return a / 2


def test_division_follows_ieee_754():
    assert compiled(_ratio)(1.0, 0.0) == float("inf")


def test_compilation_is_reported_once_however_many_functions_and_threads(said):
    ratio, half = compiled(_ratio), compiled(_half)
    threads = [threading.Thread(target=half, args=[a]) for a in (1, 2.0, 3j)]

    def in_threads():
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    (message,) = said(0.0, lambda: ratio(1, 2), in_threads, lambda: ratio(1.0, 2.0))
    assert "once" in message and "\n" not in message
    assert len(half.signatures) == 3


def test_nothing_is_reported_of_code_that_is_loaded_nor_of_the_functions_of_others(said):
    compiled(_ratio)(1, 2)
    loading, of_others = compiled(_ratio), numba.njit(_half)
    assert said(0.0, lambda: loading(1, 2), lambda: of_others(1)) == []
    assert loading.stats.cache_hits.total() == 1


def test_functions_of_others_may_leave_compiled_code():
    @numba.njit
    def length(text):
        with numba.objmode(n="int64"):
            n = len(text.strip())
        return n + 0

    assert length(" abc ") == 3


def test_nothing_is_reported_until_compilations_have_lasted_in_total(said, monkeypatch):
    # Each look at the clock is a second later: the beginning of a compilation, the check, the end.
    monkeypatch.setattr(compilation, "time", SimpleNamespace(monotonic=itertools.count().__next__))
    first, second = (lambda: compiled(_ratio)(1, 2)), (lambda: compiled(_half)(1))
    assert said(math.inf, first) == []
    assert said(2.5, lambda: compiled(_ratio)(1.0, 2)) == []
    assert len(said(2.5, lambda: compiled(_ratio)(1, 2.0), second)) == 1


@pytest.mark.parametrize("collecting", [True, False])
def test_garbage_is_collected_again_after_a_compilation_even_one_that_fails(collecting):
    (gc.enable if collecting else gc.disable)()
    try:
        compiled(_ratio)(1, 2)
        assert gc.isenabled() is collecting
        with pytest.raises(numba.TypingError):
            compiled(_ratio)("a", None)
        assert gc.isenabled() is collecting
    finally:
        gc.enable()


def test_where_nothing_can_be_kept_the_way_out_is_reported(said, monkeypatch, of_numba):
    of_numba(CACHE_DIR="")
    monkeypatch.setattr("tempfile.TemporaryFile", Mock(side_effect=PermissionError))
    (message,) = said(0.0, lambda: compiled(_ratio)(1, 2))
    assert "NUMBA_CACHE_DIR" in message and "every process" in message and "\n" not in message


def _called_in(function):
    return [
        node.func.id for node in ast.walk(function) if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
    ]


def test_inlined_functions_have_one_caller():
    # Each further place would compile the whole function once more.
    inlined, places = set(), Counter()
    for path in Path(narxbench.__file__).parent.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if not isinstance(node, ast.FunctionDef):
                continue
            decorators = {ast.unparse(decorator) for decorator in node.decorator_list}
            if "inlined" in decorators:
                inlined.add(node.name)
            if decorators & {"compiled", "inlined", "inner"}:
                places.update(_called_in(node))
    assert len(inlined) > 20
    assert {name: places[name] for name in inlined} == dict.fromkeys(inlined, 1)


def test_an_inlined_function_computes_the_same_in_its_caller_as_alone():
    @inlined
    def _partial(values):
        total = 0.0
        for value in values:
            if value > 2.0:
                return total
            total += value / 3.0
        return -total

    @compiled
    def outer(values):
        return _partial(values) * 2.0

    for values in ([0.1, 0.7, 1.3], [0.1, 2.5, 1.3]):
        array = np.array(values)
        assert outer(array) == 2.0 * _partial(array) == 2.0 * _partial.py_func(array)


def test_python_cannot_call_an_inner_function_whether_or_not_it_is_compiled():
    half = inner(_half)

    @compiled
    def quarter(a):
        return half(half(a))

    for _ in range(2):
        with pytest.raises(TypeError, match="found a call from Python"):
            half(3.0)
        assert quarter(3.0) == 0.75

"""Compiled functions: their arithmetic, what is said of a compilation, calls by address, and code kept on disk.

What is right is loaded, all else is compiled, and nothing ends the program.
"""

import gc
import math
import shutil
import subprocess
import sys
from pathlib import Path
from unittest.mock import Mock

import numba
import numpy as np
import pytest
from numba import types
from numba.core import event
from numba.core.errors import TypingError

import narxbench
from narxbench._fitness.kernel.simd import _register_width
from narxbench._numerics import code_cache
from narxbench._numerics.addresses import address_of, call
from narxbench._numerics.code_cache import CodeCache, digest_of_compiled_modules
from narxbench._numerics.compilation import NOTICE, Notice, compiled, inlined, inner

PACKAGE = Path(narxbench.__file__).parent


@pytest.fixture
def of_numba():
    """Return what sets ``NUMBA_*`` in the environment, or removes it (None), as the user does."""
    with pytest.MonkeyPatch.context() as patch:

        def change(**settings):
            for name, value in settings.items():
                patch.delenv(f"NUMBA_{name}", raising=False)
                if value is not None:
                    patch.setenv(f"NUMBA_{name}", str(value))
            numba.config.reload_config()

        yield change
    numba.config.reload_config()


@pytest.fixture(autouse=True)
def folder(tmp_path, of_numba):
    """An empty cache."""
    of_numba(CACHE_DIR=tmp_path / "cache")
    return tmp_path / "cache"


def _square(x):
    return x * x


def _ratio(a, b):
    return a / b


def loaded(x=3):
    """Return whether a process that begins to use the function would find it ready."""
    square = compiled(_square)
    assert square(x) == x * x
    assert square.stats.cache_hits.total() + square.stats.cache_misses.total() == 1
    return square.stats.cache_hits.total() == 1


def files(folder):
    return sorted(path for path in folder.rglob("*") if path.is_file())


class TestCache:
    def test_each_signature_is_compiled_once_and_damaged_code_anew(self, folder):
        """Empty, cut in the seal or at the end, longer, with one bit changed, and that of other types."""
        assert [loaded(3), loaded(2.5), loaded(3), loaded(2.5)] == [False, False, True, True]
        file, second_file = files(folder)
        content = file.read_bytes()
        changed = content.replace(b"\x7fELF", b"\x7fELG")
        assert changed != content
        for damaged in (b"", content[:10], content[:-1], content + b"\0", changed, second_file.read_bytes()):
            file.write_bytes(damaged)
            assert sorted([loaded(3), loaded(2.5)]) == [False, True] and loaded(3) and loaded(2.5)

    def test_each_processor_has_its_own_code_and_an_edit_takes_over_its_file(self, folder, of_numba, monkeypatch):
        assert [loaded(), loaded()] == [False, True]
        of_numba(CPU_NAME="generic")
        assert [loaded(), loaded()] == [False, True]
        before = files(folder)
        monkeypatch.setattr(code_cache, "digest_of_compiled_modules", lambda _: "that of another source")
        assert [loaded(), loaded()] == [False, True]
        assert files(folder) == before

    def test_an_edit_of_a_module_concerns_all_code_and_that_of_an_algorithm_only_its_own(self, tmp_path, monkeypatch):
        copy = Path(shutil.copytree(PACKAGE, tmp_path / "narxbench", ignore=shutil.ignore_patterns("__pycache__")))
        monkeypatch.setattr(code_cache, "__file__", str(copy / "_numerics" / "code_cache.py"))
        ga, upso2d = copy / "_algorithms/ga.py", copy / "_algorithms/upso2d.py"

        def stamps():
            code_cache._sources.cache_clear()
            digest_of_compiled_modules.cache_clear()
            return [digest_of_compiled_modules(module) for module in (ga, upso2d)]

        after = stamps()
        for name, expected in {
            "_algorithms/ga.py": [True, False],
            "_algorithms/pem.py": [False, False],
            "_algorithms/population.py": [True, True],
            "_fitness/kernel/free_run.py": [True, True],
            "_numerics/addresses.py": [True, True],
            "_identification/validation/weights.py": [True, True],
        }.items():
            (copy / name).write_bytes((copy / name).read_bytes() + b"#")
            before, after = after, stamps()
            assert [new != old for new, old in zip(after, before, strict=True)] == expected, name

    def test_code_that_cannot_be_written_is_reported_once(self, folder, caplog, monkeypatch):
        monkeypatch.setattr(CodeCache, "_reported", False)
        square, again = compiled(_square), compiled(_square)
        shutil.rmtree(folder)
        folder.touch()
        assert (square(3), again(2.5)) == (9, 6.25)
        (message,) = (message for message in caplog.messages if "not kept" in message)
        assert str(folder) in message and "Not a directory" in message and "\n" not in message

    @pytest.fixture
    def package(self, tmp_path, monkeypatch, of_numba):
        """A folder of a module, and no cache folder but the usual ones."""
        of_numba(CACHE_DIR="")
        monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "home"))
        (tmp_path / "package").mkdir()
        (tmp_path / "package" / "powers.py").write_text("def square(x):\n    return x * x\n", encoding="utf-8")
        return tmp_path / "package"

    @staticmethod
    def is_loaded(package, *arguments):
        """Return whether a new process loads the code of a function of the module, else compiles it."""
        script = package.parent / "loading.py"
        script.write_text(LOADING, encoding="utf-8")
        command = [sys.executable, str(script), str(package), *arguments]
        printed = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()
        # Numba's implementations take longer to import than Numba itself: only a compilation needs them.
        assert printed in (["True", "False"], ["False", "True"])
        return printed[0] == "True"

    def test_a_package_that_cannot_be_written(self, package, tmp_path):
        """The user's cache folder takes its place; without one functions are compiled, and nothing is written."""
        (package / "__pycache__").touch()
        assert [self.is_loaded(package), self.is_loaded(package)] == [False, True]
        assert len(list((tmp_path / "home").rglob("powers.square-*.nbc"))) == 1
        shutil.rmtree(tmp_path / "home")
        (tmp_path / "home").touch()
        before = files(tmp_path)
        assert not self.is_loaded(package)
        assert files(tmp_path) == before

    def test_what_the_installer_compiled_is_used_where_nothing_can_be_written(self, package):
        assert [self.is_loaded(package), self.is_loaded(package, "read-only")] == [False, True]


# Prints whether the square was loaded, and whether Numba's implementations were.
LOADING = """
import sys, tempfile
from narxbench._numerics.compilation import compiled
def refuse(**_):
    raise PermissionError

if sys.argv[2:]:
    tempfile.TemporaryFile = refuse
sys.path.insert(0, sys.argv[1])
from powers import square
square = compiled(square)
assert square(3) == 9
print(square.stats.cache_hits.total() == 1, "numba.np.npyimpl" in sys.modules)
"""


class TestNotice:
    @pytest.fixture
    def said(self, caplog):
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

    def test_a_compilation_is_reported_once_but_not_code_that_is_loaded_nor_that_of_others(self, said):
        (message,) = said(0.0, lambda: compiled(_ratio)(1, 2), lambda: compiled(_square)(1))
        assert "once" in message and "\n" not in message
        loading, of_others = compiled(_ratio), numba.njit(_square)
        assert said(0.0, lambda: loading(1, 2), lambda: of_others(1)) == []
        assert loading.stats.cache_hits.total() == 1

    def test_where_nothing_can_be_kept_the_way_out_is_reported(self, said, monkeypatch, of_numba):
        of_numba(CACHE_DIR="")
        monkeypatch.setattr("tempfile.TemporaryFile", Mock(side_effect=PermissionError))
        (message,) = said(0.0, lambda: compiled(_ratio)(1, 2))
        assert "NUMBA_CACHE_DIR" in message and "every process" in message and "\n" not in message


@pytest.mark.parametrize("collecting", [True, False])
def test_garbage_is_collected_again_after_a_compilation_even_one_that_fails(collecting):
    (gc.enable if collecting else gc.disable)()
    try:
        assert compiled(_ratio)(1.0, 0.0) == math.inf
        with pytest.raises(numba.TypingError):
            compiled(_ratio)("a", None)
        assert gc.isenabled() is collecting
    finally:
        gc.enable()


def test_functions_within_others_compute_as_plain_python_and_inner_ones_are_not_called_from_it():
    reduced, half = inlined(lambda values: values.sum() - 0.1), inner(lambda a: a / 3)

    @compiled
    def outer(values):
        return half(reduced(values))

    values = np.array([0.1, 0.7, 1.3])
    assert outer(values) == reduced.py_func(values) / 3
    with pytest.raises(TypeError, match="found a call from Python"):
        half(3.0)


def test_a_call_by_address():
    @compiled
    def double(numbers, doubled):
        for i in range(numbers.shape[0]):
            doubled[i] = 2.0 * numbers[i]

    @compiled
    def twice(address, numbers, doubled):
        call(address, numbers, doubled)
        call(address, doubled, doubled)

    address, doubled = address_of(double, types.float64[::1], types.float64[::1]), np.empty(3)
    twice(address, np.array([1.0, 2.0, 3.0]), doubled)
    assert doubled.tolist() == [4.0, 8.0, 12.0]
    read_only = np.ones(3)
    read_only.flags.writeable = False
    for refused in (np.ones(6)[::2], read_only):
        with pytest.raises(TypingError, match="allowed: contiguous arrays that can be written"):
            twice(address, refused, doubled)


@pytest.mark.parametrize(
    ("features", "width"), [("+avx2,+avx512f,+fma", 8), ("+avx2,-avx512f", 4), ("", 4)], ids=["wide", "narrow", "none"]
)
def test_the_width_of_vectors_is_that_of_the_processor_that_numba_compiles_for(monkeypatch, features, width):
    monkeypatch.setattr(numba.config, "CPU_FEATURES", features)
    assert _register_width() == width

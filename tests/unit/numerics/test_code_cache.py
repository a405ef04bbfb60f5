"""The cache of machine code: what is right is loaded, all else is compiled, and nothing ends the program."""

import shutil
import subprocess
import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from unittest.mock import Mock

import pytest

import narxbench
from narxbench._numerics import code_cache
from narxbench._numerics.code_cache import CodeCache, digest_of_compiled_modules
from narxbench._numerics.compilation import compiled

PACKAGE = Path(narxbench.__file__).parent


@pytest.fixture
def folder(tmp_path, of_numba):
    """An empty cache."""
    of_numba(CACHE_DIR=tmp_path / "cache")
    return tmp_path / "cache"


def _square(x):
    return x * x


def loaded(x=3):
    """Return whether a process that begins to use the function would find it ready."""
    square = compiled(_square)
    assert square(x) == x * x
    assert square.stats.cache_hits.total() + square.stats.cache_misses.total() == 1
    return square.stats.cache_hits.total() == 1


def files(folder):
    return sorted(path for path in folder.rglob("*") if path.is_file())


def test_each_signature_is_compiled_once(folder):
    assert [loaded(3), loaded(2.5), loaded(3), loaded(2.5)] == [False, False, True, True]
    assert len(files(folder)) == 2


def test_damaged_code_is_compiled_anew(folder):
    """Empty, cut in the seal or at the end, longer, and with one bit of its machine code changed."""
    loaded()
    (file,) = files(folder)
    content = file.read_bytes()
    changed = content.replace(b"\x7fELF", b"\x7fELG")
    assert changed != content
    for damaged in (b"", content[:10], content[:-1], content + b"\0", changed):
        file.write_bytes(damaged)
        assert [loaded(), loaded()] == [False, True]


def test_code_in_the_place_of_other_code_is_not_loaded(folder):
    """As two processes left it whose files had the same name: of other types, or for another processor."""
    loaded(3)
    (file,) = files(folder)
    right = file.read_bytes()
    loaded(2.5)
    (second_file,) = set(files(folder)) - {file}
    second_file.write_bytes(right)
    assert [loaded(2.5), loaded(2.5)] == [False, True]


def test_each_type_of_processor_has_its_own_code_and_an_edit_takes_over_its_file(folder, of_numba, monkeypatch):
    assert loaded() is False
    of_numba(CPU_NAME="generic")
    assert [loaded(), loaded()] == [False, True]
    of_numba(CPU_NAME=None)
    assert loaded()
    before = files(folder)
    monkeypatch.setattr(code_cache, "digest_of_compiled_modules", lambda _: "that of another source")
    assert [loaded(), loaded()] == [False, True]
    assert files(folder) == before


@pytest.fixture
def package_copy(tmp_path, monkeypatch):
    """A copy of the package, whose modules the stamps are made of."""
    copy = Path(shutil.copytree(PACKAGE, tmp_path / "narxbench", ignore=shutil.ignore_patterns("__pycache__")))
    monkeypatch.setattr(code_cache, "__file__", str(copy / "_numerics" / "code_cache.py"))
    return copy


def stamp(module):
    code_cache._sources.cache_clear()
    digest_of_compiled_modules.cache_clear()
    return digest_of_compiled_modules(module)


def test_the_stamp_is_that_of_all_modules_with_compiled_functions_and_of_those_that_make_code(package_copy):
    modules = [path for path in package_copy.rglob("*.py") if "\n@compiled\n" in path.read_text(encoding="utf-8")]
    modules += [package_copy / "_numerics/addresses.py", package_copy / "_numerics/compilation.py"]
    ga, upso2d = package_copy / "_algorithms/ga.py", package_copy / "_algorithms/upso2d.py"
    assert {package_copy / "_numerics/logarithm.py", ga, upso2d} <= {*modules}
    stamps = stamp(ga), stamp(upso2d)
    for path in modules:
        path.write_bytes(path.read_bytes() + b"#")
        before, stamps = stamps, (stamp(ga), stamp(upso2d))
        is_changed = stamps[0] != before[0], stamps[1] != before[1]
        # An edit of an algorithm concerns none but itself.
        if path.parent.name == "_algorithms" and "\ndef run(" in path.read_text(encoding="utf-8"):
            assert is_changed == (path == ga, path == upso2d)
        else:
            assert is_changed == (True, True)


def test_code_that_cannot_be_written_is_reported_once(folder, caplog, monkeypatch):
    monkeypatch.setattr(CodeCache, "_reported", False)
    square, again = compiled(_square), compiled(_square)
    shutil.rmtree(folder)
    folder.touch()
    assert (square(3), again(2.5)) == (9, 6.25)
    (message,) = (message for message in caplog.messages if "not kept" in message)
    assert str(folder) in message and "Not a directory" in message and "\n" not in message


@pytest.fixture
def package(tmp_path, monkeypatch, of_numba):
    """A folder of a module, and no cache folder but the usual ones."""
    of_numba(CACHE_DIR="")
    monkeypatch.setitem(sys.modules, "powers", None)
    (tmp_path / "package").mkdir()
    (tmp_path / "package" / "powers.py").write_text("def cube(x):\n    return x * x * x\n", encoding="utf-8")
    return tmp_path / "package"


def written(package):
    """Return a function of the module, compiled."""
    spec = spec_from_file_location("powers", package / "powers.py")
    module = module_from_spec(spec)
    sys.modules["powers"] = module
    spec.loader.exec_module(module)
    return compiled(module.cube)


def test_package_that_cannot_be_written(package, tmp_path, monkeypatch):
    """The user's cache folder takes its place; without one functions are compiled, and nothing is written."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "home"))
    (package / "__pycache__").touch()
    assert [written(package)(2), written(package)(2)] == [8, 8]
    assert len(list((tmp_path / "home").rglob("powers.cube-*.nbc"))) == 1
    shutil.rmtree(tmp_path / "home")
    (tmp_path / "home").touch()
    before = files(tmp_path)
    cube = written(package)
    assert (cube(2), cube.stats.cache_misses.total()) == (8, 1)
    assert files(tmp_path) == before


def test_what_the_installer_compiled_is_used_where_nothing_can_be_written(package, monkeypatch):
    written(package)(2)
    monkeypatch.setattr("tempfile.TemporaryFile", Mock(side_effect=PermissionError))
    cube = written(package)
    assert (cube(2), cube.stats.cache_hits.total()) == (8, 1)


# Prints whether the square was loaded, whether Numba's implementations were, and what code that contains it returns.
LOADING = """
import sys
from narxbench._numerics.compilation import compiled
sys.path.insert(0, sys.argv[1])
from powers import square
square = compiled(square)
assert square(3) == 9
print(square.stats.cache_hits.total() == 1, "numba.np.npyimpl" in sys.modules)

@compiled
def fourth(x):
    return square(square(x))

print(fourth(3))
"""


def test_code_is_loaded_without_what_only_a_compilation_needs(package, tmp_path):
    """Numba's implementations take longer to import than Numba itself; a later compilation imports them."""
    (package / "powers.py").write_text("def square(x):\n    return x * x\n", encoding="utf-8")
    (tmp_path / "loading.py").write_text(LOADING, encoding="utf-8")
    command = [sys.executable, str(tmp_path / "loading.py"), str(package)]
    printed = [subprocess.run(command, capture_output=True, text=True, check=True).stdout for _ in range(2)]
    assert printed == ["False True\n81\n", "True False\n81\n"]

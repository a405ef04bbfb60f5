"""The same bytes on another processor, in another order, in another language, and after a kill: by the manifests."""

import os
import shutil
import signal
import stat
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path

import pytest
from numpy._core._multiarray_umath import __cpu_dispatch__ as numpy_dispatches  # type: ignore[attr-defined]
from numpy._core._multiarray_umath import __cpu_features__ as numpy_found  # type: ignore[attr-defined]
from tests.workflow.project import ROOT, Copy, Project, differences

from narxbench.io.files import sha256
from narxbench.pipeline.manifest import read_manifest

# Both kinds of candidates (66 and 84), both algorithms, every kind of output.
CONFIG = "systems: [S3, S4]\nseeds: 3\nstatistics: {bootstrap_samples: 50}\n"
OVERLAYS = ("--configfile", "config/quick.yaml", "small.yaml")
SEARCHES = 2 * 4 * 3

# An x86-64 processor of the first generation: no AVX, no fused multiply-add, in what Numba compiles, in NumPy's loops,
# in the linear algebra below NumPy and in the C library's logarithm.
OLD_PROCESSOR = {
    "NUMBA_CPU_NAME": "generic",
    "NPY_DISABLE_CPU_FEATURES": " ".join(name for name in numpy_dispatches if numpy_found[name]),
    "OPENBLAS_CORETYPE": "Prescott",
    "GLIBC_TUNABLES": "glibc.cpu.hwcaps=-AVX512F,-AVX2,-AVX,-FMA,-FMA4",
}
# Settings of the user's that would change every figure.
MATPLOTLIBRC = "axes.grid: True\nlines.linewidth: 5\nsavefig.bbox: tight\npath.simplify: False\n"
PROCESSOR = """
import math
from numba.core.registry import cpu_target
from numpy._core._multiarray_umath import __cpu_dispatch__, __cpu_features__
print(*cpu_target.target_context.codegen().magic_tuple()[1:])
print(*[name for name in __cpu_dispatch__ if __cpu_features__[name]])
"""
DECIMAL_POINT = "import locale; locale.setlocale(locale.LC_ALL, ''); print(locale.localeconv()['decimal_point'])"


def python(code: str, env: Mapping[str, str]) -> list[str]:
    command = [sys.executable, "-c", code]
    return subprocess.run(command, env=os.environ | env, check=True, capture_output=True, text=True).stdout.splitlines()


def small_copy(root: Path) -> Copy:
    """Return a copy of the project that runs the small configuration."""
    copy = Copy.of_checkout(root, OVERLAYS)
    copy.write("small.yaml", CONFIG)
    return copy


@pytest.fixture(scope="module")
def ordinary(tmp_path_factory: pytest.TempPathFactory) -> Copy:
    """The small configuration, made on this processor with two cores."""
    copy = small_copy(tmp_path_factory.mktemp("ordinary") / "project")
    copy.take_compiled(ROOT)
    copy.make("--cores", "2", env={"LC_ALL": "C.UTF-8", "TZ": "UTC", "PYTHONHASHSEED": "0"})
    return copy


@pytest.fixture(scope="module")
def languages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, str]]:
    """The environments of a Turkish and a German user, as far as their locales can be made here."""
    folder = tmp_path_factory.mktemp("locales")
    made = {}
    for name in ("tr_TR", "de_DE"):
        target = folder / f"{name}.UTF-8"
        command = ["localedef", "--no-archive", "-i", name, "-f", "UTF-8", str(target)]
        if shutil.which("localedef") and subprocess.run(command, capture_output=True).returncode == 0:
            made[name] = {"LOCPATH": str(folder), "LC_ALL": f"{name}.UTF-8", "LANGUAGE": name}
    return made


def test_manifest_names_every_result(ordinary: Copy) -> None:
    entries = read_manifest(ordinary / "reports/manifest.csv").entries
    results = ordinary.results()
    del results["reports/manifest.csv"]
    assert {path: entry.sha256 for path, entry in entries.items()} == {path: sha256(c) for path, c in results.items()}
    assert sum(path.startswith("data/runs/") for path in entries) == SEARCHES
    assert {Path(path).suffix for path in entries} == {".csv", ".json", ".md", ".tex", ".svg", ".pdf", ".html"}


def test_no_zlib_has_a_say_in_the_figures(ordinary: Copy) -> None:
    """Compressed bytes differ between zlib and zlib-ng."""
    figures = {path: content for path, content in ordinary.results().items() if path.endswith(".pdf")}
    assert len(figures) >= 2
    assert [path for path, content in figures.items() if b"FlateDecode" in content] == []


@pytest.mark.ci
def test_the_languages_are_in_effect(languages: dict[str, dict[str, str]]) -> None:
    if len(languages) < 2:
        pytest.skip("no localedef with the sources of tr_TR and de_DE (Debian's package locales)")
    assert [python(DECIMAL_POINT, env) for env in languages.values()] == [[","], [","]]


def test_another_processor_user_and_order(ordinary: Copy, languages: dict[str, dict[str, str]], tmp_path: Path) -> None:
    """One core, another scheduler, an old processor with searches compiled for it, and all that a user may have set."""
    copy = small_copy(tmp_path / "a much longer name of the folder".replace(" ", "-") / "project")
    settings = tmp_path / "settings"
    settings.mkdir()
    (settings / "matplotlibrc").write_text(MATPLOTLIBRC)
    env = {**OLD_PROCESSOR, **languages.get("tr_TR", {}), "NUMBA_CACHE_DIR": str(tmp_path / "compiled")}
    env |= {"MPLCONFIGDIR": str(settings), "TZ": "Pacific/Kiritimati", "PYTHONHASHSEED": "1", "COLUMNS": "40"}
    name_and_features, in_numpy = python(PROCESSOR, env)
    assert (name_and_features.split(), in_numpy) == (["generic"], "")
    copy.make("--cores", "1", "--scheduler", "ilp", env=env, umask=0o077)
    assert stat.S_IMODE((copy / "reports/report.html").stat().st_mode) == 0o600
    assert stat.S_IMODE((ordinary / "reports/report.html").stat().st_mode) == 0o644
    assert differences(ordinary, copy) == []


def test_killed_and_resumed(ordinary: Copy, languages: dict[str, dict[str, str]], tmp_path: Path) -> None:
    """Killed while searches run, resumed from the end: the report first, then one figure, then the rest."""
    copy = small_copy(tmp_path / "project")
    copy.take_compiled(ordinary.root)
    env = {**languages.get("de_DE", {}), "PYTHONHASHSEED": "2", "TZ": "America/St_Johns"}
    runs = sorted(path for path in ordinary.results() if path.startswith("data/runs/"))
    begun = copy.begin("--cores", "2", env=env)
    while begun.poll() is None and not any((copy / path).exists() for path in runs):
        time.sleep(0.01)
    os.killpg(begun.pid, signal.SIGKILL)
    begun.communicate()
    assert 0 < sum((copy / path).exists() for path in runs) < SEARCHES
    # A text without an encoding of its own would be written or read in ASCII now.
    env = {"LC_ALL": "C", "PYTHONCOERCECLOCALE": "0", "PYTHONUTF8": "0", "PYTHONHASHSEED": "3"}
    env |= {"NPY_DISABLE_CPU_FEATURES": " ".join(n for n in OLD_PROCESSOR["NPY_DISABLE_CPU_FEATURES"].split()[1:])}
    copy.make("--unlock", env=env)
    for target in ("reports/report.html", "reports/figures/convergence.pdf", "all"):
        copy.make(target, "--cores", "2", env=env)
    assert differences(ordinary, copy) == []


def test_verify(ordinary: Copy, tmp_path: Path) -> None:
    """The kept manifest is that of this small run here."""
    project = Project(Path(shutil.copytree(ordinary.root, tmp_path / "project", symlinks=True)))
    kept, table = "docs/results/manifest.csv", "reports/tables/agreement.md"
    (project / kept).unlink(missing_ok=True)
    verify = ("verify", *OVERLAYS)
    assert f"\nnarxbench: {kept}: cannot be read: No such file or directory\n" in project.snakemake(*verify, code=1)
    shutil.copy(project / "reports/manifest.csv", project / kept)
    shutil.copy(project / table, project / "docs/results")
    assert f"files are the same as in {kept}.\n" in project.snakemake(*verify)
    # Changed behind Snakemake's back.
    path = project / table
    times = path.stat()
    project.write(table, path.read_text(encoding="utf-8").replace("Agreement", "Disagreement", 1))
    os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))
    printed = project.snakemake(*verify, code=1)
    assert "Traceback" not in printed
    assert f"The first, in the order of causes: {table}\n" in printed
    assert f"The first line that differs in {table} is line " in printed
    printed = project.snakemake("verify", *OVERLAYS[:2], code=1)
    assert "systems: found " in printed.splitlines()[-1]


def test_differences_are_seen(ordinary: Copy, tmp_path: Path) -> None:
    changed = Project(tmp_path)
    (tmp_path / "reports").mkdir()
    path = "reports/manifest.csv"
    text = (ordinary / path).read_text(encoding="utf-8")
    lost, *rest = [line for line in text.splitlines() if line.startswith("data/runs/")]
    entry, version = rest[0], "environment/numpy,,"
    changed.write(path, text.replace(lost + "\n", "").replace(entry, entry + "0").replace(version, version + "1"))
    names = [line.split(",")[0] for line in (lost, entry, version)]
    assert sorted(differences(ordinary, changed)) == sorted(names)

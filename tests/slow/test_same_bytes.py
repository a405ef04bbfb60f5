"""Results have the same bytes on another processor, in another order and in another language.

The record of a run has not, nor have the pages that quote it; their twins with a fixed record do.
"""

import shutil
import stat
import subprocess

import pytest
from numpy._core._multiarray_umath import __cpu_dispatch__, __cpu_features__
from tests.command import python
from tests.workflow.project import unlike

pytestmark = pytest.mark.slow

# An x86-64 processor of the first generation: no AVX, no fused multiply-add, in what Numba compiles, in NumPy's loops,
# in the linear algebra below NumPy and in the C library's logarithm.
OLD_PROCESSOR = {
    "NUMBA_CPU_NAME": "generic",
    "NPY_DISABLE_CPU_FEATURES": " ".join(name for name in __cpu_dispatch__ if __cpu_features__[name]),
    "OPENBLAS_CORETYPE": "Prescott",
    "GLIBC_TUNABLES": "glibc.cpu.hwcaps=-AVX512F,-AVX2,-AVX,-FMA,-FMA4",
}
# Settings of the user's that would change every figure.
MATPLOTLIBRC = "axes.grid: True\nlines.linewidth: 5\nsavefig.bbox: tight\npath.simplify: False\n"
DECIMAL_POINT = "import locale; locale.setlocale(locale.LC_ALL, ''); print(locale.localeconv()['decimal_point'])"
PROCESSOR = """
from numba.core.registry import cpu_target
from numpy._core._multiarray_umath import __cpu_dispatch__, __cpu_features__
print(*cpu_target.target_context.codegen().magic_tuple()[1:])
print(*[name for name in __cpu_dispatch__ if __cpu_features__[name]])
"""


@pytest.fixture(scope="module")
def turkish(tmp_path_factory):
    """Return the environment of a Turkish user, or nothing where the locale cannot be made."""
    folder = tmp_path_factory.mktemp("locales")
    command = ["localedef", "--no-archive", "-i", "tr_TR", "-f", "UTF-8", str(folder / "tr_TR.UTF-8")]
    if not shutil.which("localedef") or subprocess.run(command, capture_output=True).returncode:
        return {}
    return {"LOCPATH": str(folder), "LC_ALL": "tr_TR.UTF-8", "LANGUAGE": "tr_TR"}


@pytest.mark.ci
def test_the_language_is_in_effect(turkish):
    if not turkish:
        pytest.skip("no localedef with the sources of tr_TR (Debian's package locales)")
    assert python("-c", DECIMAL_POINT, **turkish).out == ",\n"


def test_another_processor_user_and_order(finished, turkish, tmp_path):
    """The manifest does not depend on cores, scheduler, processor or settings of the user."""
    project = finished.copied(tmp_path / "a-much-longer-name-of-the-folder" / "project", made=False)
    (tmp_path / "settings").mkdir()
    (tmp_path / "settings/matplotlibrc").write_text(MATPLOTLIBRC)
    env = {**OLD_PROCESSOR, **turkish, "NUMBA_CACHE_DIR": str(tmp_path / "compiled"), "COLUMNS": "40"}
    env |= {"MPLCONFIGDIR": str(tmp_path / "settings"), "TZ": "Pacific/Kiritimati", "PYTHONHASHSEED": "1"}
    assert python("-c", PROCESSOR, **env).out.split() == ["generic"]
    project.snakemake("--cores", "1", "--scheduler", "ilp", env=env, umask=0o077)
    assert project.record().command != finished.record().command
    assert project.pages_with_record() == finished.pages_with_record() and project.pages_with_record()
    assert unlike(project.files(), finished.files()) == []
    page = "reports/tiny/report.html"
    assert stat.S_IMODE((project / page).stat().st_mode) == 0o600
    assert stat.S_IMODE((finished / page).stat().st_mode) == 0o644
    assert unlike(project.manifest(), finished.manifest()) == []

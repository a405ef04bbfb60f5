"""What is written from the fields of the settings: signatures, descriptions and options."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from narxbench.identification.signatures import FILES, renewed_text

ROOT = Path(__file__).parents[3]


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.path.name)
def test_what_is_written_from_the_settings_is_current(file):
    command = "python -m narxbench.identification.signatures"
    assert file.path.read_text(encoding="utf-8") == renewed_text(file), f"run: {command}"


FIELD = '''    patience: Annotated[int, search_option("N")] = Field(default=3, ge=1)
    """Searches without a gain before the end."""
    noise: '''
USE = """
import inspect, narxbench
from narxbench import cli
from narxbench.identification.estimator import NarxRegressor
for function in (narxbench.identify, narxbench.identify_outputs, NarxRegressor):
    print(inspect.signature(function).parameters["patience"])
    print("patience : int, default 3\\n" in inspect.getdoc(function))
print(NarxRegressor(patience=5).get_params()["patience"])
print(narxbench.identify([1.0] * 20, [2.0] * 20, patience=0))
"""


@pytest.mark.slow
def test_a_new_setting_is_one_field_and_one_command(tmp_path):
    package = tmp_path / "narxbench"
    shutil.copytree(ROOT / "src" / "narxbench", package, ignore=shutil.ignore_patterns("__pycache__"))
    settings = package / "identification" / "settings.py"
    settings.write_text(settings.read_text(encoding="utf-8").replace("    noise: ", FIELD, 1), encoding="utf-8")

    def output(*words):
        process = subprocess.run([sys.executable, *words], cwd=tmp_path, capture_output=True, text=True)
        return process.stdout + process.stderr

    assert output("-m", "narxbench.identification.signatures") == ""
    *lines, last = output("-c", USE).splitlines()
    assert lines[:7] == ["patience: int = 3", "True"] * 3 + ["5"]
    assert last.endswith("identify: patience: found 0; allowed: a whole number of at least 1")
    help_text = " ".join(output("-m", "narxbench", "identify", "--help").split())
    assert "--patience N searches without a gain before the end (at least 1; default: 3)" in help_text

"""The wheel alone, outside a checkout, with each Python that it is for."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import narxbench

ROOT = Path(__file__).parents[2]
# Modules that need extras are not imported.
PROGRAM = """
import importlib.util, json, pkgutil
from narxbench import *
import narxbench
for module in pkgutil.walk_packages(narxbench.__path__, "narxbench.", onerror=lambda name: None):
    try:
        importlib.import_module(module.name)
    except (ModuleNotFoundError, NarxbenchError) as error:
        assert "No module named 'narxbench" not in str(error), error
u, y = load_system("S1").simulate(700, snr_db=40)
problem = StructureProblem(u, y, n_u=2, n_y=2, degree=2, n_validation=200)
result = search(problem, algorithm="ga", seed=1, evaluations=400)
model = identify(u, y, test="20%", degree=2, y_lags=2, u_lags=2, decimation=1, effort=1).model
missing = []
for name in ("plot", "write_report", "NarxRegressor"):
    try:
        getattr(narxbench, name)
    except NarxbenchError as error:
        missing.append(str(error))
assert importlib.util.find_spec("snakemake") is None
print(json.dumps([result.terms, result.fitness, model.terms, model.coefficients, missing]))
"""


def python(version):
    """Return an interpreter of this version, on the path or of pyenv or of uv, or None."""
    interpreters = [sys.executable, shutil.which(f"python{version}")]
    interpreters += sorted((Path.home() / ".pyenv/versions").glob(f"{version}.*/bin/python"))
    interpreters += sorted((Path.home() / ".local/share/uv/python").glob(f"cpython-{version}*/bin/python"))
    for path in filter(None, interpreters):
        command = [path, "-c", "import sys; print('%d.%d' % sys.version_info[:2])"]
        if subprocess.run(command, capture_output=True, text=True).stdout.strip() == version:
            return path
    return None


def run(*words, folder):
    """Return the output of a command that knows nothing of this environment."""
    prefixes = ("PYTHON", "VIRTUAL", "UV")
    environment = {name: value for name, value in os.environ.items() if not name.startswith(prefixes)}
    done = subprocess.run([*map(str, words)], cwd=folder, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


def install_wheel(interpreter, folder):
    """Return the programs of a new environment with the wheel."""
    # `uv run` tells where it is.
    uv = os.environ.get("UV") or shutil.which("uv") or pytest.skip("no uv")
    environment = folder / "environment"
    subprocess.run([uv, "build", "--quiet", "--wheel", "--out-dir", folder / "dist", ROOT], check=True)
    subprocess.run([uv, "venv", "--quiet", "--python", interpreter, environment], check=True)
    (wheel,) = (folder / "dist").glob("*.whl")
    subprocess.run([uv, "pip", "install", "--quiet", "--python", environment / "bin/python", wheel], check=True)
    return environment / "bin"


@pytest.mark.slow
@pytest.mark.parametrize("version", [pytest.param("3.11", marks=pytest.mark.ci), "3.12", "3.13", "3.14"])
def test_identification_and_search_need_the_wheel_alone(version, tmp_path):
    interpreter = python(version) or pytest.skip(f"no Python {version} here")
    programs = install_wheel(interpreter, tmp_path)
    folder = tmp_path / "empty"
    folder.mkdir()
    assert run(programs / "narxbench", "--version", folder=folder) == f"narxbench {narxbench.__version__}\n"
    terms, fitness, of_model, coefficients, missing = json.loads(run(programs / "python", "-c", PROGRAM, folder=folder))
    remedies = re.findall(r"; needed: python3 -m uv pip install (.*)$", "\n".join(missing), re.M)
    assert remedies == [*["jinja2 markdown-it-py matplotlib"] * 2, "scikit-learn"] and len(missing) == 3
    u, y = narxbench.load_system("S1").simulate(700, snr_db=40)
    # The libraries in this process have other versions.
    problem = narxbench.StructureProblem(u, y, n_u=2, n_y=2, degree=2, n_validation=200)
    here = narxbench.search(problem, algorithm="ga", seed=1, evaluations=400)
    assert terms == list(here.terms) and fitness == pytest.approx(here.fitness, rel=1e-9)
    assert of_model == ["y(k-1)", "u(k-1)", "y(k-1)*u(k-1)", "u(k-1)^2"]
    np.savetxt(folder / "data.csv", np.column_stack([u, y]), delimiter=",", header="u,y", comments="")
    words = ["identify", "data.csv", "--input", "u", "--output", "y", "--test", "20%", "--degree", "2", "--y-lags", "2"]
    words += ["--u-lags", "2", "--decimation", "1", "--effort", "1"]
    report = json.loads(run(programs / "narxbench", *words, "--json", folder=folder))
    assert report["terms"] == of_model and report["coefficients"] == pytest.approx(coefficients, rel=1e-6)
    # What a terminal shows needs no package of the pages.
    assert "To predict" in run(programs / "narxbench", *words, folder=folder)
    assert "700 samples in 1 record" in run(programs / "narxbench", "look", "data.csv", "--output", "y", folder=folder)
    jointly = ["identify", "data.csv", "--output", "u", "--output", "y", "--joint", "--effort", "1"]
    assert "joint free runs" in run(programs / "narxbench", *jointly, folder=folder)

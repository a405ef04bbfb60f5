"""The wheel alone, outside a checkout, with each Python that it is for."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import narxbench

ROOT = Path(__file__).parents[2]
TRIED = """
import importlib.util, json
from narxbench import *
import narxbench
system = load_system("S1")
u, y = system.simulate(700, snr_db=40)
problem = StructureProblem(u, y, n_u=2, n_y=2, degree=2, n_validation=200)
found = search(problem, algorithm="ga", seed=1, evaluations=400)
model = identify(u, y, test="20%", degree=2, y_lags=2, u_lags=2, decimation=1, resamples=0, effort=1).model
missing = []
for name in ("plot", "write_report", "NarxRegressor"):
    try:
        getattr(narxbench, name)
    except NarxbenchError as error:
        missing.append(str(error))
print(json.dumps({
    "terms": found.terms, "fitness": found.fitness, "model": model.terms, "coefficients": model.coefficients,
    "missing": missing, "pipeline": importlib.util.find_spec("snakemake") is not None,
}))
"""


def python(version):
    """Return an interpreter of this version: on the path, or where pyenv and uv keep theirs; None: there is none."""
    named = [sys.executable, shutil.which(f"python{version}")]
    kept = sorted((Path.home() / ".pyenv/versions").glob(f"{version}.*/bin/python"))
    kept += sorted((Path.home() / ".local/share/uv/python").glob(f"cpython-{version}*/bin/python"))
    for path in filter(None, [*named, *kept]):
        asked = [path, "-c", "import sys; print('%d.%d' % sys.version_info[:2])"]
        if subprocess.run(asked, capture_output=True, text=True).stdout.strip() == version:
            return path
    return None


def run(*words, folder, **kept):
    ours = ("PYTHON", "VIRTUAL", "UV")
    environment = {name: value for name, value in os.environ.items() if not name.startswith(ours)}
    return subprocess.run([*map(str, words)], cwd=folder, env=environment, capture_output=True, text=True, **kept)


@pytest.mark.slow
@pytest.mark.parametrize("version", [pytest.param("3.11", marks=pytest.mark.ci), "3.12", "3.13", "3.14"])
def test_identification_and_search_need_the_wheel_alone(version, tmp_path):
    interpreter = python(version) or pytest.skip(f"no Python {version} here")
    # `uv run` tells where it is.
    uv = os.environ.get("UV") or shutil.which("uv") or pytest.skip("no uv")
    own = tmp_path / "environment"
    subprocess.run([uv, "build", "--quiet", "--wheel", "--out-dir", tmp_path / "dist", ROOT], check=True)
    subprocess.run([uv, "venv", "--quiet", "--python", interpreter, own], check=True)
    file = next((tmp_path / "dist").glob("*.whl"))
    subprocess.run([uv, "pip", "install", "--quiet", "--python", own / "bin/python", file], check=True)
    folder = tmp_path / "empty"
    folder.mkdir()
    asked = run(own / "bin/narxbench", "--version", folder=folder, check=True)
    assert asked.stdout == f"narxbench {narxbench.__version__}\n"
    done = run(own / "bin/python", "-c", TRIED, folder=folder)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert [line.partition(";")[2] for line in found["missing"]] == [
        f" needed: python3 -m pip install 'narxbench[{extra}]'" for extra in ("report", "report", "sklearn")
    ]
    assert not found["pipeline"]
    # The same as in this process, which has other versions: so to some digits.
    u, y = narxbench.load_system("S1").simulate(700, snr_db=40)
    problem = narxbench.StructureProblem(u, y, n_u=2, n_y=2, degree=2, n_validation=200)
    here = narxbench.search(problem, algorithm="ga", seed=1, evaluations=400)
    assert found["terms"] == list(here.terms)
    assert found["fitness"] == pytest.approx(here.fitness, rel=1e-9)
    assert found["model"] == ["y(k-1)", "u(k-1)", "y(k-1)*u(k-1)", "u(k-1)^2"]
    np.savetxt(folder / "data.csv", np.column_stack([u, y]), delimiter=",", header="u,y", comments="")
    words = ["identify", "data.csv", "--input", "u", "--output", "y", "--test", "20%", "--degree", "2", "--y-lags", "2"]
    words += ["--u-lags", "2", "--decimation", "1", "--resamples", "0", "--effort", "1"]
    done = run(own / "bin/narxbench", *words, "--json", folder=folder)
    assert done.returncode == 0, done.stderr
    reported = json.loads(done.stdout)
    assert reported["terms"] == found["model"]
    assert reported["coefficients"] == pytest.approx(found["coefficients"], rel=1e-6)

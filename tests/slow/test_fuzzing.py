"""Damaged and hostile files: readers of data, settings and models give a result or one line.

``NARXBENCH_EXAMPLES`` is the number of examples of each test, for runs that last hours. What was ever found stands as
an example here.
"""

import json
import os

import numpy as np
import pandas as pd
import pytest
import scipy.io
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from tests.workflow.project import ROOT

import narxbench
from narxbench import Model, NarxbenchError
from narxbench._studies.loading import load_study
from narxbench._study.layers import read_layers

pytestmark = pytest.mark.slow

EXAMPLES = int(os.environ.get("NARXBENCH_EXAMPLES", "200"))
fuzzing = settings(max_examples=EXAMPLES, deadline=None, suppress_health_check=[*HealthCheck])
# What an edit puts in the place of a part of a file.
INSERTED = st.sampled_from([b"", b"\x00", b"\xff" * 8, b"1e999", b"nan", b"-1", b"99999999", b'"', b"{", b"[", b"\n"])
INSERTED |= st.sampled_from([b"\xe2\x80\xae", b"\x1b[2J"]) | st.binary(max_size=12)
EDITS = st.lists(st.tuples(st.floats(0.0, 1.0, width=32), st.integers(0, 12), INSERTED), min_size=1, max_size=4)
CUTS = st.none() | st.floats(0.0, 1.0, width=32)


def damaged(content, edits, cut):
    """Return bytes after edits, each at a share of the length, and a cut."""
    for share, n_deleted, inserted in edits:
        place = int(share * len(content))
        content = content[:place] + inserted + content[place + n_deleted :]
    return content if cut is None else content[: int(cut * len(content))]


def check_line(error):
    """Check that an error has a line for each mistake, and that a terminal shows it as it is."""
    for line in str(error).split("\n"):
        assert line.strip() and line.isprintable(), line


FRAME = pd.DataFrame({"t": [0.5, 0.6] * 20, "u": [1.25, -1.0] * 20, "y": [2.0, 3.5] * 20})
TEXTS = {"a.csv": b"t;u;y\n" + b"0,5;1,25;2\n0,6;-1;3,5\n" * 20, "a.txt": b"# by X\n% u\ty\n" + b"1 2\n3 4e-1\n" * 20}
SIGNALS = FRAME.to_dict("list")
WRITERS = {
    "a.xlsx": FRAME.to_excel,
    "a.parquet": FRAME.to_parquet,
    "a.feather": FRAME.to_feather,
    "a.npz": lambda path: np.savez(path, **SIGNALS),
    "a.mat": lambda path: scipy.io.savemat(path, SIGNALS),
}


@pytest.fixture(scope="module")
def contents(tmp_path_factory):
    """Return the content of a file of each format by its name."""
    folder = tmp_path_factory.mktemp("formats")
    for name, write in WRITERS.items():
        write(folder / name)
    return {**TEXTS, **{name: (folder / name).read_bytes() for name in WRITERS}}


@pytest.mark.parametrize("name", [*TEXTS, *WRITERS])
@settings(fuzzing, max_examples=max(5, EXAMPLES // 10))
@given(edits=EDITS, cut=CUTS)
@pytest.mark.filterwarnings("error")
def test_damaged_data(name, edits, cut, contents, tmp_path):
    path = tmp_path / name
    path.write_bytes(damaged(contents[name], edits, cut))
    try:
        looked = narxbench.look(path, "y")
    except NarxbenchError as error:
        check_line(error)
    else:
        for record in looked.recording.records:
            assert record.y.dtype == "float64" and len(record.u) == len(record.y)


STUDIES = sorted(path.name for path in (ROOT / "config").glob("*.yaml") if path.name != "design_choices.yaml")


@fuzzing
@given(name=st.sampled_from(STUDIES), edits=EDITS, cut=CUTS)
def test_damaged_settings(name, edits, cut, tmp_path):
    path = tmp_path / name
    path.write_bytes(damaged((ROOT / "config" / name).read_bytes(), edits, cut))
    try:
        load_study(read_layers([ROOT / "config/paper.yaml", path]))
    except NarxbenchError as error:
        check_line(error)


MODEL = Model(
    ("1", "y(k-1)", "y(k-1)*u(k-2)"),
    (0.1, 0.5, -0.2),
    inputs=("u",),
    output="y",
    offsets=(1.0, -2.0),
    scales=(2.0, 0.5),
    covariance=((0.04, 0.01, 0.0), (0.01, 0.09, -0.02), (0.0, -0.02, 0.01)),
    noise_model="narmax",
    moving_average=(0.3,),
)
LONG = "*".join(map("y(k-{})".format, range(1, 13)))
ODD_TERMS = st.sampled_from([LONG, "y(k-1)^9999", "y(k-9999)", "u(k-0)", "1", "y(k-1)^0", "", "\u202e"])
FIELDS = ["offsets", "scales", "coefficients", "decimation", "moving_average", "covariance", "units"]
VALUES = st.none() | st.integers() | st.lists(st.floats() | st.integers(), max_size=3) | st.text(max_size=3)


@fuzzing
@given(
    edits=EDITS,
    cut=CUTS,
    changes=st.dictionaries(st.sampled_from(FIELDS), VALUES, max_size=2),
    terms=st.lists(ODD_TERMS),
)
@example(edits=[], cut=None, changes={}, terms=[LONG.replace("(k-1)", f"(k-{lag})") for lag in range(20, 30)])
@example(edits=[], cut=None, changes={}, terms=["y(k-1)^9999"])
def test_damaged_models(edits, cut, changes, terms, tmp_path):
    path = tmp_path / "model.json"
    MODEL.save(path)
    content = json.loads(path.read_text()) | changes
    if terms:
        content |= {"terms": terms, "coefficients": [0.5] * len(terms), "covariance": None}
    whole = json.dumps(content).encode()
    path.write_bytes(whole if changes or terms else damaged(whole, edits, cut))
    try:
        model = Model.load(path)
        model.expanded()
        model.equation()
        model.predict([[0.5]] * 20, [0.25] * min(max(1, model.initial_samples), 1000))
    except NarxbenchError as error:
        check_line(error)

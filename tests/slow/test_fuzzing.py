"""Damaged and hostile files: readers of data, settings and models give a result or one line, and pages stay readable.

``NARXBENCH_EXAMPLES`` is the number of examples of each test, for runs that last hours. What was ever found stands as
an example here.
"""

import io
import json
import os
import re

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from tests.unit.identification.data.test_binary_files import FILES

import narxbench
from narxbench import Model, NarxbenchError
from narxbench._identification.data.reading import read_recording
from narxbench._io.files import CONFIG_FOLDER
from narxbench._io.yaml import read_mapping
from narxbench._report.markup import script_json, visible
from narxbench._report.model_page import write_report
from narxbench._studies.loading import load_study

pytestmark = pytest.mark.slow

EXAMPLES = int(os.environ.get("NARXBENCH_EXAMPLES", "200"))
fuzzing = settings(
    max_examples=EXAMPLES, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, *HealthCheck]
)
# What an edit puts in the place of a part of a file.
INSERTED = st.sampled_from(
    [
        b"",
        b"\x00",
        b"\xff" * 8,
        b"1e999",
        b"nan",
        b"-1",
        b"99999999",
        b'"',
        b"{",
        b"[",
        b"\n",
        b"\xe2\x80\xae",
        b"\x1b[2J",
    ]
) | st.binary(max_size=12)
EDITS = st.lists(st.tuples(st.floats(0.0, 1.0, width=32), st.integers(0, 12), INSERTED), min_size=1, max_size=4)
CUTS = st.none() | st.floats(0.0, 1.0, width=32)
INVISIBLE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ufffe\uffff]")


def damaged(content, edits, cut):
    """Return bytes after edits, each at a share of the length, and a cut."""
    for share, n_deleted, inserted in edits:
        place = int(share * len(content))
        content = content[:place] + inserted + content[place + n_deleted :]
    if cut is not None:
        content = content[: int(cut * len(content))]
    return content


def check_line(error):
    """Check that an error has a line for each mistake, and that a terminal shows it as it is."""
    for line in str(error).split("\n"):
        assert line.strip() and line.isprintable(), line


@pytest.fixture(scope="module")
def contents(tmp_path_factory):
    """Return the content of a file of each format by its name."""
    folder = tmp_path_factory.mktemp("formats")
    contents = {}
    for name, write in FILES.items():
        write(folder / name)
        path = folder / name
        contents[name] = (path if path.exists() else folder / f"{name}.npy").read_bytes()
    contents["a.csv"] = b"t;u;y\n" + b"0,5;1,25;2\n0,6;-1;3,5\n" * 20
    contents["a.txt"] = b"# made by X\n% u\ty\n" + b"1 2\n3 4e-1\n" * 20
    return contents


@pytest.mark.parametrize("name", [*FILES, "a.csv", "a.txt"])
@settings(fuzzing, max_examples=max(5, EXAMPLES // 10))
@given(edits=EDITS, cut=CUTS)
@pytest.mark.filterwarnings("error")
def test_damaged_data(name, edits, cut, contents, tmp_path):
    path = tmp_path / name
    path.write_bytes(damaged(contents[name], edits, cut))
    try:
        recording = read_recording(path, output="y")
    except NarxbenchError as error:
        check_line(error)
        return
    for record in recording.records:
        assert record.y.dtype == "float64" and len(record.u) == len(record.y)


STUDIES = sorted(path.name for path in CONFIG_FOLDER.glob("*.yaml") if path.name not in ("design_choices.yaml",))


@fuzzing
@given(name=st.sampled_from(STUDIES), edits=EDITS, cut=CUTS)
def test_damaged_settings(name, edits, cut, tmp_path):
    path = tmp_path / name
    path.write_bytes(damaged((CONFIG_FOLDER / name).read_bytes(), edits, cut))
    try:
        load_study([("paper.yaml", read_mapping(CONFIG_FOLDER / "paper.yaml")), (name, read_mapping(path))])
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
LONG = "*".join(f"y(k-{lag})" for lag in range(1, 13))
ODD_TERMS = st.sampled_from([LONG, "y(k-1)^9999", "y(k-9999)", "u(k-0)", "1", "y(k-1)^0", "", "\u202e"])


def use(path):
    """Load a model and do all that a user does with one."""
    try:
        model = Model.load(path)
        model.expanded()
        model.equation()
        model.predict([[0.5]] * 20, [0.25] * min(max(1, model.initial_samples), 1000))
    except NarxbenchError as error:
        check_line(error)


@fuzzing
@given(edits=EDITS, cut=CUTS)
def test_damaged_models(edits, cut, tmp_path):
    MODEL.save(tmp_path / "right.json")
    path = tmp_path / "model.json"
    path.write_bytes(damaged((tmp_path / "right.json").read_bytes(), edits, cut))
    use(path)


@fuzzing
@given(
    changes=st.dictionaries(
        st.sampled_from(["offsets", "scales", "coefficients", "decimation", "moving_average", "covariance", "units"]),
        st.none() | st.integers() | st.lists(st.floats() | st.integers(), max_size=3) | st.text(max_size=3),
        max_size=2,
    ),
    terms=st.lists(ODD_TERMS, max_size=3),
)
@example(changes={}, terms=[LONG.replace("(k-1)", f"(k-{lag})") for lag in range(20, 30)])
@example(changes={}, terms=["y(k-1)^9999"])
def test_models_with_other_values(changes, terms, tmp_path):
    MODEL.save(tmp_path / "right.json")
    content = json.loads((tmp_path / "right.json").read_text())
    content |= changes
    if terms:
        content |= {"terms": terms, "coefficients": [0.5] * len(terms), "covariance": None}
    path = tmp_path / "model.json"
    path.write_text(json.dumps(content))
    use(path)


NAMES = st.text(min_size=1, max_size=12) | st.sampled_from(
    ["u\u202etxt.exe", "\x1b[31mred", "a\x00b", "\u2066x", "<b>\x9b"]
)


@fuzzing
@given(text=st.text() | NAMES)
@example(text="\u202e\x1b\\u001b\\")
def test_texts_become_visible(text):
    assert not INVISIBLE.search(visible(text))
    shown = json.loads(script_json({text: [text]}))
    assert shown == {visible(text): [visible(text)]}


@settings(fuzzing, max_examples=max(3, EXAMPLES // 50))
@given(name=NAMES, unit=NAMES)
@example(name="level\u202e\x1b[2J", unit="\u2066m\x07")
def test_no_page_has_invisible_characters(name, unit, tmp_path):
    u, y = narxbench.load_system("S1").simulate(200, snr_db=40)
    quick = {"decimation": 1, "degree": 1, "y_lags": 1, "u_lags": 1, "effort": 0.1}
    try:
        recording = read_recording({"u": u, name: y}, input="u", output=name, units={name: unit}, sampling_time=1.0)
        identification = narxbench.identify(recording, **quick)
    except NarxbenchError as error:
        check_line(error)
        return
    page = write_report(identification, tmp_path / "report")
    text = io.TextIOWrapper(page.open("rb"), encoding="utf-8").read()
    assert not INVISIBLE.search(text)

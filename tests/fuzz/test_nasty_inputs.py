"""Inputs that are known to break readers, each with the message that it must get, and within a second."""

import json
import time
from pathlib import Path
from typing import Any

import pytest
from tests.fuzz.soak import time_limit
from tests.fuzz.targets import ROOT, RUN_FILES, Target, merged, outcome, sealed, targets

from narxbench.experiment.study_settings import load_experiment
from narxbench.model.dataset import read_signals
from narxbench.io.errors import NarxbenchError
from narxbench.analysis.published import load_published
from narxbench.experiment.runs import read_run
from narxbench.model.system import parse_equation
from narxbench.model.terms import index_of_terms, parse_term
from narxbench.io.yaml import read_mapping, read_value

LAUGHS = "a0: &a0 [x]\n" + "".join(f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 10)}]\n" for i in range(1, 12))
MERGED_LAUGHS = "a0: &a0 {x: 1}\n" + "".join(
    f"a{i}: &a{i} {{<<: [{', '.join([f'*a{i - 1}'] * 10)}]}}\n" for i in range(1, 12)
)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (LAUGHS, "line 7, column 5: found more than 1000000 values, aliases followed; allowed: at most 1000000"),
        (
            MERGED_LAUGHS,
            "line 7, column 14: found more than 1000000 values, aliases followed; allowed: at most 1000000",
        ),
        ("a: &a [1, *a]\n", "line 1, column 4: found an alias of what contains it"),
        ("a: &a {b: *a}\n", "line 1, column 4: found an alias of what contains it"),
        ("a: *b\n", "line 1, column 4: found undefined alias 'b'"),
        ("a: " + "[" * 60 + "]" * 60, "line 1, column 53: found more than 50 levels of nesting; allowed: at most 50"),
        ("a: " + "[" * 100_000, "nested too deeply; allowed: 50 levels"),
        ("- " * 5000, "nested too deeply; allowed: 50 levels"),
        ("{a: " * 5000, "nested too deeply; allowed: 50 levels"),
        (
            "a: 2001-99-99\n",
            "line 1, column 4: found '2001-99-99'; allowed: a value of the kind that its notation or tag",
        ),
        ("a: 2001-1-1T99:99:99Z\n", "line 1, column 4: found '2001-1-1T99:99:99Z'; allowed: a value of the kind"),
        (
            "a: !!int x\n",
            "line 1, column 4: found 'x'; allowed: a value of the kind that its notation or tag announces",
        ),
        ("a: !!float x\n", "line 1, column 4: found 'x'; allowed: a value of the kind"),
        ("a: !!bool x\n", "line 1, column 4: found 'x'; allowed: a value of the kind"),
        ("a: !!timestamp x\n", "line 1, column 4: found 'x'; allowed: a value of the kind"),
        ("a: 0x_\n", "line 1, column 4: found '0x_'; allowed: a value of the kind"),
        (f"a: {'9' * 5000}\n", "line 1, column 4: found '9999999999"),
        (f"a: 0x{'f' * 5000}\n", "line 1, column 4: found '0xfffff"),
        ("a: 9223372036854775808\n", "found '9223372036854775808'; allowed: a whole number of at most 64 bits"),
        ("a: 1" + ":59" * 5000, "allowed: a whole number of at most 64 bits"),
        ("a: 1" + ":59" * 5000 + ".5", "allowed: a value of the kind"),
        ('a: "\\ud800"\n', "line 1, column 4: found '\\ud800'; allowed: text without halves of surrogate pairs"),
        ('a: "\\UFFFFFFFF"\n', "line 1, column 4: found an escape of no character"),
        ('a: "\\q"\n', "line 1, column 6: found unknown escape character 'q'"),
        ("a: !!python/object/apply:os.system [x]\n", "line 1, column 4: could not determine a constructor for the tag"),
        ("!!python/name:os.system ''\n", "line 1, column 1: could not determine a constructor for the tag"),
        ("a: 1\na: 2\n", "line 2, column 1: the key 'a' is given twice (first in line 1)"),
        ("1: a\n1.0: b\n", "line 2, column 1: the key 1.0 is given twice (first in line 1)"),
        ("? {a: b}\n: c\n", "line 1, column 3: found unhashable key"),
        ("a: \x00\n", "line 1: not YAML: found the character U+0000; allowed: printable text"),
        ("\n\na: \x1b\n", "line 3: not YAML: found the character U+001B; allowed: printable text"),
        ("a: 1\n--- \nb: 2\n", "line 2, column 1: but found another document"),
        (f"%YAML {'9' * 5000}.1\n--- {{}}\n", "line 1, column 1: found no version of YAML"),
        ("%YAML 9.9\n--- {}\n", "found incompatible YAML document (version 1.* is required)"),
        ("", "found null at the top level; allowed: a mapping (KEY: VALUE)"),
        ("2018-01-01", "found 2018-01-01 (date) at the top level; allowed: a mapping"),
    ],
    ids=lambda value: repr(value[:24]),
)
def test_yaml(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "mine.yaml"
    path.write_text(text)
    start = time.process_time()
    with pytest.raises(NarxbenchError) as error, time_limit(10):
        read_mapping(path)
    assert time.process_time() - start < 5
    assert str(error.value).startswith(f"{path}: ")
    assert message in str(error.value)
    assert len(str(error.value)) < 400


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("a: 1".encode("utf-16"), "not text in UTF-8 (byte 0)"),
        ("a: 1".encode("utf-16-le"), "line 1: not YAML: found the character U+0000; allowed: printable text"),
        ("a: é".encode("latin-1"), "not text in UTF-8 (byte 3)"),
        (b"a: \xed\xa0\x80", "not text in UTF-8 (byte 3)"),
        (b"a: \xc0\x80", "not text in UTF-8 (byte 3)"),
    ],
)
def test_encodings_other_than_utf8_are_refused(tmp_path: Path, content: bytes, message: str) -> None:
    path = tmp_path / "mine.yaml"
    path.write_bytes(content)
    with pytest.raises(NarxbenchError) as error:
        read_mapping(path)
    assert str(error.value) == f"{path}: {message}"


def test_a_byte_order_mark_and_windows_lines_are_no_mistakes(tmp_path: Path) -> None:
    (tmp_path / "mine.yaml").write_bytes("\ufeffa: 1\r\nb: 'é'\r\n".encode())
    assert read_mapping(tmp_path / "mine.yaml") == {"a": 1, "b": "é"}
    (tmp_path / "data.csv").write_bytes(b"\xef\xbb\xbfu,y\r\n1,2\r\n")
    assert [column.tolist() for column in read_signals(tmp_path / "data.csv")] == [[1.0], [2.0]]


def test_anchors_aliases_and_merge_keys_work() -> None:
    found = read_value("a: &a {x: 1, y: 2}\nb: {<<: *a, y: 3}\nc: [*a, *a]\nd: {y: 4, <<: [*a]}\n", "text")
    assert found["b"] == {"x": 1, "y": 3}
    assert found["c"] == [{"x": 1, "y": 2}] * 2
    assert found["d"] == {"x": 1, "y": 4}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("y(k-1)^999999999", "found power 999999999; allowed: 1 to 12"),
        ("y(k-1)^" + "9" * 100_000, "found power 999999999999; allowed: 1 to 12"),
        ("y(k-" + "9" * 100_000 + ")", "found lag 999999999999; allowed: 1 to 9999"),
        ("y(k-0)", "found lag 0; allowed: 1 to 9999"),
        ("y(k−1)", "did not expect 'y(k−1)' at column 1"),
        ("y(k-１)", "did not expect 'y(k-１)' at column 1"),
        ("y(k-1)²", "did not expect '²' at column 7"),
        ("y(k-1)\x00", "did not expect '\\x00' at column 7"),
        ("\ufeffy(k-1)", "did not expect '\\ufeffy(k-1)' at column 1"),
        ("\ud800", "did not expect '\\ud800' at column 1"),
        ("", "did not expect its end at column 1"),
        ("1*1", "did not expect '1*1' at column 1"),
        ("y(k-1)" * 20_000, "found degree 20000; allowed: at most 12"),
        ("y(" + " " * 200_000 + "k", "did not expect 'y(          ' at column 1"),
        ("*" * 100_000, "did not expect '************' at column 1"),
        ("__import__('os').system('x')", 'did not expect "__import__(\'" at column 1'),
        (["y(k-1)"], "term: found ['y(k-1)']; allowed: text such as"),
        (None, "term: found None; allowed: text such as"),
    ],
    ids=lambda value: repr(value[:24]) if isinstance(value, str) else None,
)
def test_terms(text: Any, message: str) -> None:
    with pytest.raises(NarxbenchError) as error, time_limit(5):
        parse_term(text)
    assert message in str(error.value)
    assert len(str(error.value)) < 300


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "equation: found ''; allowed: 'y(k) = ' and a sum of terms"),
        ("y(k) =", "equation: 'y(k) =' ends where a term is expected"),
        ("y(k) = + - 1", "equation: two signs in a row before column 3 of '+ - 1'"),
        ("y(k) = 1 1", "equation: did not expect '1' at column 3 of '1 1'"),
        ("y(k) = 1e400*y(k-1)", "equation: found the coefficient 1e400; allowed: a finite number other than 0"),
        (
            "y(k) = " + "9" * 100_000,
            "equation: found the coefficient 9999999999999999999999999999999999999999; allowed",
        ),
        ("y(k) = 1e-400*y(k-1)", "equation: found the coefficient 1e-400; allowed: a finite number other than 0"),
        ("y(k) = 0*y(k-1)", "equation: found the coefficient 0; allowed: a finite number other than 0"),
        ("y(k) = nan", "equation 'nan': did not expect 'nan' at column 1"),
        ("y(k) = ½", "equation '½': did not expect '½' at column 1"),
        ("y(k) = y(k-1) = 2", "did not expect '= 2' at column 8"),
        (
            "y(k) = " + "+".join(f"y(k-{i})*u(k-{j})" for i in range(1, 150) for j in range(1, 150)) + "+y(k-1)u(k-1)",
            "twice",
        ),
        ("y(k) = " + "-" * 100_000, "equation: two signs in a row"),
        ("y(k) = 0.5**y(k-1)", "equation '0.5**y(k-1)': did not expect '**y(k-1)' at column 4"),
        ("y(k) = exec('x')", "equation \"exec('x')\": did not expect \"exec('x')\" at column 1"),
    ],
    ids=lambda value: repr(value[:24]),
)
def test_equations(text: str, message: str) -> None:
    with pytest.raises(NarxbenchError) as error, time_limit(5):
        parse_equation(text)
    assert message in str(error.value)
    assert len(str(error.value)) < 400


def test_a_minus_sign_of_typography_is_a_minus_sign() -> None:
    assert parse_equation("y(k) = −2*y(k-1) − 3") == parse_equation("y(k) = -2*y(k-1) - 3")


def test_many_terms_are_looked_up_at_once() -> None:
    candidates = {((0, lag),): lag for lag in range(1, 9999)}
    with time_limit(5):
        assert len(index_of_terms((f"y(k-{lag})" for lag in range(1, 9999)), candidates)) == 9998


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "line 1: found columns []; needed: u, y"),
        ("u,y\n", "found no samples below the header"),
        ("u,u,y\n1,2,3\n", "line 1: found the column 'u' twice; allowed: once"),
        ("u,y\n1,1e400\n", "line 2, column 'y': found '1e400'; allowed: a finite number"),
        ("u,y\n1,nan\n", "line 2, column 'y': found 'nan'; allowed: a finite number"),
        ("u,y\n1,1_000\n", "line 2, column 'y': found '1_000'; allowed: a finite number"),
        ("u,y\n1,１\n", "line 2, column 'y': found '１'; allowed: a finite number"),
        ("u,y\n1,−1\n", "line 2, column 'y': found '−1'; allowed: a finite number"),
        ("u,y\n1,0x10\n", "line 2, column 'y': found '0x10'; allowed: a finite number"),
        ("u,y\n1,2\x00\n", "line 2, column 'y': found '2\\x00'; allowed: a finite number"),
        ("u,y\n1,\n", "line 2, column 'y': found ''; allowed: a finite number"),
        ("u,y\n1;2\n", "line 2: found 1 fields; the header has 2"),
        ("u;y\n1;2\n", "line 1: found columns ['u;y']; needed: u, y"),
        ("u,y\n\n1,2\n", "line 2: found 0 fields; the header has 2"),
        ('u,y\n1,"2\n3,4\n', "not a CSV text file in UTF-8: unexpected end of data"),
        ('u,y\n1,"2"x\n', "not a CSV text file in UTF-8: ',' expected after '\"'"),
        ('u,t,y\n1,"two\nlines",2\n1,2,x\n', "line 4, column 'y': found 'x'; allowed: a finite number"),
        ("u,y\n" + "1" * 200_000, "not a CSV text file in UTF-8: field larger than field limit (131072)"),
        ("a," * 100_000 + "b\n", "; needed: u, y"),
    ],
    ids=lambda value: repr(value[:24]),
)
def test_data_sets(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "data.csv"
    path.write_text(text, newline="")
    with pytest.raises(NarxbenchError) as error, time_limit(5):
        read_signals(path)
    assert str(error.value).startswith(f"{path}: ")
    assert message in str(error.value)
    assert len(str(error.value)) < 400


@pytest.mark.parametrize(
    ("key", "text", "message"),
    [
        ("seed", "1e400", "axes.seed: found "),
        ("seed", "1" + "0" * 5000, "valid JSON"),
        ("seed", "true", "axes.seed: found true; allowed: a whole number"),
        ("seed", '"1"', "axes.seed: found '1' (text); allowed: a whole number (did you mean the number 1?)"),
        ("seed", "[" * 100_000, "valid JSON (Invalid JSON: recursion limit exceeded"),
        ("system", '"\\ud800"', "valid JSON"),
        ("system", "null", "axes.system: found null; allowed: text"),
    ],
    ids=lambda value: repr(value[:24]),
)
def test_run_files(tmp_path: Path, key: str, text: str, message: str) -> None:
    marked = json.loads(RUN_FILES[0])
    marked["axes"][key] = "MARK"
    path = tmp_path / "run.json"
    path.write_text(json.dumps(marked).replace('"MARK"', text))
    with pytest.raises(NarxbenchError) as error, time_limit(5):
        read_run(path)
    assert str(error.value).startswith(f"{path}: ")
    assert message in str(error.value)
    assert len(str(error.value)) < 600


@pytest.mark.parametrize("change", [b'"seed": 2', b'"seed": 01', b'"seed": 1.0'])
def test_a_run_file_that_was_edited_is_refused(tmp_path: Path, change: bytes) -> None:
    path = tmp_path / "run.json"
    whole = sealed(RUN_FILES[0])
    path.write_bytes(whole)
    assert read_run(path).axes.seed == 1
    path.write_bytes(whole.replace(b'"seed": 1', change))
    with pytest.raises(NarxbenchError, match="delete it and run again"):
        read_run(path)


@pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity", "1e400"])
@pytest.mark.parametrize("key", ["fitness", "sse", "settings"])
def test_run_files_hold_finite_numbers_only(tmp_path: Path, key: str, number: str) -> None:
    content = json.loads(RUN_FILES[0])
    content[key] = {"inertia": "MARK"} if key == "settings" else "MARK"
    path = tmp_path / "run.json"
    path.write_bytes(sealed(json.dumps(content).replace('"MARK"', number).encode()))
    with pytest.raises(NarxbenchError, match=r"finite|number"):
        read_run(path)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("S1,T2", "S1,T3", "line 3, column label: found 'T3'; allowed: T2, the next label of S1"),
        ("u(k-1),0.3", "u(k-1),1_0", "line 3, column coefficient: found '1_0'; allowed: a number other than 0"),
        ("u(k-1),0.3", "u(k-1), 1", "line 3, column coefficient: found ' 1'; allowed: a number other than 0"),
        ("u(k-1),0.3", "u(k-1),١", "line 3, column coefficient: found '١'; allowed: a number other than 0"),
        ("S1,T1", ",T1", "line 2, column system: found ''; allowed: a name of up to 100 letters, digits, _ and -"),
        (
            "S1,T1",
            "../x,T1",
            "line 2, column system: found '../x'; allowed: a name of up to 100 letters, digits, _ and -",
        ),
        ("S1,T1", '"S1,T1', "cannot be read as CSV: unexpected end of data"),
    ],
)
def test_published_system_terms(tmp_path: Path, old: str, new: str, message: str) -> None:
    reference = ROOT / "data" / "reference"
    path = tmp_path / "terms.csv"
    path.write_text((reference / "system_terms.csv").read_text().replace(old, new, 1))
    with pytest.raises(NarxbenchError) as error:
        load_published(reference / "published_tables.csv", path)
    assert str(error.value).startswith(str(path))
    assert message in str(error.value)


@pytest.mark.parametrize("digits", ["9" * 5000, "5０", "-30"])
def test_published_snr(tmp_path: Path, digits: str) -> None:
    reference = ROOT / "data" / "reference"
    path = tmp_path / "values.csv"
    path.write_text((reference / "published_tables.csv").read_text().replace(",50,", f",{digits},", 1))
    with pytest.raises(NarxbenchError, match=r"line 2, column snr_db: found .*; allowed: a whole number of dB"):
        load_published(path, reference / "system_terms.csv")


@pytest.mark.parametrize(
    "overlay",
    [
        {"seeds": 10**4000},
        {"evaluations": -(10**400)},
        {"snr_db": [10**400]},
        {"data": {"excitation": {"kind": "gaussian", "sd": 10**400}}},
        {"\x1b[31m\n": 1},
        {"searches": {"a\nb": {"algorithm": "ga", "criteria": ["bic"]}}},
        {"searches": {"x" * 100_000: {"algorithm": "ga", "criteria": ["bic"]}}},
        {"searches": {"x": {"algorithm": "ga\n", "criteria": ["bic"]}}},
        {"systems": ["S1\x00"]},
        {"systems": [["S1"] * 1000] * 100},
    ],
    ids=range(10),
)
def test_settings_from_the_command_line(overlay: dict[str, Any]) -> None:
    base = ROOT / "config" / "config.yaml"
    with pytest.raises(NarxbenchError) as error, time_limit(5):
        load_experiment(merged(read_mapping(base), overlay), [base])
    assert len(str(error.value)) < 1000
    assert all(
        line.isprintable() and (": " in line or line.startswith("and ")) for line in str(error.value).split("\n")
    )


def test_every_reader_tells_a_missing_file(tmp_path: Path) -> None:
    missing = tmp_path / "none"
    reference = ROOT / "data" / "reference"
    for read in (
        lambda: read_mapping(missing),
        lambda: read_signals(missing),
        lambda: read_run(missing),
        lambda: load_published(missing, reference / "system_terms.csv"),
    ):
        with pytest.raises(NarxbenchError) as error:
            read()
        assert str(error.value) == f"{missing}: cannot be read: No such file or directory"


@pytest.mark.parametrize("name", ["a\x00b", "\ud800"])
def test_what_cannot_be_a_name_of_a_file_is_told(name: str) -> None:
    with pytest.raises(NarxbenchError, match="cannot be read: not a name of a file"):
        read_signals(name)


def test_long_files_take_no_longer_than_their_length(tmp_path: Path) -> None:
    found: dict[str, Target] = {target.name: target for target in targets(tmp_path)}
    for name, data in (
        ("signals", b"u,y\n" + b"0.25,-1e-3\n" * 100_000),
        ("term", b" " * 1_000_000),
        ("equation", b"y(k)=" + b"+".join(b"y(k-%d)" % lag for lag in range(1, 9999))),
        ("equation", b"y(k) = y(k-1)" + b" " * 500_000 + b"x"),
        ("run file", b'{"a":' + b"[" * 500_000),
        ("YAML", b"a: [" + b"1, " * 20_000 + b"1]"),
        ("YAML", b"a" * 200_000),
        ("YAML", b"? " * 20_000),
        ("YAML", b"&" * 50_000),
    ):
        with time_limit(20):
            outcome(found[name], data)

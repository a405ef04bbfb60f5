"""The command ``narxbench``: what it prints, and its exit codes."""

import io
import json
import os
import re
import shlex
import signal
import subprocess
import sys
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import replace
from itertools import chain

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.lookups import item_with, roles_of
from tests.unit.algorithms.plugins import SOURCE, install, install_text

import narxbench
from narxbench import _cli as cli
from narxbench.__main__ import main as program
from narxbench._algorithms.isolation.host import environment

# They take the search from its module when they are imported, which must not be while a test replaces it there.
from narxbench._identification import entry, estimator  # noqa: F401
from narxbench._identification.data.gaps import USUAL_GAP
from narxbench._identification.finding import Finding
from narxbench._identification.options import schemas
from narxbench._identification.search.steps import FORWARD
from narxbench._identification.settings import IdentificationSettings
from narxbench._identification.trust.errors import errors_text
from narxbench._io.errors import NarxbenchError
from narxbench._io.files import write_atomically
from narxbench._numerics.random_streams import generator
from narxbench._report.model_summary import summary_lines
from narxbench._studies.paper.explain_command import EXPLAIN


@pytest.fixture
def plugins(monkeypatch, tmp_path):
    install(monkeypatch, tmp_path)
    return tmp_path


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([], "the following arguments are required: COMMAND; narxbench --help tells more"),
        (["check"], r"argument COMMAND: invalid choice: 'check' .*; narxbench --help tells more"),
        (
            ["check-algorithm"],
            "the following arguments are required: NAME; narxbench check-algorithm --help tells more",
        ),
        (["check-algorithm", "upso"], r"algorithm: found 'upso'; allowed: .*\(did you mean 'upso2d'\?\)"),
        (["check-algorithm", "broken"], r"algorithm 'broken': cannot be imported: ZeroDivisionError: .*"),
    ],
)
def test_a_mistake_is_reported_in_one_line(monkeypatch, tmp_path, capsys, arguments, words):
    install_text(monkeypatch, tmp_path, {"broken": "broken"}, "broken", broken=SOURCE + "\n1 / 0\n")
    try:
        code = cli.main(arguments)
    except SystemExit as end:
        code = end.code
    out, err = capsys.readouterr()
    assert (code, out) == (2, "")
    assert re.fullmatch(f"narxbench: {words}\n", err), err


@pytest.mark.slow
def test_a_process(plugins):
    """Lines are printed one by one, and a reader may close the pipe early; nothing else is printed."""
    command = [sys.executable, "-m", "narxbench._cli", "check-algorithm", "raises"]
    variables = {**environment(), "PYTHONPATH": os.pathsep.join([str(plugins), *map(os.path.abspath, sys.path)])}
    done = subprocess.run(command, capture_output=True, text=True, env=variables)
    assert (done.returncode, done.stderr) == (1, "")
    assert "ValueError: cannot reshape" in done.stdout.splitlines()[-2]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen(command, **pipes, text=True, env=variables) as begun:
        assert begun.stdout.readline().startswith("passed  ")
        begun.stdout.close()
        assert begun.stderr.read() == ""
    assert begun.returncode == 1


QUICK = {"degree": 2, "y_lags": 2, "u_lags": 2, "effort": 0.05}
QUICK_WORDS = []
for setting, value in QUICK.items():
    QUICK_WORDS += [f"--{setting.replace('_', '-')}", str(value)]


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    rng = generator(purpose="test", seed=1)
    u = rng.standard_normal((75, 2)).round(3).repeat(4, axis=0)
    y = np.zeros(300)
    for k in range(1, 300):
        y[k] = 0.5 * y[k - 1] + u[k - 1, 0] + 0.3 * u[k - 1, 1] ** 2
    y = (y + 0.01 * rng.standard_normal(300)).round(4)
    path = tmp_path_factory.mktemp("data") / "oven.csv"
    frame = pd.DataFrame({"t [s]": np.arange(300) / 10, "valve": u[:, 0], "heat": u[:, 1], "temp (µK)": y})
    frame.to_csv(path, index=False, lineterminator="\n")
    return str(path)


@pytest.fixture(scope="module")
def identification(file):
    return narxbench.identify(file, input="valve,heat", output="temp (µK)", test="25%", decimation=1, **QUICK)


def run(*words):
    """Return exit code, output and messages of the command."""
    out, err = io.StringIO(), io.StringIO()
    with redirect_stdout(out), redirect_stderr(err):
        try:
            code = cli.main(["identify", *words])
        except SystemExit as end:
            code = end.code
    return code, out.getvalue(), err.getvalue()


def inputs_of_identification(monkeypatch, *words):
    """Return the recording and the settings that the command would identify a model from."""
    calls = []

    def stop(recording, settings, *_):
        calls.append((recording, settings))
        raise NarxbenchError("stopped")

    monkeypatch.setattr("narxbench._identification.identify.identify_recording", stop)
    assert run(*words) == (2, "", "narxbench: stopped\n")
    return calls[0]


@pytest.mark.slow
def test_json_is_one_object_that_is_what_python_gives(file, identification):
    command = [sys.executable, "-m", "narxbench._cli", "identify", file, "--input", "valve,heat", "--output", "4"]
    command += ["--test", "25%", "--decimation", "1", *QUICK_WORDS, "--json"]
    ascii_only = environment() | {"PYTHONIOENCODING": "ascii"}
    done = subprocess.run(command, capture_output=True, text=True, env=ascii_only, check=True)
    assert json.loads(done.stdout) == json.loads(json.dumps(identification.to_dict()))
    for line in done.stderr.splitlines():
        assert line.startswith("narxbench: compiling")


def test_the_summary(file, identification):
    data = (file, "--input", "2,3", "--output", "temp (µK)", "--test", "25%")
    code, out, err = run(*data, "--decimation", "1", *QUICK_WORDS)
    assert (code, err) == (0, "")
    assert "\ny(k) = " in out and re.search(r"^(FINE|LOOK|BAD)  ", out, re.MULTILINE)
    equation = " ".join(out.split())
    for term, weight in zip(identification.model.terms, identification.model.coefficients, strict=True):
        assert f"{abs(weight):.4g} {term}" in equation
    (figures,) = re.findall("^test, free run (.*)$", out, re.MULTILINE)
    frame = identification.validation
    shown = frame.query("role == 'test' and record == 'all' and kind == 'free_run' and sampling == 'incoming'")
    assert figures.split() == [f"{rrse:.3g}" for rrse in shown["rrse"]]
    assert "Next: " in out


@pytest.mark.parametrize("n_terms", [1, 3, 80])
def test_the_summary_fits_a_terminal(identification, n_terms):
    terms = [f"y(k-{i})*u1(k-{100 + i})^2*u2(k-{i})" for i in range(1, n_terms + 1)]
    model = replace(identification.model, terms=terms, coefficients=[-1e-300 / 3] * n_terms, covariance=None)
    values = {**item_with(identification.summary, name="errors").values, "rrse": None}
    values["diverged"] = [f"record {i}\n" for i in range(99)]
    statuses, sentences = 9 * ["bad"] + 9 * ["look"] + 9 * ["fine"], errors_text(values)
    summary = [Finding("errors", status, values, *sentences) for status in statuses]
    recording = replace(identification.recording, notes=("Word " * 99, "x", "y", "x", "z"))
    weights = identification.weights[:1] * n_terms
    crowded = replace(identification, model=model, weights=weights, summary=summary, recording=recording)
    lines = summary_lines(crowded, report=False)
    assert len(lines) <= 25 and max(map(len, lines)) <= 100 and not any(line.endswith("…") for line in lines)


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("--decimation 9 --degree 1-3", {"decimation": [9], "degree": [1, 2, 3]}),
        ("--y-lags 3 --u-lags 0-2,8", {"y_lags": [1, 2, 3], "u_lags": [0, 1, 2, 8]}),
        ("--u-lags valve=1-4;heat=0,2", {"u_lags": {"valve": [1, 2, 3, 4], "heat": [0, 2]}}),
        ("--delay 2 --y-lags 3", {"delay": 2, "y_lags": [1, 2, 3]}),
        ("--include u1(k)^2,y(k-9) --include u2(k-7)", {"include": ["u1(k)^2", "y(k-9)", "u2(k-7)"]}),
        ("--exclude *u1(k-1)*", {"exclude": ["*u1(k-1)*"]}),
        ("--effort 1.5 --noise noe", {"effort": 1.5, "noise": "noe"}),
    ],
)
def test_options_are_settings(monkeypatch, file, words, expected):
    _, settings = inputs_of_identification(monkeypatch, file, "--input", "2,3", "--output", "4", *words.split())
    assert settings.model_dump() == {**IdentificationSettings().model_dump(), **expected}


FORM = ["--read", "header=none", "--read", "sep=;", "--read", "decimal=,", "--sampling-time", "2e-3", "--time", "none"]


def test_former_options_name_what_takes_their_place(file):
    former = {
        "--separator ;": "now --read sep=';'",
        "--no-header": "now --read header=none",
        "--seeds 4": "gone: nothing is drawn at random, and effort searches longer",
        "--centre true": "gone: centred signals are tried, and used where they lower the error on unseen parts",
    }
    for words, hint in former.items():
        code, _, err = run(file, "--output", "4", *words.split())
        assert code == 2 and f"({hint})" in err


def test_a_code_for_missing_values_is_asked_about_with_the_option_to_paste(tmp_path):
    path = tmp_path / "a b.csv"
    path.write_text("u,y\n" + "".join(f"{k * k % 97},{-200 if k in (20, 21, 22) else k * k % 89}\n" for k in range(60)))
    code, _, err = run(str(path), "--output", "y", "--input", "u", *QUICK_WORDS)
    assert code == 2 and "--missing: found -200 in 3 lines of column y" in err and "--missing=-200 if" in err
    for option in ("--missing=-200", "--missing=none"):
        code, _, err = run(str(path), "--output", "y", "--input", "u", option, *QUICK_WORDS)
        assert code == 0, err


@pytest.mark.parametrize("third", ['a "quoted" (name)', "pressure, inlet"])
def test_the_next_command_of_a_look_can_be_pasted(tmp_path, capsys, third):
    names = ["Wind Speed (m/s) & gusts", "it's; $HOME `x`", third, "Active  Power"]
    frame = pd.DataFrame({name: np.sin(np.arange(300.0) ** (1.2 + 0.1 * place)) for place, name in enumerate(names)})
    frame.to_csv(tmp_path / "a b.csv", index=False)
    path = str(tmp_path / "a b.csv")
    assert cli.main(["look", path]) == 0
    options = capsys.readouterr().out.splitlines()[-1]
    shown = subprocess.run(["bash", "-c", f"printf '%s\\0' {options}"], capture_output=True, check=True, text=True)
    words = shown.stdout.rstrip("\0").split("\0")
    inputs = names[:-1] if "," in third else [",".join(names[:-1])]
    assert words == ["--output", names[-1], *chain.from_iterable(("--input", name) for name in inputs)]
    assert cli.main(["look", path, *words, "--json"]) == 0
    looked = json.loads(capsys.readouterr().out)
    assert (looked["output"], looked["inputs"]) == (names[-1], names[:-1])


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (["--read", "sep"], "--read: found 'sep' without =; allowed: KEY=VALUE"),
        (["--read", "sep=,", "--read", "sep=;"], "--read: found sep twice; allowed: KEY=VALUE"),
        (["--read", "separator=;"], "--read: found 'separator'; allowed: sep, decimal, header, skiprows, encoding"),
        (["--read", "skiprows=x"], "--read: skiprows: found 'x' (text); allowed: a whole number"),
    ],
)
def test_wrong_options_of_a_reader_are_one_line(file, words, text):
    code, _, err = run(file, "--output", "4", *words)
    assert code == 2 and text in err and len(err.splitlines()) == 1


@pytest.fixture
def text_files(tmp_path):
    """Return four files without header: time, a signal with decimal commas, another signal."""
    paths = [tmp_path / f"{name}.txt" for name in "abcd"]
    for step, path in enumerate(paths, 1):
        path.write_text("".join(f"{k};1,{k * step % 7};{k % 5}\n" for k in range(30)))
    return list(map(str, paths))


def test_options_of_several_files(monkeypatch, text_files):
    sets = ["--roles", "b.txt=selection", "--units", "column 2=bar"]
    words = ["--output", "2", "--input", "3", *sets, "--test", text_files[2], "--test", text_files[3], *FORM]
    recording, _ = inputs_of_identification(monkeypatch, *text_files[:2], *words)
    assert roles_of(recording.records) == [None, "selection", "test", "test"]
    assert recording.sampling_time == 0.002 and recording.units == {"column 2": "bar"}
    assert recording.records[0].y[:3].tolist() == [1.0, 1.1, 1.2]


def test_options_of_other_columns_for_the_test(monkeypatch, text_files):
    words = ["--output", "2", "--input", "3", "--test-output", "3", "--test-input", "2", *FORM]
    recording, _ = inputs_of_identification(monkeypatch, text_files[0], *words)
    estimation, test = recording.records
    assert (estimation.role, estimation.y[1]) == (None, 1.1)
    assert (test.role, test.y[1]) == ("test", 1.0)


@pytest.mark.parametrize("words", [["--input", "3,1"], ["--input", "3", "--input", "1"]])
def test_inputs_stand_in_one_option_or_in_several(monkeypatch, text_files, words):
    recording, _ = inputs_of_identification(monkeypatch, text_files[0], "--output", "2", *words, *FORM)
    assert recording.inputs == ("column 3", "column 1")


def test_options_of_a_file_without_inputs(monkeypatch, text_files):
    words = ["--output", "2", "--time", "1", "--test", "50%"]
    recording, _ = inputs_of_identification(monkeypatch, text_files[0], *words)
    estimation, test = recording.records
    assert (estimation.role, len(estimation)) == (None, 15)
    assert (test.role, len(test)) == ("test", 15)
    assert recording.inputs == () and recording.sampling_time == 1


def test_help_comes_at_once_and_names_the_defaults(capsys):
    code = "import sys, narxbench._cli as cli\ntry: cli.main(['identify', '--help'])\nexcept SystemExit: pass\n"
    code += "print({'numpy', 'pydantic', 'pandas', 'numba'} & set(sys.modules))"
    reported = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert reported.endswith("\nset()\n")
    for name, schema in [*schemas()["reading"].items(), *schemas()["settings"].items()]:
        assert f"--{name.replace('_', '-')} {schema['metavar']}" in reported
    text = " ".join(reported.split())
    for default in ("1 to 12, or a list of them; default: auto)", "default: 20)"):
        assert default in text
    # The help cannot import what these come from.
    assert f"in samples; longer ones cut the data (default: {USUAL_GAP})" in text
    assert "20%, the last part" in text and "'valve=1-4;heat=0,2'; default: auto)" in text


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("", r"the following arguments are required: FILE, --output; narxbench identify --help tells more"),
        ("F --output y --efort 9", r"unrecognized arguments: --efort 9 \(did you mean '--effort'\?\); .*"),
        (
            "F --output 4 --input 2 3",
            r"unrecognized arguments: 3 \(files stand together; an option has one .*\); .*",
        ),
        ("F --output 4 --degree 2 --degree 3", r"--degree: found twice; allowed: once; .*"),
        ("no.csv --output y", r"no\.csv: cannot be read: No such file or directory"),
        ("pipe --output y", r"pipe: cannot be read: not a regular file"),
        ("F --output tmp", r".*: --output: found no column 'tmp'; allowed: 1 't \[s\]', 2 'valve', 3 'heat', 4 .*"),
        (
            "F --output 4 --sampling-time 1e999",
            r"--sampling-time: found inf; allowed: a number of seconds from 1e-152 .*",
        ),
        (
            "F --output 4 --degree 0 --effort x",
            r"--degree: found '0' .*; allowed: .*; --effort: found 'x' \(text\); .*",
        ),
        ("F --output 4 --input 2 --u-lags vale=3", r"--u-lags: found the input 'vale'; .*\(did you mean 'valve'\?\)"),
        (
            "F --output 4 --set degree=3",
            r"unrecognized arguments: --set degree=3 \(gone: each setting is an option\); .*",
        ),
        ("F --output 4 --roles selection", r"--roles: found 'selection' .*; allowed: a mapping of file names to roles"),
        ("F --output 4 --report F", r"--report: found the file '.*oven\.csv'; allowed: a folder"),
    ],
)
def test_a_mistake_of_identify_is_reported_in_one_line(monkeypatch, tmp_path, file, words, message):
    monkeypatch.chdir(tmp_path)
    os.mkfifo("pipe")
    typed = [{"F": file}.get(word, word) for word in words.split()]
    code, out, err = run(*typed, "--json")
    assert (code, out) == (2, "")
    assert re.fullmatch(f"narxbench: {message}\n", err), err


@pytest.mark.parametrize(
    ("u_unit", "y_unit", "time_step", "message"),
    [
        (1e-308, 1e-308, 1.0, "y: found no value larger than 1e-308; allowed: 1e-152 or more in size, so scale the s"),
        (5e-324, 1.0, 1.0, "u: found no value larger than 4.94e-324; allowed: 1e-152 or more in size, so scale the s"),
        (1.0, 1.0, 1e-320, "time: found steps of 1e-320 s; allowed: 1e-152 to 1e+70 s, so use another unit"),
    ],
)
def test_numbers_near_the_smallest_have_a_named_limit(tmp_path, u_unit, y_unit, time_step, message):
    rows = [f"{k * time_step!r},{k % 2 * u_unit!r},{k % 3 % 2 * y_unit!r}\n" for k in range(100)]
    path = tmp_path / "small.csv"
    path.write_text("t,u,y\n" + "".join(rows))
    code, out, err = run(str(path), "--output", "y", "--input", "u")
    assert (code, out) == (2, "") and err.startswith(f"narxbench: {message}") and err.count("\n") == 1
    err = io.StringIO()
    with redirect_stderr(err), redirect_stdout(io.StringIO()):
        assert cli.main(["look", str(path)]) == 2
    assert re.fullmatch("narxbench: .*; (allowed|needed): .*\n", err.getvalue())


def test_a_mistake_in_the_second_output_is_told_before_the_first_search(file):
    code, out, err = run(file, "--output", "4", "--output", "nothing", *QUICK_WORDS)
    assert (code, out) == (2, "") and "--output: found no column 'nothing'" in err


TEXTS = st.text(max_size=8) | st.sampled_from(
    ["9" * 5000, "1e400", "nan", "-1", "4-1", "1," * 2000, "\udc80", "a\nb", "a=1;b", "=", ";", "{a: 1}", "null", "*"]
)
FLAGS = ["test", "time", "sampling-time", "read", "missing"]
FLAGS += [name.replace("_", "-") for name in schemas()["settings"]]
NUMBERS = st.tuples(st.floats(-9, 9) | st.just(0.0), st.floats(-1e60, 1e60) | st.floats(-9, 9))


def check_one_line_or_a_result(path, *words):
    code, out, err = run(str(path), "--output=y", *QUICK_WORDS, *words)
    if code == 2:
        assert not out and re.fullmatch("narxbench: .*\n", err)
    else:
        assert out and not err and code == 0


@pytest.mark.slow
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.dictionaries(st.sampled_from([*FLAGS, "input", "output"]), TEXTS, min_size=1, max_size=3), st.binary())
def test_whatever_is_given_is_no_traceback(tmp_path, options, content):
    path = tmp_path / "any.csv"
    for data in (content, b"u,y\n" + b"1,2\n3,1\n" * 9):
        path.write_bytes(data)
        check_one_line_or_a_result(path, *(f"--{flag}={text}" for flag, text in options.items()))


@settings(max_examples=10, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.lists(NUMBERS, min_size=1, max_size=50),
    st.sampled_from(["", "--input u", "--input u --noise noe", "--input u --noise narmax", "--test 40%"]),
)
def test_whatever_the_numbers_are_is_no_traceback(tmp_path, rows, words):
    path = tmp_path / "any.csv"
    path.write_text("u,y\n" + "".join(f"{u!r},{y!r}\n" for u, y in rows))
    check_one_line_or_a_result(path, *words.split())


@pytest.mark.parametrize("report", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_only_json_is_printed(monkeypatch, capsys, tmp_path, file, identification, report):
    def chatty(recording, settings, *_):
        print("a step of the search")
        return identification

    monkeypatch.setattr("narxbench._identification.identify.identify_recording", chatty)
    page = tmp_path / "new" / "report.html"
    assert cli.main(["identify", file, "--output", "4", "--json", *["--report", str(page.parent)] * report]) == 0
    out, err = capsys.readouterr()
    look = f"A look at the data is {page.with_name('data.html')}\n" * report
    assert json.loads(out) and err == look + "a step of the search\n" + f"The page is {page}\n" * report
    assert page.exists() == report
    assert not report or 'href="data.html"' in page.read_text(encoding="utf-8")


@pytest.mark.parametrize("is_earlier", [False, True])
def test_a_search_that_fails_leaves_an_earlier_report_whole(monkeypatch, tmp_path, file, is_earlier):
    """A look at the data comes before the search where there is no report that it would not belong to."""

    def fail(*_):
        raise NarxbenchError("the output is constant")

    monkeypatch.setattr("narxbench._identification.identify.identify_recording", fail)
    report = tmp_path / "report"
    before = {"data.html": b"earlier", "model.json": b"earlier", "report.html": b"earlier"} if is_earlier else {}
    for name, content in before.items():
        write_atomically(report / name, content)
    exit_code, _, err = run(file, "--output", "4", "--report", str(report))
    assert exit_code == 2 and err.endswith("narxbench: the output is constant\n")
    after = {path.name: path.read_bytes() for path in report.iterdir()}
    assert after == before if is_earlier else [*after] == ["data.html"]


@pytest.mark.parametrize(
    ("error", "code", "reported"), [(KeyboardInterrupt, 130, ""), (MemoryError, 2, "narxbench: not .*\n")]
)
def test_an_end_before_its_time(monkeypatch, file, error, code, reported):
    def end(*_):
        raise error

    monkeypatch.setattr("narxbench._identification.identify.identify_recording", end)
    exit_code, out, err = run(file, "--output", "4")
    assert (exit_code, out) == (code, "") and re.fullmatch(reported, err)


def test_a_request_to_end_is_obeyed_as_ctrl_c_is(monkeypatch, file):
    def end(*_):
        os.kill(os.getpid(), signal.SIGTERM)

    handler = signal.getsignal(signal.SIGTERM)
    monkeypatch.setattr("narxbench._identification.identify.identify_recording", end)
    assert run(file, "--output", "4") == (143, "", "")
    assert signal.getsignal(signal.SIGTERM) is handler


def test_the_best_model_until_a_request_to_end_leaves(monkeypatch, file):
    def show_progress(progress):
        if progress.step == FORWARD:
            os.kill(os.getpid(), signal.SIGTERM)

    monkeypatch.setattr(cli._STATUS, "show_progress", show_progress)
    code, out, err = run(file, "--input", "valve,heat", "--output", "4", *QUICK_WORDS, "--json")
    assert (code, err) == (0, "")
    content = json.loads(out)
    assert f"Stopped by Ctrl-C or SIGTERM during the {FORWARD}:" in " ".join(content["warnings"])
    assert content["model"]["terms"] and content["competitors"] == []


COMMANDS = ["look", "identify", "predict", "refit", "compare", "forecast", "explain", "check-algorithm"]


def examples(command):
    """Return the words of each example that the help of a command ends with."""
    with redirect_stdout(io.StringIO()) as out, pytest.raises(SystemExit):
        program([command, "--help"])
    lines = out.getvalue().partition("\nexamples:\n")[2].splitlines()
    return [shlex.split(line)[1:] for line in lines]


@pytest.mark.parametrize("command", COMMANDS)
def test_each_help_has_three_examples_that_are_understood(command):
    listed = examples(command)
    assert len(listed) >= 3
    for words in listed:
        assert words[0] == command and cli._parsed(words, [EXPLAIN]).command == command


@pytest.fixture
def files_of_examples(monkeypatch, tmp_path):
    """Write the files that the examples read, and an algorithm, and go to their folder."""
    rng = generator(purpose="examples", seed=1)
    valve, heat = rng.standard_normal((2, 1200)).round(3)
    y = np.zeros(1200)
    for k in range(1, 1200):
        y[k] = 0.5 * y[k - 1] + valve[k - 1] + 0.3 * heat[k - 1] ** 2
    frame = pd.DataFrame({"u": valve, "y": y, "valve": valve, "heat": heat, "temp": y})
    timed = pd.DataFrame({"t": np.arange(400.0).tolist() * 3, "valve": valve, "heat": heat, "temp": y})
    monkeypatch.chdir(tmp_path)
    for part, (name, day) in enumerate([("data", "day1"), ("new", "day2"), ("planned", "day3")]):
        rows = slice(400 * part, 400 * (part + 1))
        signals = frame.drop(columns=["y", "temp"]) if name == "planned" else frame
        signals[rows].to_csv(f"{name}.csv", index=False)
        timed[rows].to_csv(f"{day}.csv", index=False)
    pairs = {"uEst": valve[:200], "yEst": y[:200], "uVal": valve[200:400], "yVal": y[200:400]}
    pd.DataFrame(pairs).to_csv("pairs.csv", index=False)
    install_text(monkeypatch, tmp_path, {"my-search": "my_search"}, "mine", my_search=SOURCE)
    return tmp_path


def quick(words):
    """Return the words of an identification with the options that make it quick."""
    for option, value in zip(QUICK_WORDS[::2], QUICK_WORDS[1::2], strict=True):
        if option not in words:
            words = [*words, option, value]
    return words


@pytest.mark.slow
def test_the_examples_run(files_of_examples, capsys):
    # The model of the other commands' examples; those of identify write into another folder.
    assert program(quick(["identify", "data.csv", "--input", "u", "--output", "y", "--report", "report"])) == 0
    for words in examples("identify"):
        assert program(quick(["another" if word == "report" else word for word in words])) == 0, words
    # Those of explain need a study: tests/unit/studies/paper/test_explain.py has one.
    for command in ("look", "predict", "refit", "compare", "forecast", "check-algorithm"):
        for words in examples(command):
            assert program(words) == 0, (words, capsys.readouterr())
    for name in ("look.html", "predicted.csv", "refitted.json", "arx.json", "comparison.html", "forecast.csv"):
        assert (files_of_examples / name).exists()
    assert (files_of_examples / "another/report.html").exists()


@pytest.mark.parametrize("no_colour", ["", "1"])
def test_a_terminal_has_colours_unless_it_is_told_otherwise(monkeypatch, capsys, no_colour):
    monkeypatch.setenv("NO_COLOR", no_colour)
    monkeypatch.setattr(cli, "is_terminal", lambda _: True)
    cli._print_findings(["FINE  To predict: BAD  luck", "      LOOK  here"])
    status = "FINE" if no_colour else "\x1b[1;32mFINE\x1b[m"
    assert capsys.readouterr().out == f"{status}  To predict: BAD  luck\n      LOOK  here\n"


def test_a_file_has_no_colours(capsys):
    cli._print_findings(["FINE  To predict"])
    assert capsys.readouterr().out == "FINE  To predict\n"

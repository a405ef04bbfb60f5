"""The command ``narxbench``: what it reads, what it prints, and its exit codes."""

import json
import os
import re
import shlex
import signal
import subprocess
import sys
from inspect import signature
from itertools import chain, product
from unittest.mock import Mock

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.command import failed, python, run, succeeded
from tests.unit.algorithms.plugins import SOURCE, install, install_text

import narxbench

QUICK = {"degree": 2, "y_lags": 2, "u_lags": 2, "effort": 0.05}
QUICK_WORDS = ["--degree=2", "--y-lags=2", "--u-lags=2", "--effort=0.05"]
# They take the search from its module when they are first used, which must not be while a test replaces it there.
_ = narxbench.identify, narxbench.NarxRegressor
SEARCH = "narxbench._identification.identify.identify_recording"


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    rng = np.random.default_rng(1)
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


MISTAKES = {
    "": "the following arguments are required: COMMAND; narxbench --help tells more",
    "check-algorithm upso": r"algorithm: found 'upso'; allowed: .*\(did you mean 'upso2d'\?\)",
    "check-algorithm broken": r"algorithm 'broken': cannot be imported: ZeroDivisionError: .*",
    "identify F --output y --efort 9": r"unrecognized arguments: --efort 9 \(did you mean '--effort'\?\); .*",
    "identify F --output 4 --input 2 3": r"unrecognized arguments: 3 \(files are given together; .*\); .*",
    "identify F --output 4 --degree 2 --degree 3": r"--degree: found twice; allowed: once; .*",
    "identify no.csv --output y": r"no\.csv: cannot be read: No such file or directory",
    "identify pipe --output y": r"pipe: cannot be read: not a regular file",
    "identify F --output tmp": r".*: --output: found no column 'tmp'; allowed: 1 't \[s\]', 2 'valve', 3 'heat', 4 .*",
    "identify F --output 4 --output tmp": r".*: --output: found no column 'tmp'; .*",
    "identify F --output 4 --sampling-time 1e999": r"--sampling-time: found inf; allowed: a number of seconds from .*",
    "identify F --output 4 --degree 0 --effort x": r"--degree: found '0' .*; allowed: .*; --effort: found 'x' \(text.*",
    "identify F --output 4 --input 2 --u-lags vale=3": r"--u-lags: found the input 'vale'; .* mean 'valve'\?\)",
    "identify F --output 4 --set degree=3": r"unrecognized arguments: .* \(gone: each setting is an option\); .*",
    "identify F --output 4 --separator ;": r"unrecognized arguments: .* \(now --read sep=';'\); .*",
    "identify F --output 4 --no-header": r"unrecognized arguments: .* \(now --read header=none\); .*",
    "identify F --output 4 --roles selection": r"--roles: found 'selection' .*; allowed: a mapping of file names to .*",
    "identify F --output 4 --report F": r"--report: found the file '.*oven\.csv'; allowed: a folder",
    "identify F --output 4 --read sep": r"--read: found 'sep' without =; allowed: KEY=VALUE, each key once",
    "identify F --output 4 --read sep=, --read sep=;": r"--read: found sep twice; allowed: KEY=VALUE, each key once",
    "identify F --output 4 --read separator=;": r"--read: found 'separator'; allowed: sep, decimal, header, .*",
}


@pytest.mark.parametrize("words", MISTAKES)
def test_a_mistake_is_reported_in_one_line(monkeypatch, tmp_path, file, words):
    monkeypatch.chdir(tmp_path)
    os.mkfifo("pipe")
    install_text(monkeypatch, tmp_path, {"broken": "broken"}, "broken", broken=SOURCE + "\n1 / 0\n")
    message = failed(*words.replace(" F", f" {file}").split())
    assert re.fullmatch(MISTAKES[words], message), message


def test_times_in_a_unit_that_nothing_can_be_computed_in(tmp_path):
    path, k = tmp_path / "small.csv", np.arange(100)
    pd.DataFrame({"t": k * 1e-320, "u": k % 2, "y": k % 3 % 2}).to_csv(path, index=False)
    message = failed("identify", path, "--output", "y", "--input", "u")
    assert message == "time: found steps of 1e-320 s; allowed: 1e-152 to 1e+70 s, so use another unit"


def test_a_code_for_missing_values_is_asked_about_with_the_option_to_paste(tmp_path):
    path, squares = tmp_path / "a b.csv", np.arange(60) ** 2
    frame = pd.DataFrame({"u": squares % 97, "y": squares % 89})
    frame.loc[20:22, "y"] = -200
    frame.to_csv(path, index=False)
    words = ["identify", path, "--output", "y", "--input", "u", *QUICK_WORDS]
    message = failed(*words)
    assert "--missing: found -200 in 3 lines of column y" in message and "--missing=-200 if" in message
    for option in ("--missing=-200", "--missing=none"):
        assert "To predict" in succeeded(*words, option)


@pytest.mark.slow
def test_a_process(monkeypatch, tmp_path):
    """Lines are printed one by one, and a reader may close the pipe early; nothing else is printed."""
    install(monkeypatch, tmp_path)
    words = ["-m", "narxbench", "check-algorithm", "raises"]
    variables = {"PYTHONPATH": os.pathsep.join([str(tmp_path), *map(os.path.abspath, sys.path)])}
    done = python(*words, code=1, **variables)
    assert done.err == "" and "ValueError: cannot reshape" in done.out.splitlines()[-2]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen([sys.executable, *words], **pipes, text=True, env=os.environ | variables) as begun:
        assert begun.stdout.readline().startswith("passed  ")
        begun.stdout.close()
        assert begun.stderr.read() == ""
    assert begun.returncode == 1


def test_json_is_one_object_that_is_what_python_gives(file, identification):
    words = ["--input", "valve,heat", "--output", "4", "--test", "25%", "--decimation", "1", *QUICK_WORDS]
    assert json.loads(succeeded("identify", file, *words, "--json")) == json.loads(json.dumps(identification.to_dict()))


def test_options_are_settings(file):
    words = "--input 2,3 --output 4 --decimation 2 --degree 1-2 --y-lags 3 --u-lags valve=1-2;heat=0,2 --delay 1"
    words += " --noise noe --effort 0.05 --include u1(k)^2,y(k-4) --include u2(k-3) --exclude *u1(k-1)*"
    content = json.loads(succeeded("identify", file, *words.split(), "--json"))
    expected = {"decimation": [2], "degree": [1, 2], "y_lags": [1, 2, 3], "u_lags": {"valve": [1, 2], "heat": [0, 2]}}
    expected |= {"delay": 1, "noise": "noe", "effort": 0.05, "include": ["u1(k)^2", "y(k-4)", "u2(k-3)"]}
    assert content["settings"] == content["settings"] | expected | {"exclude": ["*u1(k-1)*"]}


FORM = ["--read", "header=none", "--read", "sep=;", "--read", "decimal=,", "--sampling-time", "2e-3", "--time", "none"]


TWO_FILES = "a.txt b.txt --test c.txt --test d.txt --output 2 --input 3 --units 'column 2=bar'"
OTHER_COLUMNS = "a.txt --output 2 --input 3 --test-output 3 --test-input 2"


@pytest.mark.parametrize(
    ("words", "output", "inputs"),
    [
        (TWO_FILES, {"unit": "bar", "samples": 60, "high": 1.6, "test_range": [1.0, 1.6]}, ["column 3"]),
        (OTHER_COLUMNS, {"high": 1.6, "test_range": [0.0, 4.0]}, ["column 3"]),
        ("a.txt --output 2 --input 3 --input 1", {}, ["column 3", "column 1"]),
        ("a.txt --output 2 --time 1 --test 50%", {"samples": 15}, []),
    ],
)
def test_options_of_reading(monkeypatch, tmp_path, words, output, inputs):
    """Files without header have a time, a signal with decimal commas, and another signal."""
    monkeypatch.chdir(tmp_path)
    for step, name in enumerate("abcd", 1):
        lines = "".join(f"{k};1,{k * step % 7};{k % 5}\n" for k in range(30))
        (tmp_path / f"{name}.txt").write_text(lines)
    form = [] if "--time" in words else FORM
    content = json.loads(succeeded("look", *shlex.split(words), *form, "--json"))
    assert (content["inputs"], content["sampling_time"]) == (inputs, 0.002 if form else 1.0)
    first = content["signals"][0]
    assert first | output == first


@pytest.mark.parametrize("third", ['a "quoted" (name)', "pressure, inlet"])
def test_the_next_command_of_a_look_can_be_pasted(tmp_path, third):
    names = ["Wind Speed (m/s) & gusts", "it's; $HOME `x`", third, "Active  Power"]
    frame = pd.DataFrame({name: np.sin(np.arange(300.0) ** (1.2 + 0.1 * place)) for place, name in enumerate(names)})
    path = tmp_path / "a b.csv"
    frame.to_csv(path, index=False)
    options = succeeded("look", path).splitlines()[-1]
    shown = subprocess.run(["bash", "-c", f"printf '%s\\0' {options}"], capture_output=True, check=True, text=True)
    words = shown.stdout.rstrip("\0").split("\0")
    inputs = names[:-1] if "," in third else [",".join(names[:-1])]
    assert words == ["--output", names[-1], *chain(*product(["--input"], inputs))]
    content = json.loads(succeeded("look", path, *words, "--json"))
    assert (content["output"], content["inputs"]) == (names[-1], names[:-1])


def test_help_comes_at_once_and_names_each_setting_with_its_default():
    code = "import runpy, sys\nsys.argv = ['narxbench', 'identify', '--help']\n"
    code += "try: runpy.run_module('narxbench', run_name='__main__')\nexcept SystemExit: pass\n"
    code += "print({'numpy', 'pydantic', 'pandas', 'numba'} & set(sys.modules))"
    reported = python("-c", code).out
    assert reported.endswith("\nset()\n")
    text = " ".join(reported.split())
    for name in narxbench.NarxRegressor().get_params():
        assert name in ("random_state", "standardise") or f" --{name.replace('_', '-')} " in text, name
    for default in (
        "1 to 12, or a list of them; default: auto)",
        "default: 20)",
        "'valve=1-4;heat=0,2'; default: auto)",
    ):
        assert default in text


TEXTS = st.text(max_size=8) | st.sampled_from(
    ["9" * 5000, "1e400", "nan", "-1", "4-1", "1," * 2000, "\udc80", "a\nb", "a=1;b", "=", ";", "{a: 1}", "null", "*"]
)
FLAGS = [name.replace("_", "-") for name in signature(narxbench.identify).parameters]
NUMBERS = st.tuples(st.floats(-9, 9) | st.just(0.0), st.floats(-1e60, 1e60) | st.floats(-9, 9))
fuzzing = settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


def check_one_line_or_a_result(path, *words):
    outcome = run("identify", path, "--output=y", *QUICK_WORDS, *words)
    if outcome.code == 2:
        assert not outcome.out and re.fullmatch("narxbench: .*\n", outcome.err)
    else:
        assert outcome.out and not outcome.err and outcome.code == 0


@pytest.mark.slow
@settings(fuzzing, max_examples=60)
@given(st.dictionaries(st.sampled_from(FLAGS), TEXTS, min_size=1, max_size=3))
def test_whatever_is_given_is_no_traceback(tmp_path, options):
    path = tmp_path / "any.csv"
    path.write_text("u,y\n" + "1,2\n3,1\n" * 9)
    check_one_line_or_a_result(path, *(f"--{flag}={text}" for flag, text in options.items()))


MODES = st.sampled_from(["", "--input u", "--input u --noise noe", "--input u --noise narmax", "--test 40%"])


@settings(fuzzing, max_examples=10)
@given(st.lists(NUMBERS, min_size=1, max_size=50), MODES)
def test_whatever_the_numbers_are_is_no_traceback(tmp_path, rows, words):
    path = tmp_path / "any.csv"
    pd.DataFrame(rows, columns=["u", "y"]).to_csv(path, index=False)
    check_one_line_or_a_result(path, *words.split())


def test_only_json_is_printed_and_reports_are_written(monkeypatch, tmp_path, file, identification):
    def chatty(*_):
        print("a step of the search")
        return identification

    monkeypatch.setattr(SEARCH, chatty)
    words = ["--output", "4", "--output", "3", "--input", "2", "--json", "--report", tmp_path / "new"]
    done = run("identify", file, *words)
    pages = sorted((tmp_path / "new").rglob("report.html"))
    assert done.code == 0 and len(pages) == len(json.loads(done.out)) == 2
    expected = {"a step of the search"}
    for page in pages:
        expected |= {f"The page is {page}", f"A look at the data is {page.with_name('data.html')}"}
        assert 'href="data.html"' in page.read_text(encoding="utf-8")
    assert set(done.err.splitlines()) == expected


@pytest.mark.parametrize("is_earlier", [False, True])
def test_a_search_that_fails_leaves_an_earlier_report_whole(monkeypatch, tmp_path, file, is_earlier):
    """A look at the data comes before the search where there is no report that it would not belong to."""
    monkeypatch.setattr(SEARCH, Mock(side_effect=narxbench.NarxbenchError("the output is constant")))
    before = dict.fromkeys(["data.html", "model.json", "report.html"] * is_earlier, "earlier")
    for name, content in before.items():
        (tmp_path / name).write_text(content)
    done = run("identify", file, "--output", "4", "--input", "2", "--report", tmp_path)
    assert done.code == 2 and done.err.endswith("narxbench: the output is constant\n")
    after = {path.name: path.read_text() for path in tmp_path.iterdir()}
    assert after == before or (not is_earlier and [*after] == ["data.html"])


def terminate(*_):
    os.kill(os.getpid(), signal.SIGTERM)


@pytest.mark.parametrize(
    ("end", "code", "reported"),
    [
        (Mock(side_effect=KeyboardInterrupt), 130, ""),
        (terminate, 143, ""),
        (Mock(side_effect=MemoryError), 2, "narxbench: not .*\n"),
    ],
)
def test_an_end_before_its_time(monkeypatch, file, end, code, reported):
    handler = signal.getsignal(signal.SIGTERM)
    monkeypatch.setattr(SEARCH, end)
    done = run("identify", file, "--output", "4")
    assert (done.code, done.out) == (code, "") and re.fullmatch(reported, done.err)
    assert signal.getsignal(signal.SIGTERM) is handler


def write_files_of_examples():
    """Write the files that the examples read."""
    valve, heat = np.random.default_rng(1).standard_normal((2, 1200)).round(3)
    y = np.convolve(np.roll(valve, 1) + 0.3 * np.roll(heat, 1) ** 2, 0.5 ** np.arange(20))[:1200]
    frame = pd.DataFrame({"t": np.arange(1200.0), "valve": valve, "heat": heat, "temp": y, "u": valve, "y": y})
    for part, names in enumerate((["data", "day1"], ["planned", "day2"], ["new", "day3"])):
        for name in names:
            hidden = ["temp", "y"] if name == "planned" else []
            frame[400 * part : 400 * (part + 1)].drop(columns=hidden).to_csv(f"{name}.csv", index=False)
    pairs = {"uEst": valve[:200], "yEst": y[:200], "uVal": valve[200:400], "yVal": y[200:400]}
    pd.DataFrame(pairs).to_csv("pairs.csv", index=False)


@pytest.mark.slow
def test_the_examples_run(monkeypatch, tmp_path):
    """Those of explain need a study, which its own test has."""
    monkeypatch.chdir(tmp_path)
    write_files_of_examples()
    install_text(monkeypatch, tmp_path, {"my-search": "my_search"}, "mine", my_search=SOURCE)
    # The model of the other commands' examples, which those of identify would replace.
    succeeded("identify", "data.csv", "--input", "u", "--output", "y", *QUICK_WORDS, "--report", "report")
    for command in ("identify", "look", "predict", "refit", "compare", "forecast", "check-algorithm"):
        examples = succeeded(command, "--help").partition("\nexamples:\n")[2].splitlines()
        assert len(examples) >= 3
        for _, *words in map(shlex.split, examples):
            if command == "identify":
                quick_words = [word for word in QUICK_WORDS if word.partition("=")[0] not in words]
                words = [*map({"report": "another"}.get, words, words), *quick_words]
            succeeded(*words)
    created = {"look.html", "predicted.csv", "refitted.json", "arx.json", "comparison.html", "forecast.csv", "another"}
    assert created <= set(os.listdir())

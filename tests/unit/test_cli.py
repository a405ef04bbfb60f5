"""The command ``narxbench``: what it prints, and its exit codes."""

import re
import subprocess
import sys

import pytest
from tests.unit.algorithms.plugins import SOURCE, install, install_text

from narxbench import cli
from narxbench.algorithms.isolation.host import environment


@pytest.fixture
def plugins(monkeypatch, tmp_path):
    install(monkeypatch, tmp_path, "dishonest")
    return tmp_path


def test_an_algorithm_that_holds(capsys):
    assert cli.main(["check-algorithm", "random_search"]) == 0
    *lines, last = capsys.readouterr().out.splitlines()
    assert len(lines) > 10 and all(line.startswith("passed  ") for line in lines)
    assert last == "random_search: all checks passed"


def test_one_that_does_not(plugins, capsys):
    assert cli.main(["check-algorithm", "settings_without_text"]) == 1
    printed = capsys.readouterr().out
    assert "\nFAILED  settings: setting 'step' has no description; needed" in printed
    assert "\npassed  a run: " in printed
    assert printed.endswith("\nsettings_without_text: 1 failed\n")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([], "the following arguments are required: COMMAND; narxbench --help tells more"),
        (["check"], r"argument COMMAND: invalid choice: 'check' .*; narxbench --help tells more"),
        (
            ["check-algorithm"],
            "the following arguments are required: NAME; narxbench check-algorithm --help tells more",
        ),
        (
            ["export-problems"],
            "the following arguments are required: FOLDER; narxbench export-problems --help tells more",
        ),
        (["add-results", "no.json"], r"no\.json: cannot be read: .*"),
        (["check-algorithm", "upso"], r"algorithm: found 'upso'; allowed: .*\(did you mean 'upso2d'\?\)"),
        (["check-algorithm", "broken"], r"algorithm 'broken': cannot be imported: ZeroDivisionError: .*"),
    ],
)
def test_a_mistake_is_told_in_one_line(monkeypatch, tmp_path, capsys, arguments, words):
    install_text(monkeypatch, tmp_path, {"broken": "broken"}, "broken", broken=SOURCE + "\n1 / 0\n")
    try:
        code = cli.main(arguments)
    except SystemExit as end:
        code = end.code
    out, err = capsys.readouterr()
    assert (code, out) == (2, "")
    assert re.fullmatch(f"narxbench: {words}\n", err), err


def test_a_process(plugins):
    """Its lines come one by one, to whoever reads as long as he wants; nothing else is printed."""
    command = [sys.executable, "-m", "narxbench.cli", "check-algorithm", "raises"]
    done = subprocess.run(command, capture_output=True, text=True, env=environment())
    assert (done.returncode, done.stderr) == (1, "")
    assert "ValueError: cannot reshape" in done.stdout.splitlines()[-2]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment()
    ) as begun:
        assert begun.stdout.readline().startswith("passed  ")
        begun.stdout.close()
        assert begun.stderr.read() == ""
    assert begun.returncode == 1


def test_an_interruption(monkeypatch, capsys):
    def interrupted(name):
        raise KeyboardInterrupt

    monkeypatch.setattr(cli, "check", interrupted)
    assert cli.main(["check-algorithm", "ga"]) == 130
    assert capsys.readouterr() == ("", "")

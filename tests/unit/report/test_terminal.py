"""Tests of the terminal: the summary of a model, the line that says what is done at the moment, colours."""

import logging
import re
import time
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from tests.command import TerminalStream, run
from tests.lookups import items_by_name, values_of

import narxbench

CASES = ["plain", "oversampled", "series", "hostile", "exact", "worse", "doubtful"]
ANSWERS = {"To predict", "To read its terms", "For control"}
# They take the search from its module when they are first used, which must not be while a test replaces it there.
_ = narxbench.identify, narxbench.NarxRegressor


@pytest.fixture
def command(monkeypatch, tmp_path):
    """Return a function that runs ``narxbench identify`` with another search."""
    squares = np.arange(40) ** 2
    pd.DataFrame({"u": squares % 7, "y": squares % 11}).to_csv(tmp_path / "data.csv", index=False)

    def identify(search, *words, **streams):
        monkeypatch.setattr("narxbench._identification.identify.identify_recording", search)
        outcome = run("identify", tmp_path / "data.csv", "--input", "u", "--output", "y", *words, **streams)
        assert outcome.code == 0, outcome.err
        return outcome

    return identify


@pytest.fixture
def summary(command):
    """Return a function that returns the lines that the command prints of an identification."""
    return lambda identification, *words: command(lambda *_: identification, *words).out.splitlines()


def crowded(identification, n_terms):
    """Return an identification with many terms, findings and notes, and long names."""
    terms = map("y(k-{0})*u(k-1{0:02})^2".format, range(1, n_terms + 1))
    model = narxbench.Model(tuple(terms), (-1e-300 / 3,) * n_terms, ("u" * 60,), "y" * 60)
    finding = items_by_name(identification.summary)["errors"]
    long = replace(finding, text="In free run the error is large. " + "word " * 90 + ".")
    findings = [replace(long, status=status) for status in ("bad", "look", "fine") for _ in range(9)]
    recording = replace(identification.recording, notes=("Word " * 99, "x", "y", "x", "z"))
    weights = identification.weights[:1] * n_terms
    return replace(identification, model=model, weights=weights, summary=findings, recording=recording)


@pytest.mark.parametrize("name", CASES)
def test_a_summary_is_short_and_no_sentence_is_cut(identified, summary, name):
    identification = identified(name)
    findings = items_by_name(identification.summary)
    lines = summary(identification)
    text = "\n".join(lines)
    assert len(lines) <= 25 and max(map(len, lines)) <= 100 and not re.search(r"… *$", text, re.MULTILINE)
    answers = re.findall(r"^(?:FINE|LOOK|BAD)  ? *(To predict|To read its terms|For control): ", text, re.MULTILINE)
    assert {*answers} == ANSWERS & set(values_of(identification.summary, "title"))
    is_worse = "competitors" in findings and "WORSE than" in findings["competitors"].text
    assert lines[0].startswith("WORSE than") == is_worse
    equation = " ".join(text.split())
    for term, weight in zip(identification.model.terms, identification.model.coefficients, strict=True):
        assert f"{abs(weight):.4g} {term}".removesuffix(" 1") in equation


@pytest.mark.parametrize("n_terms", [1, 3, 80])
def test_a_crowded_summary_fits_a_terminal(identified, summary, n_terms):
    lines = summary(crowded(identified("plain"), n_terms))
    assert len(lines) <= 25 and max(map(len, lines)) <= 100
    assert not re.search("…$", "\n".join(lines), re.MULTILINE)


def test_the_table_has_the_errors_of_the_result(identified, summary):
    identification = identified("plain")
    (figures,) = re.findall(r"^test, free run (.*)$", "\n".join(summary(identification)), re.MULTILINE)
    errors = identification.validation.query("role == 'test' and record == 'all' and kind == 'free_run'")
    shown = errors[errors["sampling"] == "incoming"]["rrse"]
    assert figures.split() == list(map("{:.3g}".format, shown))
    rows = identification.validation.assign(rrse=None, diverged=True)
    diverging = "\n".join(summary(replace(identification, validation=rows)))
    assert re.search(r"^test, free run +diverges", diverging, re.MULTILINE)


def test_of_many_terms_the_largest_are_shown(identified, summary):
    terms = tuple(map("u(k-{})".format, range(1, 99)))
    model = narxbench.Model(terms, tuple((np.arange(1, 99) / 100).tolist()), ("u",), "y")
    weights = [{**identified("plain").weights[0], "term": term, "err": 0.001 * lag} for lag, term in enumerate(terms)]
    lines = " ".join(summary(replace(identified("plain"), model=model, weights=weights)))
    n_more = int(re.search(r"… and (\d+) more: --json", lines)[1])
    assert 0 < n_more < 98 and "u(k-98)" in lines
    assert f"u(k-{n_more + 1})" in lines and f"u(k-{n_more})" not in lines


def wait_for(terminal, words):
    end = time.monotonic() + 10.0
    while words not in terminal.getvalue() and time.monotonic() < end:
        time.sleep(0.001)
    assert words in terminal.getvalue()


@pytest.fixture
def terminal(monkeypatch):
    monkeypatch.setattr("narxbench._report.status_line._INTERVAL", 0.001)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "200")
    return TerminalStream()


def progress(done, rrse, terms, share):
    return SimpleNamespace(step="brief searches", done=done, planned=10, rrse=rrse, terms=terms, share=share)


def test_a_line_says_what_is_done_and_goes_before_anything_is_printed(command, terminal, identified):
    def search(recording, settings, check, report_progress):
        wait_for(terminal, "\r\x1b[Kpreparing the search, 0 s")
        report_progress(progress(1, None, 0, 0.03))
        wait_for(terminal, "brief searches 1/10; 0 s (Ctrl-C: stop)")
        logging.getLogger("narxbench").warning("narxbench: compiling")
        time.sleep(0.03)
        report_progress(progress(2, 0.25, 3, 0.031))
        wait_for(terminal, "brief searches 2/10; best: error 0.25, 3 terms; 0 s (Ctrl-C: stop)")
        # A thousandth took 30 ms: 95 % take half a minute.
        report_progress(progress(10, 0.25, 3, 0.05))
        wait_for(terminal, "brief searches 10/10; best: error 0.25, 3 terms; 0 s, about ")
        return identified("plain")

    shown = command(search, err=terminal).err
    assert re.search(r"\x1b\[Knarxbench: compiling\n", shown) and " left (Ctrl-C: stop)" in shown
    assert shown.endswith("\r\x1b[K") and not logging.getLogger("narxbench").handlers
    assert re.search(r"about \d+ (s|min \d+ s) left", shown)


def test_nothing_is_drawn_where_no_line_can_be_cleared(command, terminal, identified, monkeypatch):
    def search(*_):
        time.sleep(0.02)
        return identified("plain")

    assert command(search).err == ""
    monkeypatch.setenv("TERM", "dumb")
    assert command(search, err=terminal).err == ""


@pytest.mark.parametrize("no_colour", ["", "1"])
def test_a_terminal_has_colours_unless_it_is_told_otherwise(command, identified, monkeypatch, no_colour):
    monkeypatch.setenv("NO_COLOR", no_colour)
    monkeypatch.setenv("TERM", "xterm")
    streams = (TerminalStream(), None)
    shown, piped = (command(lambda *_: identified("plain"), out=stream).out for stream in streams)
    assert ("\x1b[1;32mFINE\x1b[m  To predict" in shown) == (not no_colour) and "\x1b" not in piped

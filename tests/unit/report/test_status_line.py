"""The line of a terminal that says what a command does at the moment."""

import io
import logging
import time
from contextlib import contextmanager, redirect_stderr

import pytest

from narxbench._identification.search.steps import SearchProgress
from narxbench._report import status_line
from narxbench._report.status_line import StatusLine, duration


class TerminalStream(io.StringIO):
    def isatty(self):
        return True


@pytest.fixture
def terminal(monkeypatch):
    monkeypatch.setattr(status_line, "_INTERVAL", 0.001)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "200")
    return TerminalStream()


@contextmanager
def shown(terminal, activity):
    line = StatusLine()
    with redirect_stderr(terminal), line.shown(activity):
        yield line


def wait_for(terminal, words):
    end = time.monotonic() + 10.0
    while words not in terminal.getvalue() and time.monotonic() < end:
        time.sleep(0.001)
    assert words in terminal.getvalue()


def test_it_says_what_is_done_and_goes(terminal):
    with shown(terminal, "reading the data") as line:
        wait_for(terminal, "\r\x1b[Kreading the data, 0 s")
        line.begin("drawing the page")
        wait_for(terminal, "\r\x1b[Kdrawing the page, 0 s")
    assert terminal.getvalue().endswith(" s\r\x1b[K")


def test_it_is_hidden_while_something_is_printed(terminal):
    with shown(terminal, "reading the data") as line:
        wait_for(terminal, "reading")
        with line.hidden():
            terminal.write("printed\n")
            time.sleep(0.02)
            printed = terminal.getvalue()
        logging.getLogger("narxbench").warning("narxbench: compiling")
    assert printed.endswith("\r\x1b[Kprinted\n")
    assert "\x1b[Knarxbench: compiling\n" in terminal.getvalue() or "\nnarxbench: compiling\n" in terminal.getvalue()
    assert not logging.getLogger("narxbench").handlers


def test_a_search_tells_its_step_its_best_model_and_the_time_left(terminal):
    with shown(terminal, "preparing the search") as line:
        line.show_progress(SearchProgress("brief searches", 1, 10, None, 0, 0.03))
        wait_for(terminal, "brief searches 1/10; 0 s (Ctrl-C: stop)")
        time.sleep(0.03)
        line.show_progress(SearchProgress("brief searches", 2, 10, 0.25, 3, 0.031))
        wait_for(terminal, "brief searches 2/10; best: error 0.25, 3 terms; 0 s (Ctrl-C: stop)")
        # A thousandth took 30 ms: 95 % take half a minute.
        line.show_progress(SearchProgress("brief searches", 10, 10, 0.25, 3, 0.05))
        wait_for(terminal, "brief searches 10/10; best: error 0.25, 3 terms; 0 s, about ")
        assert " left (Ctrl-C: stop)" in terminal.getvalue()


@pytest.mark.parametrize("name", ["dumb", "pipe"])
def test_nothing_is_drawn_where_no_line_can_be_cleared(terminal, monkeypatch, name):
    if name == "dumb":
        monkeypatch.setenv("TERM", "dumb")
    else:
        monkeypatch.setattr(TerminalStream, "isatty", lambda _: False)
    with shown(terminal, "reading the data"):
        time.sleep(0.02)
    assert terminal.getvalue() == ""


def test_durations_are_minutes_and_seconds():
    assert [duration(seconds) for seconds in (0.2, 59.6, 125)] == ["0 s", "1 min 0 s", "2 min 5 s"]

"""Nothing that is read is run, and any text is judged at once: readers take text as text and write nothing."""

import os
import sys
import time
from contextlib import suppress
from functools import partial
from pathlib import Path

import pytest

from narxbench import Model, NarxbenchError, System, load_model, load_system, look, read_signals

CODE = [
    "__import__('os').system('touch PWNED')",
    "(lambda: open('PWNED', 'w'))()",
    "{0.__class__.__init__.__globals__} %(x)s %n",
    "{{ ''.__class__.__mro__[1].__subclasses__() }}{% include '/etc/passwd' %}",
    "$(touch PWNED) `touch PWNED`; touch PWNED | touch PWNED #",
    "!!python/object/apply:os.system ['touch PWNED']",
    "!!python/object/new:subprocess.Popen [[touch, PWNED]]",
    "cos\nsystem\n(S'touch PWNED'\ntR.",
]
STARTS = ("exec", "import", "pickle", "os.system", "os.exec", "os.spawn", "os.posix_spawn", "os.fork", "subprocess.")
_recorded = None


def _hook(event, arguments):
    # An audit hook stays for the life of the process, so that it can only be reported when to listen.
    if _recorded is not None and event.startswith((*STARTS, "socket.", "ctypes.", "shutil.rmtree")):
        _recorded.append(f"{event} {arguments!r:.200}")
    elif _recorded is not None and event == "open" and (arguments[2] or 0) & (os.O_WRONLY | os.O_RDWR | os.O_CREAT):
        _recorded.append(f"write {arguments[0]}")


sys.addaudithook(_hook)


def record(calls):
    """Return what Python runs, imports, starts and opens for writing in the calls, which may raise our error."""
    global _recorded
    _recorded = []
    try:
        for call in calls:
            with suppress(NarxbenchError):
                call()
        return _recorded
    finally:
        _recorded = None


def test_the_record_sees_what_is_run(tmp_path):
    events = "\n".join(record([lambda: eval("1 + 1"), lambda: os.system("true"), (tmp_path / "x").touch]))
    for reported in ("exec", "os.system", f"write {tmp_path / 'x'}"):
        assert reported in events


def _term(text):
    return Model((text,), (1.0,), ("u",), "y")


def _equation(text):
    return System("X", text, n_u=1, n_y=1, degree=2)


@pytest.mark.parametrize("payload", CODE)
def test_code_in_any_file_is_text(tmp_path, monkeypatch, payload):
    monkeypatch.chdir(tmp_path)
    calls = [partial(_term, payload)]
    for equation in (payload, f"y(k) = {payload}", f"y(k) = 0.5*y(k-1) + {payload}"):
        calls.append(partial(_equation, equation))
    shapes = ("{}", "a: {}", "a: [{}]", "? {}\n: b", "u,y\n{},1", "u,y,{}\n1,1,{}", "a\n{}", "equation: {}")
    for number, shape in enumerate((*shapes, '{"format": "{}"}')):
        path = Path(f"F{number}.yaml")
        path.write_text(shape.replace("{}", payload))
        for reader in (read_signals, load_model, look):
            calls.append(partial(reader, str(path)))
        calls.append(partial(load_system, path.stem, "."))
    before = sorted(os.listdir())
    record(calls)  # the first use of a reader imports what it needs
    assert record(calls) == []
    assert sorted(os.listdir()) == before
    for reads in (_term, _equation):
        with pytest.raises(NarxbenchError):
            reads(payload)


N = 20_000
LONG = {
    "digits": "1" * N,
    "digits and a letter": "1" * N + "x",
    "an exponent that is missing": "1" * N + "e",
    "a long exponent": "1e" + "1" * N + "x",
    "decimals": "1." + "1" * N + "x",
    "decimals after a comma": "1," + "1" * N + "x",
    "groups": "1" + ",111" * N + "x",
    "parts of a time": "1-" * N + "x",
}


@pytest.mark.parametrize("text", LONG.values(), ids=LONG)
def test_long_texts_take_no_time(tmp_path, text):
    """Any field is judged in a time that grows with its length, not with the square of it."""
    path = tmp_path / "data.csv"
    path.write_text("t,u,y\n" + "1,2,3\n" * 20 + f'1,2,"{text}"\n')
    of_output, of_time = partial(look, output="y"), partial(look, output="u", time="y")
    for reader in (read_signals, of_output, of_time, partial(of_output, read={"decimal": "."})):
        began = time.thread_time()
        with pytest.raises(NarxbenchError):
            reader(path)
        assert time.thread_time() - began < 2.0


def test_a_message_shows_characters_that_would_control_a_terminal():
    with pytest.raises(NarxbenchError) as error:
        look({"\x1b[2J": range(20), "y": range(20)}, output="z")
    assert str(error.value) == r"data: output: found no column 'z'; allowed: 1 '\x1b[2J', 2 'y'"

"""Nothing that is read is run: readers take any text as text, start nothing, and write nothing."""

import os
import sys
from contextlib import suppress
from functools import partial
from pathlib import Path

import pytest

from narxbench._io.csv import TEXT, read_table
from narxbench._io.errors import NarxbenchError
from narxbench._io.files import canonical_json, read_json
from narxbench._io.yaml import read_mapping
from narxbench._model.dataset import read_signals
from narxbench._model.system import load_system, parse_equation
from narxbench._model.terms import parse_term

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


@pytest.mark.parametrize("payload", CODE)
def test_code_in_any_file_is_text(tmp_path, monkeypatch, payload):
    monkeypatch.chdir(tmp_path)
    calls = [partial(parse_term, payload)]
    for equation in (payload, f"y(k) = {payload}", f"y(k) = 0.5*y(k-1) + {payload}"):
        calls.append(partial(parse_equation, equation))
    shapes = ("{}", "a: {}", "a: [{}]", "? {}\n: b", "u,y\n{},1", "u,y,{}\n1,1,{}", "a\n{}", "equation: {}")
    texts = [canonical_json({"a": payload, payload: 1}), *(shape.replace("{}", payload) for shape in shapes)]
    for number, text in enumerate(texts):
        path = Path(f"F{number}.yaml")
        path.write_text(text)
        for reader in (read_mapping, read_json, read_signals, partial(read_table, columns={"a": TEXT})):
            calls.append(partial(reader, str(path)))
        calls.append(partial(load_system, path.stem, "."))
    before = sorted(os.listdir())
    record(calls)  # the first use of a reader imports what it needs
    assert record(calls) == []
    assert sorted(os.listdir()) == before
    for reads in (parse_term, parse_equation):
        with pytest.raises(NarxbenchError):
            reads(payload)

"""No text that is read is run, and any text is judged at once."""

import os
import time
from contextlib import suppress
from functools import partial
from pathlib import Path

import pytest

from narxbench import Model, NarxbenchError, System, load_model, load_system, look, read_signals

CODE = [
    "__import__('os').system('touch PWNED')",
    "(lambda: open('PWNED', 'w'))()",
    "$(touch PWNED) `touch PWNED`; touch PWNED | touch PWNED #",
    "!!python/object/apply:os.system ['touch PWNED']",
    "!!python/object/new:subprocess.Popen [[touch, PWNED]]",
    "cos\nsystem\n(S'touch PWNED'\ntR.",
]
SHAPES = ("{}", "a: {}", "? {}\n: b", "u,y\n{},1", "u,y,{}\n1,1,{}", "equation: y(k) = {}", '{"format": "{}"}')


@pytest.mark.parametrize("payload", CODE)
def test_code_in_any_text_is_not_run(tmp_path, monkeypatch, payload):
    monkeypatch.chdir(tmp_path)
    readers = [lambda: Model((payload,), (1.0,), ("u",), "y")]
    for equation in (payload, f"y(k) = {payload}", f"y(k) = 0.5*y(k-1) + {payload}"):
        readers.append(partial(System, "X", equation, n_u=1, n_y=1, degree=2))
    for number, shape in enumerate(SHAPES):
        path = Path(f"F{number}.yaml")
        path.write_text(shape.replace("{}", payload))
        for reader in (read_signals, load_model, partial(look, output="y")):
            readers.append(partial(reader, str(path)))
        readers.append(partial(load_system, path.stem, "."))
    before = sorted(os.listdir())
    for reader in readers:
        with suppress(NarxbenchError):
            reader()
    assert sorted(os.listdir()) == before


N = 20_000
LONG = {
    "digits and a letter": "1" * N + "x",
    "a long exponent": "1e" + "1" * N + "x",
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

"""A look at measured data for readers: in a terminal, as JSON, and as a page."""

import json

import numpy as np
import pandas as pd
import pytest
from tests.lookups import item_with
from tests.unit.studies.paper.test_page import Page

from narxbench import _cli as cli
from narxbench._identification.data.look import look
from narxbench._numerics.random_streams import generator
from narxbench._report.look_page import look_page
from narxbench._report.look_words import look_lines

HOSTILE = "<b>P$_{in}$</b>"


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    rng = generator(purpose="page of a look")
    u = rng.standard_normal(300)
    y = np.convolve(u, 0.7 ** np.arange(20))[:300] + 1e3
    path = tmp_path_factory.mktemp("data") / "data.csv"
    pd.DataFrame({"time [s]": np.arange(300) / 4, HOSTILE: u, "y [bar]": y}).to_csv(path, index=False)
    return str(path)


def test_the_command_shows_each_signal_and_what_can_be_told_apart(file, capsys):
    assert cli.main(["look", file]) == 0
    out = capsys.readouterr().out
    assert "300 samples (75 s) in 1 record, every 250 ms" in out and "Next: Say which is the output" in out
    assert cli.main(["look", file, "--output", "y", "--input", HOSTILE, "--test", "20%"]) == 0
    out = capsys.readouterr().out
    assert "y (bar) " in out and "Next:" not in out
    assert "By correlation the output follows the input" in " ".join(out.split())
    assert max(map(len, out.splitlines())) <= 100
    assert cli.main(["look", file, "--output", "z"]) == 2
    assert "--output: found no column 'z'" in capsys.readouterr().err


def test_json_has_the_facts_and_the_words(file, tmp_path, capsys):
    page = tmp_path / "page.html"
    words = ["look", file, "--output", "y", "--input", HOSTILE, "--json", "--report", str(page)]
    assert cli.main(words) == 0
    out, err = capsys.readouterr()
    content = json.loads(out)
    assert (content["format"], content["version"], content["output"]) == ("narxbench-look", 1, "y")
    evidence = item_with(content["checks"], name="evidence")
    assert "By correlation the output follows the input" in evidence["text"]
    assert str(page) in err and page.exists()


@pytest.mark.parametrize("options", [{}, {"output": "y", "input": HOSTILE, "test": "30%"}], ids=["alone", "together"])
def test_the_page_is_whole_and_no_name_is_markup(file, options):
    overview = look(file, **options)
    text = look_page(overview)
    assert Page(text)
    assert "<b>P" not in text and "&lt;b&gt;P" in text
    assert text.count("<svg") == (4 if options else 3)
    for signal in overview.signals:
        assert f"{signal.levels}" in text
    assert ("Coherence" in text or "coherence" in text) == bool(options)


def test_many_constant_signals_fit_a_terminal_and_a_page():
    data = {f"signal number {i} with a long name": [float(i)] * 30 for i in range(12)}
    overview = look(data)
    # The last line can be pasted.
    assert max(map(len, look_lines(overview)[:-1])) <= 100
    assert look_page(overview).count("<svg") == 2

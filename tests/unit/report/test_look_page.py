"""A look at measured data for readers: in a terminal, as JSON, and as a page."""

import json

import numpy as np
import pandas as pd
import pytest
from tests.command import failed, run, succeeded
from tests.lookups import item_with
from tests.unit.studies.paper.test_page import Page

import narxbench

HOSTILE = "<b>P$_{in}$</b>"
TOGETHER = ["--output", "y", "--input", HOSTILE, "--test", "20%"]


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    u = np.random.default_rng(7).standard_normal(300)
    y = np.convolve(u, 0.7 ** np.arange(20))[:300] + 1e3
    path = tmp_path_factory.mktemp("data") / "data.csv"
    pd.DataFrame({"time [s]": np.arange(300) / 4, HOSTILE: u, "y [bar]": y}).to_csv(path, index=False)
    return str(path)


def test_the_command_shows_each_signal_and_what_can_be_told_apart(file):
    out = succeeded("look", file)
    assert "300 samples (75 s) in 1 record, every 250 ms" in out and "Next: Say which is the output" in out
    out = succeeded("look", file, *TOGETHER)
    assert "y (bar) " in out and "Next:" not in out
    assert "By correlation the output follows the input" in " ".join(out.split())
    assert max(map(len, out.splitlines())) <= 100
    assert "--output: found no column 'z'" in failed("look", file, "--output", "z")


@pytest.mark.parametrize(("words", "output", "n_figures"), [([], None, 3), (TOGETHER, "y", 4)])
def test_json_and_the_page_have_the_facts_and_no_name_is_markup(file, tmp_path, words, output, n_figures):
    page = tmp_path / "page.html"
    done = run("look", file, *words, "--json", "--report", page)
    content, text = json.loads(done.out), page.read_text(encoding="utf-8")
    assert (content["format"], content["version"], content["output"]) == ("narxbench-look", 1, output)
    assert done.code == 0 and str(page) in done.err
    if words:
        evidence = item_with(content["checks"], name="evidence")
        assert "By correlation the output follows the input" in evidence["text"]
    Page(text).check_structure()
    assert "<b>P" not in text and "&lt;b&gt;P" in text and text.count("<svg") == n_figures
    for signal in content["signals"]:
        assert f">{signal['levels']}<" in text
    assert ("coherence" in text.lower()) == bool(words)


def test_many_constant_signals_fit_a_terminal_and_a_page(tmp_path):
    data = {f"signal number {i} with a long name": [float(i)] * 30 for i in range(12)}
    pd.DataFrame(data).to_csv(tmp_path / "data.csv", index=False)
    *lines, _ = succeeded("look", tmp_path / "data.csv").splitlines()
    # The last line can be pasted.
    assert max(map(len, lines)) <= 100
    narxbench.write_look(narxbench.look(data), tmp_path / "page.html")
    assert (tmp_path / "page.html").read_text(encoding="utf-8").count("<svg") == 2
    # Without a sampling time, frequencies are those of the samples.
    signals = dict(zip("uy", np.random.default_rng(1).standard_normal((2, 300)), strict=True))
    narxbench.write_look(narxbench.look(signals), tmp_path / "page.html")
    assert "/sample<" in (tmp_path / "page.html").read_text(encoding="utf-8")

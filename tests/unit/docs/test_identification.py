"""The pages of the identification name existing keys and settings, and their formulas are right."""

import math
import re
from pathlib import Path

import pytest
from tests.command import succeeded

import narxbench

DOCS = Path(__file__).parents[3] / "docs"
PAGE = (DOCS / "identification.md").read_text(encoding="utf-8")
SEARCH = " ".join((DOCS / "search.md").read_text(encoding="utf-8").split())
KEYS = (DOCS / "api" / "identification_json.md").read_text(encoding="utf-8")
KEY_TABLE = KEYS.partition("| Key | Holds |")[2].partition("\n\n")[0]


@pytest.fixture(scope="module")
def identification():
    u, y = narxbench.load_system("S1").simulate(400, snr_db=40)
    return narxbench.identify(input=u, output=y, test="25%", decimation=1, degree=2, y_lags=2, u_lags=2, effort=0.1)


def documented_subkeys(key):
    """Return the names in the row of the table that documents a key."""
    (row,) = re.findall(rf"^\|.*`{key}`[^|]* \|(.*)$", KEY_TABLE, re.MULTILINE)
    return set(re.findall(r"`(\w+)`", row))


def test_every_key_of_the_json_is_documented_once(identification):
    documented_keys = []
    for keys in re.findall(r"^\|([^|]*)\|", KEY_TABLE, re.MULTILINE):
        documented_keys += re.findall(r"`(\w+)`", keys)
    report = identification.to_dict()
    assert sorted(documented_keys) == sorted(report)
    assert set(report["settings"]["found"]) <= documented_subkeys("settings")
    metrics = report["metrics"]
    assert {*metrics, *metrics["test"], *metrics["test"]["free_run"]} <= documented_subkeys("metrics")
    assert set(report["summary"][0]) == documented_subkeys("summary")


def test_every_setting_named_exists():
    options = re.findall(r"--([a-z-]+)", succeeded("identify", "--help"))
    settings = {"data", *" ".join(options).replace("-", "_").split()}
    documented = set(re.findall(r"`(\w+)(?:: [\w-]+)?`", PAGE))
    no_settings = {"Model", "none", "refit", "steps", "identify", "sep", "decimal", "header", "skiprows", "encoding"}
    assert documented - settings - no_settings - {"report", "sklearn", "files"} == {"t"}


def test_the_score_is_that_of_the_page(identification):
    """J = N ln(S) + ln(N) xi + 2 gamma ln(binomial(candidates, xi)), with the N samples that select."""
    (row,) = identification.tried[identification.tried["chosen"].astype(bool)].to_dict("records")
    (gamma,), (better,) = (
        re.findall(r"2008, γ = ([\d.]+)\)", SEARCH),
        re.findall(r"must be better by ([\d.]+),", SEARCH),
    )
    n = sum(map(len, identification.recording.known))
    n_terms, n_candidates = row["terms"], identification.configuration["candidates"]
    expected = n * math.log(row["rrse"] ** 2) + math.log(n) * n_terms
    expected += 2 * float(gamma) * math.log(math.comb(n_candidates, n_terms)) + float(better) * row["centred"]
    assert row["fitness"] == pytest.approx(expected, rel=1e-9)

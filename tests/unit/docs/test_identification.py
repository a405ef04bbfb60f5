"""The pages of the identification name existing keys and settings, and their formulas are right."""

import math
import re
from pathlib import Path

import numpy as np
import pytest
from tests.lookups import items_by_name

import narxbench
from narxbench._fitness.criteria import parse_criterion
from narxbench._identification.data.reading import Reading
from narxbench._identification.search.candidate import Candidate
from narxbench._identification.search.plan import plan_search
from narxbench._identification.search.scores import CLEARLY_BETTER, scored
from narxbench._identification.settings import IdentificationSettings
from narxbench._io import delimited
from narxbench._io.extras import EXTRAS

DOCS = Path(__file__).parents[3] / "docs"
PAGE = (DOCS / "identification.md").read_text(encoding="utf-8")
SEARCH = " ".join((DOCS / "search.md").read_text(encoding="utf-8").split())


@pytest.fixture(scope="module")
def identification():
    u, y = narxbench.load_system("S1").simulate(400, snr_db=40)
    return narxbench.identify(input=u, output=y, test="25%", degree=2, y_lags=2, u_lags=2, effort=1)


KEYS = (DOCS / "api" / "identification_json.md").read_text(encoding="utf-8")
KEY_TABLE = KEYS.partition("| Key | Holds |")[2].partition("\n\n")[0]


def test_every_key_of_the_json_is_documented_once(identification):
    documented_keys = []
    for keys in re.findall(r"^\|([^|]*)\|", KEY_TABLE, re.MULTILINE):
        documented_keys += re.findall(r"`(\w+)`", keys)
    assert sorted(documented_keys) == sorted(identification.to_dict())


def documented_subkeys(key):
    """Return the names in the row of the table that documents a key."""
    (row,) = re.findall(rf"^\|.*`{key}`[^|]* \|(.*)$", KEY_TABLE, re.MULTILINE)
    return set(re.findall(r"`(\w+)`", row))


def test_subkeys_of_the_json_are_documented(identification):
    report = identification.to_dict()
    assert set(report["settings"]["found"]) <= documented_subkeys("settings")
    metrics = report["metrics"]
    assert {*metrics, *metrics["test"], *metrics["test"]["free_run"]} <= documented_subkeys("metrics")
    assert set(report["summary"][0]) == documented_subkeys("summary")


def test_every_setting_named_exists():
    settings = {*IdentificationSettings.model_fields, *Reading.__annotations__, "data", "joint"}
    documented = set(re.findall(r"`(\w+)(?:: [\w-]+)?`", PAGE))
    no_settings = {"Model", "none", "refit", "steps", "identify"}
    no_settings |= {*delimited.OPTIONS}
    assert documented - settings - no_settings - EXTRAS.keys() == {"t"}


def test_the_score_is_that_of_the_page(identification):
    """J = N ln(S) + ln(N) xi + ln(binomial(candidates, xi)), with N samples that select over the density."""
    plan = plan_search(identification.recording, IdentificationSettings(**identification.settings))
    configuration = items_by_name(plan.configurations)[identification.configuration["name"]]
    density = max(plan.sampling.advised, configuration.decimation)
    (candidate,) = scored(plan, [Candidate(configuration, identification.model.terms, "")], density)
    n = sum(len(record) for record in identification.recording.records if record.role != "test") / density
    criterion = parse_criterion("bic").across_candidates()
    expected = n * math.log(candidate.rrse**2) + math.log(n) * len(candidate.terms)
    n_candidates = identification.configuration["candidates"]
    expected += 2 * criterion.number * math.log(math.comb(n_candidates, len(candidate.terms)))
    expected += CLEARLY_BETTER * configuration.centred
    assert candidate.fitness == pytest.approx(expected, rel=1e-9)
    assert f"must be better by {CLEARLY_BETTER:g}," in SEARCH
    assert f"2008, γ = {criterion.number:g})" in SEARCH


def test_figures_at_the_incoming_sampling_are_of_all_phases(identification):
    model, test = identification.model, identification.recording.records[-1]
    decimation = model.decimation
    predicted = np.array(test.y)
    for phase in range(decimation):
        thin = test.phase(phase, decimation)
        predicted[phase::decimation] = model.decimated().predict(thin.u, thin.y)
    first = model.initial_samples
    error, energy = (test.y - predicted)[first:], test.y[first:] - test.y[first:].mean()
    figures = identification.to_dict()["metrics"]["test"]["free_run"]
    assert figures["rrse"] == pytest.approx(math.sqrt(error @ error / (energy @ energy)))

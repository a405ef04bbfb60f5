"""The page of the identification names what there is, and computes what it says."""

import inspect
import math
import re
from pathlib import Path

import numpy as np
import pytest

import narxbench
from narxbench.fitness.criteria import parse_criterion
from narxbench.identification.data.reading import read_recording
from narxbench.identification.search.scan import BY_CHANCE, CLEARLY_BETTER, Scan
from narxbench.identification.search.structures import Proposal
from narxbench.identification.settings import IdentificationSettings
from narxbench.report.findings import as_json

PAGE = (Path(__file__).parents[3] / "docs" / "identification.md").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def found():
    u, y = narxbench.load_system("S1").simulate(400, snr_db=40)
    return narxbench.identify(input=u, output=y, test="25%", degree=2, y_lags=2, u_lags=2, effort=1, resamples=0)


def rows():
    """Return the text of each row of the table of keys, by the keys that it names."""
    table = PAGE.partition("| Key | Holds |")[2].partition("\n\n")[0].splitlines()[2:]
    cells = [line.strip("| ").split(" | ", 1) for line in table]
    return {tuple(re.findall(r"`(\w+)`", keys)): text for keys, text in cells}


def test_every_key_of_the_json_is_reported(found):
    reported = as_json(found)
    assert [key for keys in rows() for key in keys] == sorted(reported, key=[k for ks in rows() for k in ks].index)
    named = {key: set(re.findall(r"`(\w+)`", text)) for keys, text in rows().items() for key in keys}
    assert set(reported["settings"]["found"]) <= named["settings"]
    assert set(reported["metrics"]) | set(reported["metrics"]["test"]) <= named["metrics"]
    assert set(reported["metrics"]["test"]["free_run"]) <= named["metrics"]
    assert set(reported["summary"][0]) == named["summary"]


def test_every_setting_named_exists():
    settings = {*IdentificationSettings.model_fields, *inspect.signature(read_recording).parameters}
    spoken = set(re.findall(r"`(\w+)(?:: [\w-]+)?`", PAGE.partition("`narxbench identify --json`")[0]))
    others = {"refit", "compare", "u2", "auto", "left_out", "found", "fit_percent", "nrmse", "rmse", "max_error"}
    others |= {"export", "write_report", "likelier_noise", "common_factor"}
    assert spoken - settings - others == set()


def test_the_score_is_what_the_page_says(found):
    """J = N ln(S) + ln(N) xi + ln(binomial(candidates, xi)), with N samples that select over the density."""
    scan = Scan(found.recording, IdentificationSettings(**found.settings))
    (configuration,) = [c for c in scan.configurations if c.name == found.configuration["name"]]
    density = max(scan.sampling.advised, configuration.decimation)
    (scored,) = scan.compared([Proposal(configuration.name, "", found.model.terms)], density)
    n = sum(len(record) for record in found.recording.records if record.role != "test") / density
    judged_by = parse_criterion("bic").across_candidates()
    expected = n * math.log(scored.rrse**2) + math.log(n) * len(scored.terms)
    expected += 2 * judged_by.number * math.log(math.comb(found.configuration["candidates"], len(scored.terms)))
    expected += CLEARLY_BETTER * configuration.centred + BY_CHANCE
    assert scored.fitness == pytest.approx(expected, rel=1e-9)
    text = " ".join(PAGE.split())
    assert f"must be better by {CLEARLY_BETTER:g}," in text
    assert f"γ = {judged_by.number:g}" in text


def test_figures_at_the_incoming_sampling_are_of_all_phases(found):
    model, (*_, test) = found.model, found.recording.records
    q = model.decimation
    predicted = np.array(test.y)
    for phase in range(q):
        thin = test.phase(phase, q)
        predicted[phase::q] = model.decimated().predict(thin.u, thin.y)
    first = model.initial_samples
    error, energy = (test.y - predicted)[first:], test.y[first:] - test.y[first:].mean()
    figures = found.to_dict()["metrics"]["test"]["at_incoming_sampling"]["free_run"]
    assert figures["rrse"] == pytest.approx(math.sqrt(error @ error / (energy @ energy)))

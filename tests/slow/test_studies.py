"""Studies other than the paper's: additions of a user, interpretations of the paper, and faults in one part."""

import re

import pandas as pd
import pytest
import yaml
from tests.workflow.project import TINY

pytestmark = pytest.mark.slow


INTERPRETATIONS = """\
study: interpretations
kind: interpretations
interpretation: as-described
systems: [S3, S4]
snr_db: [30]
seeds: 2
seeds_per_job: 2
evaluations: 200
data: {seeds: [1, 7]}
methods: {upso2d: {criteria: [bic, aic-8]}, stepwise: {algorithm: stepwise, criteria: [bic]}}
variations:
  seeds: [7]
  methods: [upso2d, ga]
  combinations: [{velocity-bound: "1", ties: random}]
  finalists: {interpretations: [as-described], combinations: [{elitism: "on"}]}
"""


# The first option of each design choice is as described; a test can pay for another one of four choices.
FURTHER = {"velocity-bound": "1", "ties": "random", "elitism": "on", "noise": "equation"}


def reduce_design_choices(file):
    """Keep the options of this test in the file of design choices, and two interpretations."""
    mapping = yaml.safe_load(file.read_text(encoding="utf-8"))
    choices = {}
    for name, choice in mapping["design_choices"].items():
        first, *_ = choice["options"]
        choice["options"] = {option: choice["options"][option] for option in (first, FURTHER.get(name, first))}
        if "needs" not in choice:
            choices[name] = choice
    mapping["design_choices"] = choices
    # The paper's study, with which the others are compared, has an interpretation of the first name.
    mapping["interpretations"] = {"as-described": {}, "other": {"ties": "random"}}
    file.write_text(yaml.safe_dump(mapping, sort_keys=False), encoding="utf-8")


def test_the_study_that_tries_every_option(empty):
    reduce_design_choices(empty / "config/design_choices.yaml")
    project = empty.with_study("interpretations", INTERPRETATIONS)
    frame = "data/interpretations/frames/conditions.csv"
    project.snakemake(frame)
    conditions = pd.read_csv(project / frame, dtype=str)
    tried = conditions.groupby("method")["interpretation"].agg(set)
    combined = {"velocity-bound=1+ties=random", "velocity-bound=1", "ties=random"}
    assert tried["upso2d"] == {"baseline", "noise=equation", *combined}
    assert tried["ga"] == {"baseline", "noise=equation", "elitism=on"} and tried["stepwise"] == {"baseline"}
    # Named interpretations have all data seeds, the baseline both criteria.
    seeds = conditions.groupby("interpretation")["data_seed"].agg(set)
    has_name = seeds.index.isin(["baseline", "ties=random"])
    assert (seeds[has_name] == {"1", "7"}).all() and (seeds[~has_name] == {"7"}).all()
    assert set(conditions[conditions["criterion"] == "aic-8"]["interpretation"]) == {"baseline"}
    assert set(conditions["runs"]) == {"2"} and len(conditions) == 30
    # It goes on where it stopped.
    lost = project.run_files()[0]
    lost.unlink()
    assert project.planned()["search"] == [str(lost.relative_to(project.root))]


def test_diverging_system_stops_alone(empty):
    project = empty.with_study("wild", TINY + "data: {excitation: {kind: gaussian, sd: 1.0}}\n")
    printed = project.snakemake("--keep-going", code=1)
    (message,) = re.findall("^narxbench: (?!study |compiling )(.*)$", printed, re.MULTILINE)
    assert re.match("system S4: its output diverges .*; allowed: an input for which", message)
    systems = [path.split("/")[5] for path in project.files("data/wild/conditions")]
    assert systems == ["S3"] * 3

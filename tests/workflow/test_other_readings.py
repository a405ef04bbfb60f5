"""Readings in the pipeline: another reading of the whole experiment, and the experiment that tries them all."""

import csv
import json

import yaml
from project import QUICK, TINY

SMALL = f"{TINY}systems: [S1, S2]\nsearches: {{upso2d: {{criteria: [bic]}}}}\n"
PLAN = """
data_seeds: [1, 7]
criterion: bic
algorithms: [upso2d, ga]
reference: stepwise
combinations: [{velocity-bound: "1", ties: random}]
finalists: {readings: [cited-source], criteria: [aic-8]}
"""


def test_every_run_can_have_data_of_its_own(clean):
    clean.write("mine.yaml", f"{SMALL}data: {{realisation: per_run}}\n")
    clean.snakemake(*QUICK, "mine.yaml")
    data = [clean / f"data/generated/S1/30dB/seed-{seed}.csv" for seed in (1, 2)]
    assert data[0].read_bytes() != data[1].read_bytes()
    assert not (clean / "data/generated/S1/30dB.csv").exists()
    cell = json.loads((clean / "data/cells/S1/30dB/ga/bic.json").read_text())
    assert cell["realisations"] == 2 and len(set(cell["true_fitness"])) == 2
    page = (clean / "reports/report.html").read_text(encoding="utf-8")
    assert "realisation: per_run" in page


def test_another_reading_searches_anew_and_only_what_it_changes(clean):
    clean.write("mine.yaml", SMALL)
    clean.snakemake(*QUICK, "mine.yaml", "--until", "search")
    default = "  closest-consistent: {input: coloured, self-feedback: literal}"
    mine = default.replace("closest-consistent: {", "mine: {selection: tournament, ")
    clean.edit("config/readings.yaml", default, f"{default}\n{mine}")
    planned = clean.planned(*QUICK, "mine.yaml", "--until", "search", "--config", "reading=mine")
    assert sorted(planned["search"]) == sorted(
        f"data/runs/{system}/30dB/ga/bic/seed-{seed}.json" for system in ("S1", "S2") for seed in (1, 2)
    )
    assert "simulate" not in planned


def test_the_experiment_that_tries_every_reading(clean):
    clean.write("mine.yaml", f"{SMALL}reading: cited-source\n")
    clean.write("config/fidelity.yaml", PLAN)
    # As many options as a test can pay for: two of the swarm, one of the GA, one of the data.
    kept = {"velocity-bound", "ties", "elitism", "noise", "input", "realisation", "estimation", "error"}
    one_option = {"input", "realisation", "estimation", "error"}
    readings = clean / "config/readings.yaml"
    mapping = yaml.safe_load(readings.read_text(encoding="utf-8"))
    points = {name: point for name, point in mapping["open_points"].items() if name in kept}
    for name, point in points.items():
        wanted = ["none", "1"] if name == "velocity-bound" else list(point["options"])[: 1 if name in one_option else 2]
        point["options"] = {option: point["options"][option] for option in wanted}
    readings.write_text(yaml.safe_dump({"open_points": points, "readings": {"cited-source": {}}}, sort_keys=False))
    clean.snakemake("fidelity_cells", *QUICK, "mine.yaml")
    with (clean / "data/fidelity/cells.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    found = {(row["algorithm"], row["choices"], row["criterion"]) for row in rows}
    assert found == {
        *(("upso2d", choices, "bic") for choices in ("base", "noise=equation", "velocity-bound=1", "ties=random")),
        ("upso2d", "velocity-bound=1+ties=random", "bic"),
        *(("ga", choices, "bic") for choices in ("base", "noise=equation", "elitism=on")),
        ("stepwise", "base", "bic"),
        *((algorithm, "base", "aic-8") for algorithm in ("upso2d", "stepwise")),
    }
    assert len(rows) == 11 * 2 * 2
    assert {row["data_seed"] for row in rows} == {"1", "7"} and {row["runs"] for row in rows} == {"2"}

    # It goes on where it stopped, and its first data seed is the main experiment's.
    assert clean.snakemake("fidelity_cells", *QUICK, "mine.yaml").count("Nothing to be done") == 1
    (clean / "data/fidelity/ga/elitism=on/data-7/S2/30dB/bic.json").unlink()
    (clean / "data/fidelity/cells.csv").unlink()
    again = clean.done("fidelity_cells", *QUICK, "mine.yaml")
    assert again["reading_cell"] == ["data/fidelity/ga/elitism=on/data-7/S2/30dB/bic.json"]
    clean.snakemake("data/cells/S2/30dB/ga/bic.json", *QUICK, "mine.yaml")
    cell = json.loads((clean / "data/cells/S2/30dB/ga/bic.json").read_text())
    own = json.loads((clean / "data/fidelity/ga/base/data-1/S2/30dB/bic.json").read_text())
    assert own["counts"] == {t["term"]: t["count"] for t in cell["terms"] if t["term"] in own["counts"]}
    assert own["best_fitness"] == cell["best_run"]["fitness"]


def test_mistake_in_the_plan_of_the_experiment(clean):
    clean.write("plan.yaml", PLAN.replace("ties: random", "tie: random"))
    printed = clean.snakemake("fidelity_cells", "--dry-run", "--config", "fidelity_plan=plan.yaml", code=1)
    assert "plan.yaml: combinations[0].tie: unknown open point" in printed
    assert "did you mean 'ties'" in printed and "Traceback" not in printed

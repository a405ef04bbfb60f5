"""Steps that fail: the others go on, what failed is named, and no table is made of a part."""

import re

from tests.robustness.pipelines import SMALL_RUN, differences, results_of

TWO_SYSTEMS = "systems: [S1, S2]\n"
DATA = "data/generated/S2/30dB.csv"
CELLS = {name: f"data/cells/{name}/30dB/upso2d/bic.json" for name in ("S1", "S2")}


def test_failed_searches_of_one_system(clean):
    clean.write("two.yaml", TWO_SYSTEMS)
    command = (*SMALL_RUN, "two.yaml")
    clean.snakemake(*command)
    undisturbed = results_of(clean)
    lines = (clean / DATA).read_text(encoding="utf-8").splitlines()
    clean.write(DATA, "\n".join([*lines[:6], "0.5,broken", *lines[7:]]) + "\n")
    (clean / "data/runs/S1/30dB/upso2d/bic/seed-2.json").unlink()

    printed = clean.snakemake(*command, "--keep-going", code=1)
    assert re.search(rf"^{DATA}: line 7, column 'y': found 'broken'", printed, re.MULTILINE)
    assert "Traceback" not in printed
    *_, last = printed.splitlines()
    assert "searches 1/5 · " in last and "4 failed" in last
    named = [line for line in printed.splitlines()[-6:] if line.startswith("failed: ")]
    axes = "system=S2, snr_db=30, search=upso2d, criterion=bic"
    assert named == [f"failed: search: {axes}, seed={seed}" for seed in range(1, 5)]
    # What does not depend on them is done, and what was made of earlier runs is not made anew from a part of them.
    found = results_of(clean)
    assert [path for path in undisturbed if "S1" in path and found[path] != undisturbed[path]] == []
    assert [path for path in found if path != DATA and found[path] != undisturbed[path]] == []
    assert not list((clean / "data/runs/S2").rglob("*.json"))

    clean.snakemake(*command, "--config", "finished_only=true")
    page = (clean / "reports/report.html").read_text(encoding="utf-8")
    assert "Missing cells" in page
    assert "S2" not in (clean / "reports/tables/cells.csv").read_text(encoding="utf-8")

    (clean / DATA).unlink()
    clean.snakemake(*command)
    assert differences(clean, undisturbed) == []


def test_recorded_input_that_is_too_short(clean):
    clean.write("short.csv", "u\n" + "0.5\n" * 10)
    clean.write("mine.yaml", "data: {excitation: {kind: recorded, file: short.csv}}\n")
    printed = clean.snakemake(*SMALL_RUN, "mine.yaml", "--keep-going", code=1)
    assert re.search(r"^(narxbench: )?.*short\.csv.*: found 10 ", printed, re.MULTILINE), printed
    assert "Traceback" not in printed
    assert [path for path in results_of(clean) if path.startswith("data/")] == []

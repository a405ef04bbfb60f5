"""The rules in a workflow of somebody else, in another folder and below a prefix, and a rule of their own."""

import os
import re
import subprocess
import sys
from textwrap import indent

import pytest
from tests.workflow.project import LIMIT, ROOT, SAYS_WHETHER_COUNTED, TINY

import narxbench
from narxbench._pipeline.manifest import read_manifest
from narxbench._study.run_record import read_run_record

pytestmark = pytest.mark.slow

WORKFLOW = f"""\
configfile: "mine.yaml"

module narxbench:
    snakefile: "{ROOT}/workflow/Snakefile"
    config: config["narxbench"]
    prefix: "results/"

use rule * from narxbench as nb_*

rule everything:
    default_target: True
    input: rules.nb_all.input

onstart:
    from narxbench._pipeline.session import count_no_jobs

    count_no_jobs(workflow)
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("mine")
    (folder / "Snakefile").write_text(WORKFLOW + SAYS_WHETHER_COUNTED)
    write_settings(folder, TINY)
    return folder


def write_settings(folder, text):
    (folder / "mine.yaml").write_text("narxbench:\n" + indent(f"study: tiny\n{text}", "  "))


def snakemake(folder, *arguments, code=0):
    command = [sys.executable, "-m", "snakemake", "--cores", "2", "--workflow-profile", f"{ROOT}/profiles/default"]
    done = subprocess.run([*command, *arguments], cwd=folder, capture_output=True, text=True, timeout=LIMIT)
    printed = done.stdout + done.stderr
    assert done.returncode == code and "Traceback" not in printed, printed
    return printed


def test_the_same_results_below_the_prefix(folder, finished):
    assert "counted: False" in snakemake(folder)
    for path, content in finished.files().items():
        assert (folder / "results" / path).read_bytes() == content, path
    assert read_run_record(folder / "results/reports/tiny/run.json").command.startswith("snakemake --cores 2 ")
    # The names in the manifest have no prefix.
    assert read_manifest(folder / "results/reports/tiny/manifest.csv") == finished.manifest()
    assert sorted(os.listdir(folder)) == [".snakemake", "Snakefile", "mine.yaml", "results"]
    assert "Nothing to be done" in snakemake(folder)
    assert "files are the same as in results/reports/tiny/manifest.csv" in snakemake(folder, "nb_verify")
    run = folder / "results/data/tiny/runs/as-described/data-1/S3/30dB/ga/bic/seed-1.json"
    run.unlink()
    assert str(run.relative_to(folder)) in snakemake(folder, "--dry-run")


def test_its_settings_are_checked(folder):
    write_settings(folder, TINY + "seed: 2\n")
    assert "narxbench: config of the module: seed: unknown key" in snakemake(folder, "--dry-run", code=1)
    write_settings(folder, TINY)


def test_the_rule_of_the_page_identifies_each_record(tmp_path):
    page = (ROOT / "docs/module.md").read_text(encoding="utf-8")
    (rule,) = re.findall(r"^```python\n(rule identify:\n.*?)^```$", page, re.DOTALL | re.MULTILINE)
    (tmp_path / "Snakefile").write_text(rule)
    (tmp_path / "records").mkdir()
    header, *samples = (ROOT / "data/buck/buck_id.csv").read_text().splitlines(keepends=True)
    # The record is oversampled: every eighth sample is enough.
    (tmp_path / "records/monday.csv").write_text("".join([header, *samples[::8]]))
    command = [sys.executable, "-m", "snakemake", "--cores", "2", "reports/monday/report.html"]
    path = os.pathsep.join([os.path.dirname(sys.executable), os.environ["PATH"]])
    done = subprocess.run(
        command, cwd=tmp_path, env=os.environ | {"PATH": path}, capture_output=True, text=True, timeout=LIMIT
    )
    assert done.returncode == 0, done.stderr
    assert narxbench.load_model(tmp_path / "reports/monday/model.json").inputs == ("input",)
    assert "To predict: " in (tmp_path / "logs/identify/monday.log").read_text()

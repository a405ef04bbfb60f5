"""The rules in a workflow of somebody else, in another folder and below a prefix, and a rule of their own."""

import os
import re
import shlex
import sys
from textwrap import indent

import pytest
from tests.command import python
from tests.workflow.project import ROOT, TINY

import narxbench

pytestmark = pytest.mark.slow

PAGE = (ROOT / "docs/module.md").read_text(encoding="utf-8")
(MODULE,) = re.findall(r"^```python\n(module narxbench:\n.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)
(COMMAND,) = re.findall(r"^(snakemake --cores .*)$", PAGE, re.MULTILINE)
# With the settings in a file of the workflow.
WORKFLOW = 'configfile: "mine.yaml"\n\n' + re.sub('(?<=config: ){"study".*}', 'config["narxbench"]', MODULE)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("mine")
    write_workflow(folder, WORKFLOW)
    write_settings(folder, TINY)
    return folder


def write_workflow(folder, text):
    (folder / "Snakefile").write_text(text.replace("PATH/", f"{ROOT}/"))


def write_settings(folder, text):
    (folder / "mine.yaml").write_text("narxbench:\n" + indent(f"study: tiny\n{text}", "  "))


def snakemake(folder, *arguments, code=0):
    command = shlex.split(COMMAND.replace("PATH/", f"{ROOT}/"))
    done = python("-m", *command, *arguments, folder=folder, code=code)
    printed = done.out + done.err
    assert "Traceback" not in printed, printed
    return printed


def test_the_same_results_below_the_prefix(folder, finished):
    snakemake(folder)
    for path, content in finished.files().items():
        assert (folder / "results" / path).read_bytes() == content, path
    # The names in the manifest have no prefix.
    manifest = "reports/tiny/manifest.csv"
    assert set((folder / "results" / manifest).open()) == set((finished / manifest).open())
    assert sorted(os.listdir(folder)) == [".snakemake", "Snakefile", "mine.yaml", "results"]
    assert "Nothing to be done" in snakemake(folder)
    assert "files are the same as in results/reports/tiny/manifest.csv" in snakemake(folder, "nb_verify")
    run = folder / "results/data/tiny/runs/as-described/data-1/S3/30dB/ga/bic/seed-1.json"
    run.unlink()
    assert str(run.relative_to(folder)) in snakemake(folder, "--dry-run")


def test_the_block_of_the_page_makes_the_report(tmp_path):
    write_workflow(tmp_path, MODULE)
    planned = snakemake(tmp_path, "--dry-run", "--quiet", "rules")
    assert "search" in planned
    snakemake(tmp_path, "results/data/mine/conditions/as-described/data-1/S3/30dB/ga/bic.json")
    assert len(list(tmp_path.glob("results/data/mine/runs/**/seed-*.json"))) == 2


def test_its_settings_are_checked(folder):
    write_settings(folder, TINY + "seed: 2\n")
    assert "narxbench: config: seed: unknown key" in snakemake(folder, "--dry-run", code=1)


def test_the_rule_of_the_page_identifies_each_record(tmp_path):
    (rule,) = re.findall(r"^```python\n(rule identify:\n.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)
    (tmp_path / "Snakefile").write_text(rule)
    (tmp_path / "records").mkdir()
    header, *samples = (ROOT / "data/buck/buck_id.csv").read_text().splitlines(keepends=True)
    # The record is oversampled: every eighth sample is enough.
    (tmp_path / "records/monday.csv").write_text("".join([header, *samples[::8]]))
    path = os.pathsep.join([os.path.dirname(sys.executable), os.environ["PATH"]])
    python("-m", "snakemake", "--cores", "2", "reports/monday/report.html", folder=tmp_path, PATH=path)
    assert narxbench.load_model(tmp_path / "reports/monday/model.json").inputs == ("input",)
    assert "To predict: " in (tmp_path / "logs/identify/monday.log").read_text()

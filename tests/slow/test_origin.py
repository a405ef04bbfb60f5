"""Results of other settings, code or files never pass for current ones, whatever happened to Snakemake's own record."""

import json
import os
import re
import shutil
import subprocess
import sys
import time

import pytest
from tests.workflow.project import LIMIT, wait_for

pytestmark = pytest.mark.slow

RECORD = "data/tiny/made_with.json"
SETTINGS = ("--config", "evaluations=100")
NOTHING = "Nothing to be done"


def forget(project):
    """Lose what Snakemake knows, as in a copy of the results alone."""
    shutil.rmtree(project / ".snakemake")


def the_line(printed):
    """Return the one line of a mistake."""
    lines = [line for line in printed.splitlines() if line.startswith("narxbench:")]
    (line,) = (line for line in lines if " of CPU time; " not in line)
    return line


def record_of(project):
    return json.loads((project / RECORD).read_bytes())


def test_other_settings(copy):
    # As long as Snakemake knows, it makes anew what depends on them.
    assert "search" in copy.planned(*SETTINGS)
    forget(copy)
    assert NOTHING in copy.snakemake()
    line = the_line(copy.snakemake(*SETTINGS, code=1))
    assert "evaluations: made with '200', now '100'" in line and "--forceall" in line
    for setting in ("statistics={threshold: 0.8}", "interpretation=reset", "seeds=1"):
        assert "found results of other settings or code" in the_line(copy.snakemake("--config", setting, code=1)), (
            setting
        )
    assert "search" in copy.planned("--forceall", *SETTINGS)
    # Another study, in folders of its own, is not concerned.
    assert "search" in copy.planned("--config", "evaluations=100", "study=other")


def test_what_the_settings_name(copy):
    forget(copy)
    system = (copy / "config/systems/S3.yaml").read_text()
    copy.write("config/systems/S3.yaml", system.replace("0.", "0.0", 1))
    assert "systems/S3: made with" in the_line(copy.snakemake(code=1))


def test_settings_that_snakemake_is_told_not_to_compare(copy):
    assert "evaluations: made with" in the_line(copy.snakemake("--rerun-triggers", "mtime", *SETTINGS, code=1))


def test_other_code(copy):
    forget(copy)
    copy.edit("src/narxbench/algorithms/ga.py", "import numpy as np\n", "import numpy as np\n\nNEW = 1\n")
    line = the_line(copy.snakemake(code=1))
    assert "the code of search (ga)" in line and "summarise" not in line.replace("summarise (ga)", "")


def test_results_of_unknown_settings(copy):
    (copy / RECORD).unlink()
    assert NOTHING in copy.snakemake()
    forget(copy)
    line = the_line(copy.snakemake(code=1))
    assert f"no record of the settings and code that they were made with, {RECORD}" in line
    copy.write(RECORD, "{}")
    assert f"{RECORD}: made_with: missing" in the_line(copy.snakemake(code=1))


def test_an_older_file_in_place_of_one(copy):
    """An edit has a newer time, which Snakemake sees; a copy that keeps its time may have an older one."""
    claims = copy / "data/reference/claims.yaml"
    claims.write_text(claims.read_text(encoding="utf-8") + "# A remark.\n", encoding="utf-8")
    assert "analyse" in copy.planned()
    os.utime(claims, (1e9, 1e9))
    assert the_line(copy.snakemake(code=1)).startswith("narxbench: data/reference/claims.yaml: found another content")
    claims.touch()
    assert "analyse" in copy.planned()


def test_a_run_that_did_not_finish(copy):
    """Results may be left of settings before; when Snakemake's record is lost, neither settings can take them."""
    assert len(record_of(copy)["made_with"]) == 1
    copy.snakemake("data/tiny/runs/S3/30dB/ga/bic/seed-1.json", *SETTINGS)
    assert [each["settings/evaluations"] for each in record_of(copy)["made_with"]] == ["100", "200"]
    assert copy.planned()["search"] == ["data/tiny/runs/S3/30dB/ga/bic/seed-1.json"]
    kept = copy.copied(copy.root.parent / "kept")
    forget(copy)
    for settings in ((), SETTINGS):
        assert "found results of other settings" in the_line(copy.snakemake(*settings, code=1))
    kept.snakemake(*SETTINGS)
    assert [each["settings/evaluations"] for each in record_of(kept)["made_with"]] == ["100"]
    forget(kept)
    assert NOTHING in kept.snakemake(*SETTINGS)


def test_code_that_changes_while_a_run_is_on(empty, finished):
    """Nobody knows which code made the results, also when it is as before at the end."""
    file = empty / "src/narxbench/report/tables.py"
    text, times = file.read_text(encoding="utf-8"), file.stat()
    with empty.under_way("--cores", "1") as begun:
        wait_for(empty.run_files, "a run")
        file.write_text(text + "\nNEW = 1\n", encoding="utf-8")
        time.sleep(0.05)
        file.write_text(text, encoding="utf-8")
        os.utime(file, ns=(times.st_atime_ns, times.st_mtime_ns))
        printed, _ = begun.communicate(timeout=LIMIT)
    assert begun.returncode == 1
    assert "code was changed while results were made (src/narxbench/report/tables.py)" in the_line(printed)
    line = the_line(empty.snakemake(code=1))
    assert "a run during which code was changed (src/narxbench/report/tables.py)" in line and "--forceall" in line
    empty.snakemake("--forceall")
    assert NOTHING in empty.snakemake()
    assert empty.files() == finished.files()


@pytest.mark.parametrize("settings", ["tiny.yaml", "config/methods_quick.yaml", "config/measured.yaml"])
def test_all_files_that_steps_read_are_compared(finished, settings):
    overlays = ["config/methods.yaml", settings] if "methods" in settings else [settings]

    def printed(*command):
        env = {**os.environ, "PYTHONPATH": str(finished / "src")}
        done = subprocess.run([sys.executable, *command], cwd=finished.root, env=env, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return done.stdout + done.stderr

    jobs = printed("-m", "snakemake", "--dry-run", "--forceall", "--configfile", *overlays)
    files = {"input": set(), "output": set()}
    for kind, paths in re.findall(r"^ {4}(input|output): (.*)$", jobs, re.MULTILINE):
        files[kind] |= set(paths.split(", "))
    given = f"from narxbench.pipeline.session import plan_of; print(*plan_of({overlays}, []).given(), sep='\\n')"
    compared = set(printed("-c", given).splitlines())
    read = files["input"] - files["output"]
    assert read and read <= compared
    assert compared - {"config/design_choices.yaml"} <= read

"""What is given by --configfile and --config is data: none of it is run, and a mistake is told in one line at once."""

import json
import os
import subprocess
import sys

import pytest
from tests.workflow.project import Project

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("config_files")]

MARK = "executed"
CODE = f'open({MARK!r}, "w").close()'
TEMPLATES = {
    "definitions": f"__use_yte__: true\n__definitions__:\n  - {json.dumps(CODE)}\nseeds: 2\n",
    "expression": f"__use_yte__: true\nseeds: {json.dumps('?' + CODE)}\n",
    "variables": f"__use_yte__: true\n__variables__:\n  x: {json.dumps('?' + CODE)}\nseeds: 2\n",
    "key": f"__use_yte__: true\n{json.dumps('?if ' + CODE)}:\n  seeds: 2\n",
    "tag": f"seeds: !!python/object/apply:os.system ['touch {MARK}']\n",
}
LEVELS = "\n".join(f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 10))
BOMBS = {
    "aliases": f"a0: &a0 [x, x]\n{LEVELS}\nseeds: 2\n",
    "merges": "a0: &a0 {x: 1}\n"
    + "\n".join(f"a{n}: &a{n} {{<<: [{', '.join([f'*a{n - 1}'] * 40)}]}}" for n in range(1, 9)),
    "nesting": "[" * 100_000,
    "keys": "".join(f"k{n}: 1\n" for n in range(5_000_000)),
    "bytes": "\0" * 100_000_000,
    "one line": "seeds: " + "1" * 100_000_000,
}


def told(printed: str) -> list[str]:
    """Return the lines of a mistake: what is printed but for Snakemake's word on the profile."""
    return [line for line in printed.splitlines() if not line.startswith("Using workflow specific profile")]


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    """A copy in which nothing runs."""
    return Project.of_checkout(tmp_path_factory.mktemp("settings") / "project")


@pytest.mark.parametrize(
    ("kind", "command"), [*((kind, "-n") for kind in TEMPLATES), ("definitions", "verify"), ("definitions", "--unlock")]
)
def test_templates_are_not_run(project, kind, command):
    study = project.with_study("other", TEMPLATES[kind])
    printed = study.snakemake(command, code=1)
    assert not (project / MARK).exists()
    assert all(line.startswith(("narxbench: other.yaml: ", "other.yaml: ")) for line in told(printed)), printed


def test_templates_are_not_run_with_other_profiles_and_from_other_folders(project, tmp_path):
    project.write("other.yaml", TEMPLATES["definitions"])
    snakemake = [sys.executable, "-m", "snakemake", "-n", "--cores", "1", "--configfile", str(project / "other.yaml")]
    here = ["--snakefile", str(project / "Snakefile"), "--directory", str(project.root)]
    for command, folder in (
        ([*snakemake, "--workflow-profile", "profiles/slurm"], project.root),
        ([*snakemake, "--workflow-profile", "profiles/cluster"], project.root),
        ([*snakemake, *here], tmp_path),
    ):
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
        assert (done.returncode, "narxbench: " in done.stderr, list(folder.glob(MARK))) == (1, True, []), done.stderr


@pytest.mark.parametrize("kind", BOMBS)
def test_bombs_end_at_once(project, kind):
    """Beside what any start takes, less than two seconds of computing, and one line."""
    study = project.with_study("other", BOMBS[kind])
    before = os.times()
    printed = study.snakemake("-n", code=1)
    after = os.times()
    (line,) = told(printed)
    assert line.startswith("narxbench: other.yaml: ") and len(line) < 400, line
    assert after.children_user + after.children_system - before.children_user - before.children_system < 6
    (project / "other.yaml").unlink()


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ("x=1", "command line (--config): x: unknown key"),
        ("1a=2", "command line (--config): 1a: unknown key"),
        ("a.b=1", "command line (--config): a.b: unknown key"),
        ("=1", "command line (--config): found '=1'; allowed: KEY=VALUE"),
        ("evaluations", "command line (--config): found 'evaluations'; allowed: KEY=VALUE"),
        ("evaluations=", "command line (--config): evaluations: found null; allowed: a whole number"),
        ("seeds=1:30", "command line (--config): seeds: found '1:30' (text); allowed: a whole number from 1"),
        ("seeds=1_0", "command line (--config): seeds: found '1_0' (text); allowed: a whole number from 1"),
        ("seeds=[1", "command line (--config): seeds: line 1"),
        ("evaluatons=5", "did you mean 'evaluations'?"),
        ("seeds=\n", "command line (--config): seeds: found null; allowed: a whole number from 1"),
    ],
)
def test_mistakes_of_the_command_line(project, given, words):
    (line,) = told(project.snakemake("-n", "--config", given, code=1))
    assert words in line and line.startswith("narxbench: "), line


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        ("missing.yaml", None, "cannot be read: No such file or directory"),
        ("verify", None, "a target stands before --configfile"),
        ("folder.yaml", ..., "cannot be read: "),
        ("invalid.yaml", "a: [1", "line 1, column 6: "),
        ("tabs.yaml", "a:\n\tb: 1", "line 2, column 1: "),
        ("bytes.yaml", b"\xff\xfe\xfd", "not text in UTF-8 (byte 0)"),
        ("list.yaml", "- 1", "at the top level; allowed: a mapping"),
        ("twice.yaml", "seeds: 1\nseeds: 2", "line 2, column 1: the key 'seeds' is given twice"),
    ],
)
def test_mistakes_in_a_file(project, name, text, words):
    path = project / name
    if text is ...:
        path.mkdir()
    elif text is not None:
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
    done = subprocess.run(
        [sys.executable, "-m", "snakemake", "-n", "--configfile", name],
        cwd=project.root,
        capture_output=True,
        text=True,
    )
    (line,) = told(done.stderr + done.stdout)
    assert done.returncode == 1 and line.startswith(f"narxbench: {name}: ") and words in line, line

"""Whatever stands in a file that a user's command reads: a result, or lines that name the file; never a traceback."""

import os
import re
from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from tests.workflow.damage import damaged
from tests.workflow.jobs import Job, jobs_of
from tests.workflow.test_measured import MINE

from narxbench.io.errors import NarxbenchError
from narxbench.pipeline.kinds import plan_of

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
BOARD = """\
page: methods
interpretation: as-described
systems: [S1, piroddi2003]
snr_db: [40]
seeds: 2
seeds_per_job: 2
evaluations: 300
data: {seeds: 1}
methods: {upso2d: {criteria: [bic]}, ga: {criteria: [bic]}, frols: {algorithm: frols, criteria: [bic]}}
scenarios: {base: {description: as it is}, noisy: {description: much noise, snr_db: [20]}}
figures: {snr_db: 40}
statistics: {bootstrap_samples: 50}
"""
# Scripts, and how many damages of what they read are tried.
SCRIPTS = {"summarise": 40, "analyse": 40, "tables": 40, "page": 10, "interpretations": 4, "figures": 4}
SCRIPTS |= {"search": 15, "run_info": 15, "manifest": 15}
OTHERS = {
    "board": (BOARD, {"score": 15, "rank": 30, "ranking_tables": 25, "leaderboard": 15}),
    "mine": (MINE, dict.fromkeys(["brief_search", "rank_configurations", "thorough_search"], 15)),
}
OTHERS["mine"][1].update(choose_structure=15, resample=15, conclude=4)


def quickly(examples: int) -> settings:
    # To make a failing example smaller takes minutes.
    return settings(
        max_examples=examples,
        deadline=None,
        derandomize=True,
        phases=[Phase.generate],
        database=None,
        suppress_health_check=[*HealthCheck],
    )


def try_damages(job: Job, examples: int) -> None:
    """Damage what a job reads, in the working directory, one file at a time."""

    @quickly(examples)
    @given(st.data())
    def tried(data: st.DataObject) -> None:
        kinds: dict[tuple[str, str], str] = {}
        for path in job.read:  # one of each kind
            kinds.setdefault((os.path.dirname(path), os.path.splitext(path)[1]), path)
            kinds.setdefault((os.path.basename(path), ""), path)
        path = data.draw(st.sampled_from(sorted(set(kinds.values()))), "file")
        right = Path(path).read_bytes()
        Path(path).write_bytes(data.draw(damaged(right, path), "content"))
        try:
            job.reported(path)
        finally:
            Path(path).write_bytes(right)

    tried()


@pytest.fixture(scope="module")
def jobs(finished, tmp_path_factory):
    """The jobs of the tiny study, and the working directory in which they run."""
    project = finished.copied(tmp_path_factory.mktemp("readers") / "project")
    return project, jobs_of(project)


@pytest.fixture
def job(jobs, monkeypatch):
    project, found = jobs
    monkeypatch.chdir(project.root)
    return found.__getitem__


@pytest.mark.parametrize("script", SCRIPTS)
def test_damaged_files_of_a_step(job, script):
    assert job(script).outcome() == ""
    try_damages(job(script), SCRIPTS[script])


@pytest.mark.parametrize("study", OTHERS)
def test_damaged_files_of_other_studies(finished, tmp_path, monkeypatch, study):
    text, scripts = OTHERS[study]
    project = finished.copied(tmp_path / "project", made=False).with_study(study, text)
    project.snakemake()
    found = jobs_of(project)
    monkeypatch.chdir(project.root)
    for script, examples in scripts.items():
        assert found[script].outcome() == ""
        try_damages(found[script], examples)


@pytest.mark.parametrize(
    ("script", "name", "old", "new", "reported"),
    [
        # Allowed by the schema of each row.
        ("tables", "frames/claims.csv", r"(?m)^.*,here,.*\n", "", r"found no row for \('.*', 'here'\); delete it"),
        ("figures", "frames/gaps.csv", r"(?m)^S4,.*\n", "", r"found no row for \('S4'.* has; delete both"),
        ("tables", "frames/selection.csv", r"(?m)^(S3,.*\n)", r"\1\1", r"line 3, column term: found .*once"),
        ("page", "interpretations/role_verdicts.csv", r"does not hold", "maybe", r"column verdict: found 'maybe'"),
        ("page", "CITATION.cff", r"(?s)\A.*\Z", "- a\n", r"found .*; allowed: a mapping"),
        ("page", "docs/errata.md", r"(?s)\n## .*", "\n## ", ""),
        ("page", "docs/method.md", "\\Z", "\udcff", r"not text in UTF-8 \(byte \d+\)"),
        ("page", "figures/convergence.svg", r"(?s)\A.*\Z", "", r"not a whole SVG"),
        ("analyse", "published_tables.csv", r"\n[^\n]*\Z", "\n", ""),
        ("analyse", "published_tables.csv", r"(?m)^.*,r,,.*\n", "", r"line \d+: found no r with this value of"),
        ("analyse", "bic.json", r'"history_evaluations":\[\[', r"\g<0>1" + 30 * "0" + ",", "no summary of a condition"),
        ("page", "bic.json", r'"versions":\{.*?\}', '"versions":{"numba":null}', r"versions\.numba: found null"),
        ("summarise", "problems/", r"(?s)\A((?:.*?\n){99}).*\Z", r"\1", r"found 98 samples; needed: more than"),
        ("run_info", "search", r"\d\.", "0.1.", ""),
    ],
)
def test_a_damage_is_reported(job, script, name, old, new, reported):
    path = next(Path(path) for path in job(script).read if name in path)
    right = path.read_bytes()
    wrong, count = re.subn(old, new, right.decode(), count=1 if "|" not in name else 0)
    assert count
    path.write_bytes(wrong.encode(errors="surrogateescape"))
    try:
        found = job(script).reported(str(path))
    finally:
        path.write_bytes(right)
    assert re.search(reported, found) if reported else found == ""


@pytest.mark.parametrize("name", ["quick", "methods", "measured", "interpretations"])
def test_damaged_settings(tmp_path, monkeypatch, name):
    monkeypatch.chdir(ROOT)
    right, path = (ROOT / f"config/{name}.yaml").read_bytes(), tmp_path / "mine.yaml"

    @quickly(25)
    @given(damaged(right, "mine.yaml"))
    def tried(wrong: bytes) -> None:
        path.write_bytes(wrong)
        try:
            plan_of([path], []).results()
        except NarxbenchError as mistake:
            lines = str(mistake).splitlines()
            assert len(lines) <= 6 and all(line.isprintable() for line in lines), lines

    tried()
    path.touch()
    os.truncate(path, 100_000_000)
    with pytest.raises(NarxbenchError, match=r"mine.yaml: cannot be read: found 100000000 bytes; allowed: up to 1"):
        plan_of([path], [])

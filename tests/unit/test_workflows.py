"""The workflows on GitHub: each job may do no more than it must, beyond what zizmor checks with the style."""

import re
from pathlib import Path

import pytest
from ruamel.yaml import YAML

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / ".github/workflows"
TEXTS = {path.stem: path.read_text(encoding="utf-8") for path in sorted(FOLDER.iterdir())}
WORKFLOWS = {name: YAML(typ="safe").load(text) for name, text in TEXTS.items()}
JOBS = {}
for _name, _workflow in WORKFLOWS.items():
    JOBS |= {f"{_name}-{job}": content for job, content in _workflow["jobs"].items()}
RELEASE = WORKFLOWS["release"]["jobs"]
# Jobs that may do more than read the repository.
TRUSTED = {
    "release-attest": {"id-token": "write", "attestations": "write"},
    "release-publish": {"id-token": "write"},
    "release-attach": {"contents": "write"},
}
CHECK_DIGESTS = 'echo "$DIGESTS" | sha256sum --check --strict'
UV_REQUIREMENT = r"uv==[\d.]+ --hash=sha256:[0-9a-f]{64}"
# All lines that these jobs may execute.
TRUSTED_COMMANDS = [
    re.escape(CHECK_DIGESTS),
    rf'echo "{UV_REQUIREMENT}" > uv\.txt',
    "python3 -m venv uv",
    r"uv/bin/python -m pip install --quiet --require-hashes --only-binary :all: --requirement uv\.txt",
    r"uv/bin/uv publish --no-config --trusted-publishing always dist/\*\.whl dist/\*\.tar\.gz",
    r'gh release create "\$GITHUB_REF_NAME" --verify-tag --notes "[\w .]+" dist/\*',
]


def commands(job):
    """Return the lines of the commands of a job."""
    lines = []
    for step in job["steps"]:
        lines += step.get("run", "").splitlines()
    return lines


@pytest.mark.parametrize("name", JOBS)
def test_a_job_has_the_least_permissions(name):
    job = JOBS[name]
    assert job["permissions"] == TRUSTED.get(name, {"contents": "read"})
    assert ("environment" in job) == (name == "release-publish")
    assert 0 < job["timeout-minutes"] <= 60


def test_no_workflow_knows_a_secret_but_the_token_of_the_job_that_makes_the_release():
    assert [name for name, job in JOBS.items() if "github.token" in str(job)] == ["release-attach"]
    assert "secrets." not in str(WORKFLOWS)


@pytest.mark.parametrize("name", TRUSTED)
def test_a_trusted_job_runs_nothing_of_the_project(name):
    """It has no checkout and no image, and executes only lines that are known here."""
    job = JOBS[name]
    assert "container" not in job
    actions = {step["uses"].split("@")[0] for step in job["steps"] if "uses" in step}
    assert actions <= {"actions/download-artifact", "actions/attest"}
    for line in commands(job):
        assert any(re.fullmatch(allowed, line) for allowed in TRUSTED_COMMANDS), line


@pytest.mark.parametrize("name", TRUSTED)
def test_a_trusted_job_takes_the_files_of_the_build_and_compares_their_digests(name):
    """Another job of the same run could replace files under their name, but not under their number."""
    download, check, *later = JOBS[name]["steps"]
    assert download["uses"].startswith("actions/download-artifact@")
    assert download["with"] == {"artifact-ids": "${{ needs.build.outputs.artifact }}", "path": "dist"}
    assert check == {"run": CHECK_DIGESTS, "env": {"DIGESTS": "${{ needs.build.outputs.digests }}"}}
    assert later
    for step in later:
        assert "download-artifact" not in step.get("uses", "")


def test_nothing_is_published_before_it_is_built_tested_and_signed():
    needs = {name: job.get("needs", []) for name, job in RELEASE.items()}
    before_publishing = {"build": [], "test": "build", "attest": ["build", "test"], "publish": ["build", "attest"]}
    assert needs == before_publishing | {"attach": ["build", "publish"]}
    for job in RELEASE.values():
        assert not {"if", "continue-on-error"} & job.keys()
    assert ".ci/run" in commands(RELEASE["test"])


def test_uv_has_the_same_digest_where_nothing_is_checked_out():
    (requirement,) = re.findall(UV_REQUIREMENT, "\n".join(commands(RELEASE["publish"])))
    version, digest = requirement.split(" --hash=")
    kept = (ROOT / ".ci/uv.txt").read_text(encoding="utf-8")
    assert kept.startswith(f"{version} \\\n") and f"--hash={digest}" in kept

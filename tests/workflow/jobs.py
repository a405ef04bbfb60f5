"""The jobs of a study as its rules call them, and what becomes of one that reads a damaged file."""

import os
import pickle
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple

from tests.workflow.project import LIMIT, Project

from narxbench.pipeline.steps import StepFailedError, call

# Run by Python in the folder of a project: the names of files and parameters stand nowhere but in Snakemake's memory.
_JOBS = """
import pickle, sys
from pathlib import Path
from snakemake.api import SnakemakeApi
from snakemake.settings.types import ConfigSettings, DAGSettings, OutputSettings, Quietness, ResourceSettings

def plain(value):
    if isinstance(value, str):
        return "".join(value)
    if isinstance(value, dict):
        return {plain(key): plain(entry) for key, entry in value.items()}
    return [plain(entry) for entry in value] if isinstance(value, (list, tuple)) else value

def named(names):
    spans = names._names.items()
    return plain(list(names)), {key: plain(names[a] if b is None else names[a:b]) for key, (a, b) in spans}

with SnakemakeApi(OutputSettings(quiet={Quietness.ALL})) as api:
    settings = ConfigSettings(configfiles=[Path(sys.argv[1])])
    workflow = api.workflow(ResourceSettings(cores=1), settings, snakefile=Path("Snakefile"))
    workflow.dag(DAGSettings(forceall=True)).execute_workflow(executor="dryrun")
    jobs = workflow._workflow.dag.jobs
    found = [(job.rule.name, named(job.input), named(job.output), named(job.params)[1]) for job in jobs]
Path(sys.argv[2]).write_bytes(pickle.dumps(found))
"""
_NOT_A_NUMBER = re.compile(r"(?:^|[,;|>]) *-?(?:nan|inf|infinity) *(?:$|[,;|<])", re.IGNORECASE | re.MULTILINE)


class Names(list[str]):
    """Files of a job, some of them named."""

    def __init__(self, names: list[str], named: Mapping[str, Any]) -> None:
        super().__init__(names)
        self.named = named
        self.__dict__.update(named)
        self.items, self.keys, self.get = named.items, named.keys, named.get

    def __getitem__(self, key: Any) -> Any:
        return self.named[key] if isinstance(key, str) else super().__getitem__(key)


class Job(NamedTuple):
    """A job: the script that it calls, its files, and its parameters."""

    script: str
    input: Names
    output: Names
    params: SimpleNamespace

    @property
    def read(self) -> list[str]:
        """What it reads, without the systems: a process reads those of its own checkout."""
        files = [path for path in self.input if not path.startswith("config/systems")]
        if self.script == "run_info":
            files = sorted(map(str, Path(self.params.logs).rglob("*.log")))
        return [*dict.fromkeys(files), *list(getattr(self.params, "files", []))[:2]]

    def outcome(self, damaged: str = "") -> str:
        """Call the script in the folder of the project and return the mistake that it tells, or nothing.

        Tables have no NaN, unless the damaged file has it for a text.
        """
        shutil.rmtree("out", ignore_errors=True)
        try:
            call(self.script, input=self.input, output=self.output, params=self.params, log=["out/log"])
        except StepFailedError:
            return Path("out/log").read_text(encoding="utf-8").removeprefix("narxbench: ").rstrip("\n")
        if not damaged or not re.search(rb"nan|inf", Path(damaged).read_bytes(), re.IGNORECASE):
            for path in (path for path in Path("out").rglob("*") if path.suffix in (".csv", ".md", ".tex")):
                assert not (found := _NOT_A_NUMBER.search(path.read_text(encoding="utf-8"))), f"{path}: {found}"
        return ""

    def reported(self, damaged: str) -> str:
        """Return what is reported of a damaged file, if anything: lines that name it, or another of the job's."""
        text = self.outcome(damaged)
        lines = text.splitlines()
        assert len(lines) <= 6 and all(line.isprintable() for line in lines), text
        named = [*(os.path.basename(path) for path in (damaged, *self.read)), "and "]
        # What measured data are too short for is a setting.
        named += ["lags"] if damaged.startswith("data/buck/") else []
        assert all(any(name in line for name in named) for line in lines), text
        return text


def jobs_of(project: Project) -> dict[str, Job]:
    """Return one job for each script that a study calls; its outputs are in the folder ``out``."""
    target = project / "jobs.pickle"
    command = [sys.executable, "-c", _JOBS, f"{project.study}.yaml", str(target)]
    env = os.environ | {"PYTHONPATH": str(project / "src")}
    done = subprocess.run(command, cwd=project.root, env=env, capture_output=True, text=True, timeout=LIMIT)
    assert done.returncode == 0, done.stderr[-3000:]
    found: dict[str, Job] = {}
    for script, (inputs, named), (outputs, results), params in pickle.loads(target.read_bytes()):
        elsewhere = {key: f"out/{path}" for key, path in results.items() if isinstance(path, str)}
        output = Names([f"out/{path}" for path in outputs], elsewhere)
        found.setdefault(script, Job(script, Names(inputs, named), output, SimpleNamespace(**params)))
    return found

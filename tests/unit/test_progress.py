"""The logger plugin: what is counted, what is shown and how often, by synthetic records and by a real workflow."""

import contextlib
import fcntl
import io
import logging
import os
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

pytest.importorskip("snakemake")
from snakemake_interface_logger_plugins.common import LogEvent

import snakemake_logger_plugin_narxbench as plugin
from snakemake_logger_plugin_narxbench import LogHandler, duration

ROOT = Path(__file__).parents[2]
SNAKEFILE = """
rule all:
    input: expand("runs/{seed}.json", seed=range(1, 7))
rule simulate:
    output: "data.csv"
    run:
        open(output[0], "w").write("u,y")
rule search:
    input: "data.csv"
    output: "runs/{seed}.json"
    log: "logs/{seed}.log"
    run:
        if wildcards.seed == str(config.get("broken")):
            open(log[0], "w").write("the reason is here")
            raise ValueError("no luck")
        open(output[0], "w").write("{}")
"""


class Clock:
    """A clock that only the test moves."""

    def __init__(self) -> None:
        self.now = 1000.0

    def monotonic(self) -> float:
        return self.now


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


class Run:
    """A handler that writes to memory, and the events of a run for it."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, stream: io.StringIO, **options: Any) -> None:
        self.clock, self.stream = Clock(), stream
        monkeypatch.setattr(plugin, "time", self.clock)
        monkeypatch.setattr(sys, "stderr", stream)
        common = {"printshellcmds": False, "nocolor": True, "quiet": None, "debug_dag": False, "verbose": False}
        common |= {"show_failed_logs": False, "stdout": False, "dryrun": False}
        self.handler = LogHandler(SimpleNamespace(**(common | options)), None)  # type: ignore[arg-type]

    def log(self, message: str | None, event: LogEvent | None = None, level: int = logging.INFO, **fields: Any) -> None:
        self.handler.emit(logging.makeLogRecord({"msg": message, "levelno": level, "event": event} | fields))

    def plan(self, **stats: int) -> None:
        self.log("Job stats: …", LogEvent.RUN_INFO, stats=stats | {"total": sum(stats.values())})

    def start(self, job: int, rule: str = "search") -> None:
        fields = {"rule_msg": None, "local": False, "is_checkpoint": False, "input": [], "output": [], "log": []}
        fields |= {"benchmark": None, "reason": "", "priority": 0, "threads": 1, "resources": {}}
        self.log("…", LogEvent.JOB_INFO, jobid=job, rule_name=rule, wildcards={"seed": str(job)}, **fields)

    def finish(self, job: int) -> None:
        self.log("…", LogEvent.JOB_FINISHED, job_id=job)

    def fail(self, job: int, rule: str = "search") -> None:
        fields = {"rule_msg": "no luck", "input": [], "output": ["a.json"], "log": ["a.log"], "conda_env": None}
        fields |= {"shellcmd": None, "aux": {}, "indent": False}
        self.log("Error", LogEvent.JOB_ERROR, logging.ERROR, jobid=job, rule_name=rule, **fields)

    @property
    def shown(self) -> list[str]:
        text = self.stream.getvalue()
        return [line for line in text.replace("\r\x1b[K", "\n").splitlines() if line]


def test_jobs_of_several_seeds_are_counted_as_such(monkeypatch: pytest.MonkeyPatch) -> None:
    run = Run(monkeypatch, io.StringIO())
    run.plan(search_1_to_50=2, search_51_to_60=1, search_settings=4)
    run.start(1, rule="search_1_to_50")
    run.clock.now += 11
    run.finish(1)
    assert run.shown == ["jobs of searches 0/3 · other steps 0/4", "jobs of searches 1/3 · other steps 0/4"]


def test_terminal_line_is_updated_in_place_four_times_a_second(monkeypatch: pytest.MonkeyPatch) -> None:
    run = Run(monkeypatch, Terminal())
    run.plan(search=100, simulate=2, all=1)
    for job in range(100):
        run.start(job)
        run.clock.now += 0.125
        run.finish(job)
    assert run.shown[0] == "searches 0/100 · other steps 0/3"
    assert run.shown[25] == "searches 50/100 · other steps 0/3 · 6 s left"
    assert len(run.shown) == 51
    assert "\n" not in run.stream.getvalue()
    run.handler.close()
    assert run.stream.getvalue().endswith("\r\x1b[Ksearches 100/100 · other steps 0/3 · time taken 12 s\n")


def test_plain_lines_at_most_every_ten_seconds(monkeypatch: pytest.MonkeyPatch) -> None:
    run = Run(monkeypatch, io.StringIO())
    run.plan(search=100, all=1)
    for job in range(60):
        run.start(job)
        run.clock.now += 0.5
        run.finish(job)
    run.handler.close()
    assert run.stream.getvalue().splitlines() == [
        "searches 0/100 · other steps 0/1",
        "searches 20/100 · other steps 0/1 · 40 s left",
        "searches 40/100 · other steps 0/1 · 30 s left",
        "searches 60/100 · other steps 0/1 · 20 s left",
        "searches 60/100 · other steps 0/1 · time taken 30 s",
    ]


def test_time_left_follows_the_recent_rate(monkeypatch: pytest.MonkeyPatch) -> None:
    run = Run(monkeypatch, io.StringIO())
    run.plan(search=1000)
    for job in range(600):
        run.start(job)
        run.clock.now += 1.0 if job < 300 else 0.25
        run.finish(job)
    assert run.handler.progress.seconds_left() == pytest.approx(100)


def test_failures_are_shown_in_full_and_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    run = Run(monkeypatch, io.StringIO())
    run.plan(search=2)
    run.start(1)
    run.start(2)
    run.fail(1)
    run.clock.now += 11
    run.finish(2)
    text = run.stream.getvalue()
    assert "Error in rule search:\n    message: no luck\n    jobid: 1\n    wildcards: seed=1\n" in text
    assert "    output: a.json\n    log: a.log (check log file(s) for error details)\n" in text
    assert text.endswith("searches 1/2 · 1 failed\n")
    run.start(1)
    run.finish(1)
    run.handler.close()
    assert run.shown[-1] == "searches 2/2 · time taken 11 s"


def test_full_text_replaces_the_line_and_the_line_returns(monkeypatch: pytest.MonkeyPatch) -> None:
    run = Run(monkeypatch, Terminal())
    run.plan(search=2)
    run.log("disk nearly full", level=logging.WARNING)
    assert run.stream.getvalue() == "\r\x1b[Ksearches 0/2\r\x1b[Kdisk nearly full\n\r\x1b[Ksearches 0/2"


def test_noise_is_dropped_and_everything_else_passes(monkeypatch: pytest.MonkeyPatch) -> None:
    run = Run(monkeypatch, io.StringIO())
    for message in ("Building DAG of jobs...", "Using shell: /bin/bash", "Select jobs to execute...", "None", None, ""):
        run.log(message)
    run.log("Provided cores: 2", LogEvent.RESOURCES_INFO)
    run.log("Nothing to be done (all requested files are present and up to date).")
    run.log("WorkflowError:\nno rule", LogEvent.ERROR, logging.ERROR)
    run.handler.close()
    assert run.shown == [
        "Nothing to be done (all requested files are present and up to date).",
        "WorkflowError:",
        "no rule",
    ]


def test_a_mistake_that_was_told_in_words_is_shown_without_the_code(monkeypatch: pytest.MonkeyPatch) -> None:
    run = Run(monkeypatch, io.StringIO())
    for error in ("NarxbenchError", "SettingsError"):
        place = f'RuleException:\n{error} in file "/a folder/runs.smk", line 40:\n'
        way = '\n  File "/a folder/runs.smk", line 40, in __rule_3\n  File "/a folder/search.py", line 9, in run'
        run.log(f"{place}u.csv: damaged;\ndelete it{way}", LogEvent.ERROR, logging.ERROR)
    assert run.shown == ["narxbench: u.csv: damaged;", "delete it"] * 2
    other = 'RuleException:\nKeyError in file "runs.smk", line 40:\n\'a\'\n  File "runs.smk", line 40, in __rule_3'
    run.log(other, LogEvent.ERROR, logging.ERROR)
    assert "\n".join(run.shown[4:]) == other


@pytest.mark.parametrize(
    ("end", "told"),
    [
        ("OSError: [Errno 28] No space left on device\n", ".snakemake: cannot be written: No space left on device"),
        (
            "OSError: [Errno 30] Read-only file system: '/a/.snakemake/locks'",
            "/a/.snakemake/locks: cannot be written: ",
        ),
        ("PermissionError: [Errno 13] Permission denied: '/a/b'\n\n", "/a/b: cannot be written: Permission denied; "),
    ],
)
def test_a_file_of_snakemake_that_cannot_be_written_is_told_in_one_line(
    monkeypatch: pytest.MonkeyPatch, end: str, told: str
) -> None:
    run = Run(monkeypatch, io.StringIO())
    run.log(f'Traceback (most recent call last):\n\n  File "a.py", line 1\n\n{end}', LogEvent.ERROR, logging.ERROR)
    (line,) = run.shown
    assert line.startswith(f"narxbench: {told}")


@pytest.mark.parametrize(
    ("function", "end"),
    [
        ("_read_locks", "FileNotFoundError: [Errno 2] No such file or directory: '.snakemake/locks/0.input.lock'"),
        ("_write_locks", "FileNotFoundError: [Errno 2] No such file or directory: '.snakemake/locks/0.input.lock'"),
        ("_delete_locks", "FileNotFoundError: [Errno 2] No such file or directory: '1.output.lock'"),
        ("_delete_locks", "OSError: [Errno 39] Directory not empty: '.snakemake/locks'"),
    ],
)
def test_locks_that_change_meanwhile_are_told_in_one_line(
    monkeypatch: pytest.MonkeyPatch, function: str, end: str
) -> None:
    run = Run(monkeypatch, io.StringIO())
    way = f'  File "file.py", line 268, in {function}\n    shutil.rmtree(self._lockdir)\n\n'
    run.log(f"Traceback (most recent call last):\n\n{way}{end}\n\n", LogEvent.ERROR, logging.ERROR)
    (line,) = run.shown
    assert line.startswith("narxbench: another snakemake began or ended in this folder in the same moment. ")


def test_a_lock_that_is_held_on_another_machine(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """In a shared folder its process is not seen here."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / ".snakemake").mkdir()
    with open(plugin.HELD, "w") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        run = Run(monkeypatch, io.StringIO())
        run.plan(search=2)
        run.log("Error: Directory cannot be locked. …", LogEvent.ERROR, logging.ERROR)
        run.handler.close()
    assert run.shown[-1].startswith(
        "narxbench: snakemake is already making these files in this folder, on another machine; "
    )


def test_other_tracebacks_are_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    for end in ("OSError: [Errno 5] Input/output error", "ValueError: [Errno 28] No space left on device"):
        run = Run(monkeypatch, io.StringIO())
        run.log(f"Traceback (most recent call last):\n{end}", LogEvent.ERROR, logging.ERROR)
        assert run.shown == ["Traceback (most recent call last):", end]


def test_a_log_that_finds_no_room_is_told_once(monkeypatch: pytest.MonkeyPatch) -> None:
    run = Run(monkeypatch, io.StringIO())
    handler = logging.FileHandler("/dev/full")
    for _ in range(3):
        handler.emit(logging.makeLogRecord({"msg": "a line"}))
    (line,) = run.shown
    assert line.startswith("narxbench: /dev/full: cannot be written: No space left on device; ")
    # What it still holds finds no room either.
    with contextlib.suppress(OSError):
        handler.close()


def test_that_a_script_ended_is_said_once_unless_it_was_killed(monkeypatch: pytest.MonkeyPatch) -> None:
    run = Run(monkeypatch, io.StringIO())
    text = (
        "RuleException:\nCalledProcessError in file \"a.smk\", line 9:\nCommand 'python .snakemake/scripts/tmp.a.py' "
    )
    run.log(f"{text}returned non-zero exit status 1.", LogEvent.ERROR, logging.ERROR)
    run.log(f"{text}returned non-zero exit status 143.", LogEvent.ERROR, logging.ERROR)
    assert run.shown == []
    run.log(f"{text}died with <Signals.SIGKILL: 9>.", LogEvent.ERROR, logging.ERROR)
    assert run.shown[-1].endswith("died with <Signals.SIGKILL: 9>.")


def test_dry_run_is_shown_as_usual(monkeypatch: pytest.MonkeyPatch) -> None:
    run = Run(monkeypatch, io.StringIO(), dryrun=True, printshellcmds=True)
    run.plan(search=2)
    run.start(1)
    run.log("…", LogEvent.SHELLCMD, cmd="echo hello")
    run.handler.close()
    assert run.shown[0] == "Job stats: …"
    assert "rule search:" in run.shown
    assert "echo hello" in run.shown
    assert not any(line.startswith("searches") for line in run.shown)


def test_quiet_progress_shows_only_problems(monkeypatch: pytest.MonkeyPatch) -> None:
    from snakemake.settings.enums import Quietness

    run = Run(monkeypatch, io.StringIO(), quiet={Quietness.PROGRESS})
    run.plan(search=1)
    run.start(1)
    run.fail(1)
    run.handler.close()
    assert "Error in rule search:" in run.shown
    assert not any(line.startswith("searches") for line in run.shown)


def test_cost_of_an_event(monkeypatch: pytest.MonkeyPatch) -> None:
    run = Run(monkeypatch, Terminal())
    run.plan(search=3000)
    began = time.process_time()
    for job in range(3000):
        run.start(job)
        run.clock.now += 0.02
        run.finish(job)
    assert (time.process_time() - began) / 6000 < 0.2e-3


@pytest.mark.parametrize(
    ("seconds", "text"), [(0.2, "0 s"), (59.4, "59 s"), (59.6, "1 min 0 s"), (100, "1 min 40 s"), (7500, "2 h 5 min")]
)
def test_durations(seconds: float, text: str) -> None:
    assert duration(seconds) == text


def snakemake(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run Snakemake in ``folder`` with the project's default profile."""
    (folder / "profiles" / "default").mkdir(parents=True, exist_ok=True)
    profile = (ROOT / "profiles" / "default" / "config.yaml").read_text()
    (folder / "profiles" / "default" / "config.yaml").write_text(profile)
    if not (folder / "Snakefile").exists():
        (folder / "Snakefile").write_text(SNAKEFILE)
    environment = os.environ | {"PYTHONPATH": str(ROOT / "src")}
    command = [sys.executable, "-m", "snakemake", *arguments]
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)


def test_real_workflow(tmp_path: Path) -> None:
    dry = snakemake(tmp_path, "-n")
    assert "Job stats:" in dry.stderr + dry.stdout

    failed = snakemake(tmp_path, "--cores", "2", "--keep-going", "--config", "broken=4")
    assert failed.returncode == 1
    assert "no luck" in failed.stderr
    assert "    wildcards: seed=4\n" in failed.stderr
    assert "the reason is here" in failed.stderr
    assert "searches 5/6 · other steps 1/2 · 1 failed · time taken " in failed.stderr.splitlines()[-1]

    # Plain: the profile gives the cores and is found beside the Snakefile.
    rest = snakemake(tmp_path)
    assert rest.returncode == 0, rest.stderr
    assert "profiles/default" in rest.stderr
    assert rest.stderr.splitlines()[-1].startswith("searches 1/1 · other steps 1/1 · time taken ")
    assert len(rest.stderr.splitlines()) <= 6

    assert "Nothing to be done" in snakemake(tmp_path).stderr

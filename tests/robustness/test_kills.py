"""Nothing is lost by an interruption: a few moments of what tests/robustness/soak.py does, and tests of the checks."""

import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import psutil  # type: ignore[import-untyped]
import pytest
from tests.robustness.kills import (
    LAST_FILES,
    PHASES,
    SECONDS_TO_END,
    SIGNALS,
    Kill,
    Outcome,
    State,
    count_runs,
    experiment,
    hidden_files,
    interrupt,
    is_locked,
    members,
    missing,
    moments,
    processor_seconds,
    state_of,
    summary,
    unlock_as_told,
    unlock_command,
    whole_run,
    wrong_ending,
    wrong_files,
)
from tests.robustness.pipelines import COMMAND, Copy, Project, end, under_way, wait_for

MOMENTS = 8
SEED = 20181
RUN = "data/runs/S1/30dB/upso2d/bic/seed-1.json"
CELL = "data/cells/S1/30dB/upso2d/bic.json"
TABLE = "reports/tables/cells.csv"
EXPLAINED = "narxbench: ... was killed.\nNothing is lost. ... unlock the folder:\n    snakemake --unlock\n"


@pytest.fixture(scope="module")
def spent(ordinary: Copy, tmp_path_factory: pytest.TempPathFactory) -> float:
    """The processor seconds of a whole run."""
    return whole_run(ordinary, tmp_path_factory.mktemp("whole") / "project")


@pytest.mark.parametrize("index", range(MOMENTS))
def test_nothing_is_lost_by_a_signal(index: int, ordinary: Copy, spent: float, tmp_path: Path) -> None:
    kill = moments(MOMENTS, SEED, spent)[index]
    outcome = experiment(ordinary, tmp_path / "project", kill)
    assert outcome.violations == [], outcome.line()


def test_sigterm_while_planning_leaves_no_lock(ordinary: Copy, tmp_path: Path) -> None:
    """The folder is locked some time before Snakemake's scheduler takes care of the signal."""
    outcome = interrupt(ordinary, tmp_path / "project", signal.SIGTERM, lambda copy, spent: is_locked(copy))
    assert outcome.violations == []
    assert (outcome.state, outcome.code) == (State("locked", 0), 1)


def test_scripts_that_outlive_the_main_process_do_no_harm(ordinary: Copy, tmp_path: Path) -> None:
    """They write their results to the end, while the repeated command writes the same ones."""

    def longest_script_runs(copy: Copy, spent: float) -> bool:
        start = str(copy / ".snakemake/scripts")
        seen = [process.info["cmdline"] or [] for process in psutil.process_iter(["cmdline"])]
        return any(word.startswith(start) and word.endswith(".fidelity.py") for words in seen for word in words)

    outcome = interrupt(ordinary, tmp_path / "project", signal.SIGKILL, longest_script_runs)
    assert outcome.violations == []
    assert outcome.left > 0
    assert outcome.locked


def test_moments_are_spread_over_the_whole_run_for_each_signal() -> None:
    drawn = moments(52, 1, 10.0)
    assert [kill.signal for kill in drawn[:5]] == [*SIGNALS, SIGNALS[0]]
    for number in SIGNALS:
        parts = sorted(int(kill.moment / 10.0 * 13) for kill in drawn if kill.signal == number)
        assert parts == list(range(13))
    assert drawn == moments(52, 1, 10.0)
    assert drawn != moments(52, 2, 10.0)
    assert [kill.signal for kill in moments(5, 1, 10.0)] == [*SIGNALS, SIGNALS[0]]


def test_a_complete_copy_is_right(ordinary: Copy, complete: Copy) -> None:
    assert wrong_files(complete, ordinary, hidden_allowed=False) == []
    assert missing(complete, ordinary) == []
    assert state_of(complete, ordinary) == State("ending", count_runs(ordinary))


def test_an_empty_copy_has_nothing_wrong_but_lacks_everything(ordinary: Copy, empty: Copy) -> None:
    assert wrong_files(empty, ordinary, hidden_allowed=False) == []
    *named, more = missing(empty, ordinary)
    assert set(named) <= set(ordinary.results())
    assert more == f"and {len(ordinary.results()) + 1 - len(named)} more"
    assert state_of(empty, ordinary) == State("starting", 0)


@pytest.mark.parametrize("path", [RUN, TABLE, "reports/figures/convergence.pdf", "reports/report.html"])
@pytest.mark.parametrize("length", [0, 1, -1])
def test_a_half_written_result_is_seen(path: str, length: int, ordinary: Copy, tmp_path: Path) -> None:
    copy = only(ordinary, tmp_path, path)
    assert wrong_files(copy, ordinary, hidden_allowed=True) == []
    (copy / path).write_bytes((ordinary / path).read_bytes()[:length])
    assert wrong_files(copy, ordinary, hidden_allowed=True) == [f"half-written: {path}"]


def test_a_wrong_byte_is_seen(ordinary: Copy, tmp_path: Path) -> None:
    copy = only(ordinary, tmp_path, RUN)
    content = bytearray((ordinary / RUN).read_bytes())
    content[len(content) // 2] ^= 1
    (copy / RUN).write_bytes(content)
    assert wrong_files(copy, ordinary, hidden_allowed=True) == [f"other bytes: {RUN}"]


def test_a_file_that_is_no_result_is_seen(ordinary: Copy, tmp_path: Path) -> None:
    copy = only(ordinary, tmp_path, RUN)
    shutil.copy(copy / RUN, copy / f"{RUN}.part")
    assert wrong_files(copy, ordinary, hidden_allowed=True) == [f"not a result: {RUN}.part"]


def test_a_temporary_file_is_allowed_where_nothing_could_clean_up(ordinary: Copy, tmp_path: Path) -> None:
    copy = only(ordinary, tmp_path, RUN)
    hidden = "data/runs/S1/30dB/upso2d/bic/.seed-1.json.abcdefgh"
    copy.write(hidden, "{")
    assert hidden_files(copy) == [hidden]
    assert wrong_files(copy, ordinary, hidden_allowed=True) == []
    assert wrong_files(copy, ordinary, hidden_allowed=False) == [f"temporary file left: {hidden}"]


def test_a_half_written_record_of_time_is_seen(ordinary: Copy, tmp_path: Path) -> None:
    log = RUN.replace("data/", "logs/")
    copy = only(ordinary, tmp_path, log)
    assert wrong_files(copy, ordinary, hidden_allowed=True) == []
    copy.write(log, '{"cpu_seconds": 0.1')
    assert wrong_files(copy, ordinary, hidden_allowed=True) == [f"half-written: {log}"]


def test_a_half_written_account_of_the_machine_is_seen(ordinary: Copy, tmp_path: Path) -> None:
    path = "reports/made.md"
    copy = only(ordinary, tmp_path, path)
    text = (ordinary / path).read_text(encoding="utf-8")
    *lines, last = text.splitlines(keepends=True)
    copy.write(path, "".join([*lines, last.replace(".", "1.")]))
    assert wrong_files(copy, ordinary, hidden_allowed=True) == []
    copy.write(path, "".join(lines))
    assert wrong_files(copy, ordinary, hidden_allowed=True) == [f"other content: {path}"]


def test_many_wrong_files_are_counted(ordinary: Copy, complete: Copy) -> None:
    for number in range(1, 5):
        complete.write(RUN.replace("seed-1", f"seed-{number}"), "")
    *named, more = wrong_files(complete, ordinary, hidden_allowed=True)
    assert (len(named), more) == (3, "and 1 more")


def test_phases_are_told_apart_by_the_files(ordinary: Copy, complete: Copy) -> None:
    every = count_runs(ordinary)
    (complete / LAST_FILES[0]).unlink()
    assert state_of(complete, ordinary) == State("reports", every)
    (complete / RUN).unlink()
    assert state_of(complete, ordinary) == State("searches", every - 1)
    shutil.rmtree(complete / "data/runs")
    (complete / ".snakemake/locks").mkdir()
    complete.write(".snakemake/locks/0.output.lock", RUN)
    assert state_of(complete, ordinary) == State("locked", 0)
    complete.write(".snakemake/incomplete/x", "{}")
    assert state_of(complete, ordinary) == State("searches", 0)


@pytest.mark.parametrize(
    ("number", "phase", "code", "left", "found"),
    [
        (signal.SIGINT, "searches", 1, 0, []),
        (signal.SIGTERM, "starting", -signal.SIGTERM, 0, []),
        (signal.SIGHUP, "reports", 1, 0, []),
        (signal.SIGHUP, "searches", 1, 1, ["1 processes left by SIGHUP"]),
        (signal.SIGKILL, "reports", -signal.SIGKILL, 2, []),
        (signal.SIGTERM, "ending", 0, 0, []),
        (signal.SIGINT, "ended", 0, 0, []),
        (signal.SIGINT, "searches", 0, 0, ["SIGINT had no effect: exit 0"]),
        (signal.SIGTERM, "reports", 1, 1, ["1 processes left by SIGTERM"]),
        (signal.SIGTERM, "ended", 1, 0, ["exit 1 without an interruption"]),
        (signal.SIGINT, "reports", None, 3, ["still running 120 s after SIGINT"]),
    ],
)
def test_a_wrong_ending_is_seen(
    number: signal.Signals, phase: str, code: int | None, left: int, found: list[str]
) -> None:
    assert phase in PHASES
    assert wrong_ending(number, State(phase, 1), code, left) == found


@pytest.mark.parametrize(
    ("said", "command"),
    [
        (EXPLAINED, "snakemake --unlock"),
        (EXPLAINED.replace("    snakemake", "    snakemake --cores 1"), "snakemake --cores 1 --unlock"),
        ("LockException: Directory cannot be locked.", None),
        (EXPLAINED.replace("    snakemake --unlock\n", ""), None),
        (EXPLAINED + "    snakemake --unlock --cores 1\n", None),
        (EXPLAINED.replace("Nothing is lost.", ""), None),
        ("Traceback (most recent call last):\n" + EXPLAINED, None),
    ],
)
def test_a_message_without_the_command_to_unlock_is_seen(said: str, command: str | None) -> None:
    assert unlock_command(said) == command


def test_a_lock_that_is_not_explained_is_seen(empty: Copy) -> None:
    (empty / ".snakemake/locks").mkdir(parents=True)
    empty.write(".snakemake/locks/0.output.lock", RUN)
    # Without the profile, Snakemake shows its own message.
    shutil.rmtree(empty / "profiles")
    (found,) = unlock_as_told(empty)
    assert found.startswith("locked, but no command to unlock is told: ")
    assert is_locked(empty)


def test_processes_of_a_group_and_their_time_are_seen() -> None:
    """A child counts as long as it lives, and by its time also when it has ended."""
    busy = "import time\nwhile time.process_time() < 0.5: pass\n"
    code = f"import subprocess, sys\nsubprocess.run([sys.executable, '-c', {busy!r}])\nprint(flush=True)\ninput()"
    begun = subprocess.Popen(
        [sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True
    )
    assert begun.stdin is not None
    assert begun.stdout is not None
    with begun:
        wait_for(lambda: len(members(begun.pid)) == 2, "the child")
        begun.stdout.readline()
        assert members(begun.pid) == [begun.pid]
        # The kernel counts in ticks of some hundredths; without the child's it is a tenth of this.
        assert processor_seconds(begun.pid) >= 0.4
        os.killpg(begun.pid, signal.SIGKILL)
        begun.wait()
        assert members(begun.pid) == []
        assert processor_seconds(begun.pid) == 0.0


def test_ctrl_c_is_heeded_though_the_tests_ignore_it(empty: Copy) -> None:
    """As in the background of a shell, whose jobs ignore SIGINT."""
    previous = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        with under_way(empty) as begun:
            wait_for(lambda: is_locked(empty), "the lock")
            os.killpg(begun.pid, signal.SIGINT)
            begun.communicate(timeout=60)
        assert begun.returncode in (1, -signal.SIGINT)
        assert not is_locked(empty)
    finally:
        signal.signal(signal.SIGINT, previous)


def test_ctrl_c_once_more_harms_nothing(ordinary: Copy, empty: Copy) -> None:
    with under_way(empty) as begun:
        wait_for(lambda: count_runs(empty) > 0, "the first run file")
        printed = ""
        # The longest script is under way, is not interrupted here, and is waited for.
        begun.send_signal(signal.SIGINT)
        for line in begun.stdout or ():
            printed += line
            if "Terminating processes on user request" in line:
                begun.send_signal(signal.SIGINT)
        begun.wait()
    assert begun.returncode == 1
    assert f"narxbench: it ends with the steps under way; kill -9 {begun.pid} ends it at once.\n" in printed
    assert "Traceback" not in printed
    assert not is_locked(empty)
    assert wrong_files(empty, ordinary, hidden_allowed=False) == []


def test_a_terminal_that_is_closed_ends_it_as_sigterm_does(ordinary: Copy, empty: Copy) -> None:
    """Nothing can be written to such a terminal any more, and it takes its processes with it."""
    screen, terminal = os.openpty()
    begun = subprocess.Popen(
        [sys.executable, "-m", "snakemake", *COMMAND, *empty.overlays],
        cwd=empty.root,
        start_new_session=True,
        # The first terminal that the leader of a session opens is the one whose end it is told of.
        preexec_fn=lambda: os.close(os.open(os.ttyname(terminal), os.O_RDWR)),
        stdin=terminal,
        stdout=terminal,
        stderr=terminal,
        text=True,
    )
    os.close(terminal)
    try:
        wait_for(lambda: count_runs(empty) > 0, "the first run file")
        os.close(screen)
        begun.wait(SECONDS_TO_END)
        assert members(begun.pid) == []
    finally:
        end(begun)
    assert begun.returncode == 1
    assert count_runs(empty) < count_runs(ordinary)
    assert not is_locked(empty)
    assert wrong_files(empty, ordinary, hidden_allowed=False) == []


@pytest.mark.parametrize("heeded", [True, False])
def test_nohup_keeps_the_signal_of_the_terminal_off(ordinary: Copy, empty: Copy, heeded: bool) -> None:
    previous = signal.signal(signal.SIGHUP, signal.SIG_DFL if heeded else signal.SIG_IGN)
    try:
        with under_way(empty, CELL, *COMMAND) as begun:
            wait_for(lambda: is_locked(empty), "the lock")
            os.killpg(begun.pid, signal.SIGHUP)
            begun.communicate(timeout=SECONDS_TO_END)
    finally:
        signal.signal(signal.SIGHUP, previous)
    assert begun.returncode == int(heeded)
    assert (empty / CELL).exists() != heeded
    assert not is_locked(empty)
    assert wrong_files(empty, ordinary, hidden_allowed=False) == []


def test_the_summary_counts_by_signal() -> None:
    right = Outcome(Kill(signal.SIGKILL, 1.0), State("reports", 64), -9, 0.5, True, 1, 2, [])
    wrong = Outcome(Kill(signal.SIGINT, 2.0), State("searches", 9), None, 120.0, False, 0, 0, ["still running"])
    assert "SIGINT  at  2.00 s of CPU · searches ·  9 runs" in wrong.line()
    assert wrong.line().endswith(" · still running")
    assert right.line().endswith(" · right")
    interrupts, terms, hangups, kills = summary([right, wrong, right]).splitlines()[2:]
    assert interrupts == "| SIGINT | 1 | 0 | 0 | 1 | 0 | 0 | 0 | 0 | 0 | 0 | 120.0 | 1 |"
    assert terms == "| SIGTERM | 0 | 0 | 0 | 0 | 0 | 0 | 0 | 0 | 0 | 0 | 0.0 | 0 |"
    assert hangups == terms.replace("SIGTERM", "SIGHUP")
    assert kills == "| SIGKILL | 2 | 0 | 0 | 0 | 2 | 0 | 0 | 2 | 2 | 2 | 0.5 | 0 |"


def only(ordinary: Copy, folder: Path, path: str) -> Project:
    """Return a folder that holds one file of the uninterrupted run and nothing else."""
    (folder / path).parent.mkdir(parents=True)
    shutil.copy2(ordinary / path, folder / path)
    return Project(folder)

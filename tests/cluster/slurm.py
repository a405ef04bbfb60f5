"""A Slurm of two nodes of its own on the loopback interface, for tests that run the pipeline on a cluster."""

import getpass
import os
import shutil
import socket
import subprocess
import sys
from collections.abc import Callable
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import NamedTuple

import psutil  # type: ignore[import-untyped]
from tests.robustness.pipelines import wait_for

PROGRAMS = ("munged", "slurmctld", "slurmd", "sbatch", "srun", "squeue", "scancel", "scontrol", "sinfo")
GUARD = str(Path(__file__).with_name("guard.py"))
NODES = ("n1", "n2")
OVER = ("COMPLETED", "CANCELLED", "FAILED", "NODE_FAIL", "TIMEOUT", "OUT_OF_MEMORY")
SECONDS = 60  # that any state of Slurm may take to be reached, on a machine that is busy

_LONGEST = 60  # characters of the folder: names of sockets in it must stay below 108

# One processor in each node, so that two jobs at a time run on both. No accounting, no control groups, no steps of the
# system's. A node is seen to be down a while after SlurmdTimeout; finished jobs are told of for as long as tests take.
CONFIG = """\
ClusterName=loopback
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={ports[0]}
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket={folder}/munge/socket
CredType=cred/munge
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool/%n
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.%n.pid
SlurmctldLogFile={folder}/log/slurmctld
SlurmdLogFile={folder}/log/%n
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SwitchType=switch/none
MpiDefault=none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SchedulerType=sched/backfill
SchedulerParameters=batch_sched_delay=0,sched_interval=2,bf_interval=2
SlurmdParameters=config_overrides
SlurmdTimeout=5
KillWait=2
MinJobAge=3600
ReturnToService=2
NodeName=n1 NodeHostname={host} NodeAddr=127.0.0.1 Port={ports[1]} CPUs=1 RealMemory=8000
NodeName=n2 NodeHostname={host} NodeAddr=127.0.0.1 Port={ports[2]} CPUs=1 RealMemory=8000
PartitionName=main Nodes=ALL Default=YES MaxTime=INFINITE State=UP
"""

# The job-step plugin takes every variable SLURM_* from srun, and with SLURM_CONF all knowledge of this Slurm.
SRUN = """\
#!/bin/sh
SLURM_CONF={folder}/slurm.conf exec {srun} "$@"
"""


class NoAnswerError(Exception):
    """A command of Slurm's failed."""


class Job(NamedTuple):
    """A job as Slurm tells of it; ``node`` is empty until it has started, ``memory`` is what it asks for."""

    number: int
    state: str
    node: str
    memory: str


def unusable() -> str:
    """Return why no Slurm can be started here, or nothing."""
    if missing := [name for name in PROGRAMS if not shutil.which(name, path=_search_path())]:
        return f"no {', '.join(missing)} (Debian's packages slurmctld, slurmd, slurm-client and munge)"
    # Several slurmd on one machine, and jobs in the name of whoever submits them.
    return "" if os.geteuid() == 0 else f"Slurm is started by root only, not by {getpass.getuser()}"


class Slurm:
    """Controller, two nodes and authentication, with all files in one folder and on ports that are free.

    A context: its end leaves no process, and neither does the sudden end of the process that entered it.
    """

    def __init__(self, folder: Path) -> None:
        if len(str(folder)) > _LONGEST:
            raise ValueError(f"{folder}: found {len(str(folder))} characters; allowed: at most {_LONGEST}")
        self.folder = folder
        self._stack = ExitStack()
        self._daemons: dict[str, subprocess.Popen[bytes]] = {}
        self._told: set[int] = set()

    def __enter__(self) -> "Slurm":
        with ExitStack() as stack:
            stack.callback(self._end_all)
            self._configure()
            munge = self.folder / "munge"
            files = {"socket": "socket", "key-file": "key", "pid-file": "pid", "log-file": "log", "seed-file": "seed"}
            # By force, because nobody else can enter the folder.
            options = [f"--{option}={munge / name}" for option, name in files.items()]
            self._begin("munged", "--foreground", "--force", *options)
            self._wait_for((munge / "socket").exists, "munged listens")
            self._begin("slurmctld", "-D", "-c")
            for node in NODES:
                self.begin_node(node)
            self.wait_until_idle()
            self._stack = stack.pop_all()
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    @property
    def environment(self) -> dict[str, str]:
        """What a process needs to be a user of this Slurm."""
        return {"SLURM_CONF": str(self.folder / "slurm.conf"), "PATH": f"{self.folder / 'bin'}:{_search_path()}"}

    def begin_node(self, node: str) -> None:
        self._begin(node, "-D", "-N", node, program="slurmd")

    def kill_node(self, node: str) -> None:
        """End the node's daemon and everything that runs on it, none of which can tell of it."""
        self._end(node)

    def cancel(self, *jobs: int) -> None:
        self._run("scancel", *map(str, jobs))

    def jobs(self) -> list[Job]:
        """Return the jobs submitted since the last renewal, in the order of their submission."""
        return [job for job in self._all_jobs() if job.number not in self._told]

    def running(self, node: str) -> list[Job]:
        return [job for job in self.jobs() if job.state == "RUNNING" and job.node == node]

    def unfinished(self) -> list[int]:
        return [job.number for job in self._all_jobs() if job.state not in OVER]

    def commands(self, node: str) -> list[str]:
        """Return the command lines of all processes of a node."""
        lines = []
        for process in psutil.Process(self._daemons[node].pid).children(recursive=True):
            with suppress(psutil.NoSuchProcess, psutil.ZombieProcess):
                lines.append(" ".join(process.cmdline()))
        return lines

    def wait_until_idle(self) -> None:
        """Wait until both nodes are up and have nothing to do."""

        def idle() -> bool:
            # The controller does not listen at once.
            with suppress(NoAnswerError):
                return self._run("sinfo", "--noheader", "--Node", "--format=%T").split() == ["idle"] * len(NODES)
            return False

        self._wait_for(idle, "idle nodes")

    def renew(self) -> None:
        """Cancel all jobs, begin the nodes that were killed, and forget the jobs up to now."""
        for node in NODES:
            if node not in self._daemons:
                self.begin_node(node)
        if unfinished := self.unfinished():
            self.cancel(*unfinished)
        self.wait_until_idle()
        self._told = {job.number for job in self._all_jobs()}

    def logs(self) -> str:
        """Return the ends of all logs, for messages of failed tests."""
        files = sorted([*(self.folder / "log").iterdir(), self.folder / "munge/log"])
        ends = {path.name: path.read_text(errors="replace").splitlines()[-20:] for path in files if path.exists()}
        return "\n".join(f"== {name}\n" + "\n".join(end) for name, end in ends.items())

    def _configure(self) -> None:
        for name in ("bin", "log", "munge", "state", *(f"spool/{node}" for node in NODES)):
            (self.folder / name).mkdir(parents=True, mode=0o700)
        key = self.folder / "munge/key"
        key.write_bytes(os.urandom(1024))
        key.chmod(0o400)
        host = socket.gethostname().split(".")[0]
        config = CONFIG.format(folder=self.folder, host=host, ports=_free_ports(1 + len(NODES)))
        (self.folder / "slurm.conf").write_text(config)
        wrapper = self.folder / "bin/srun"
        wrapper.write_text(SRUN.format(folder=self.folder, srun=shutil.which("srun", path=_search_path())))
        wrapper.chmod(0o755)

    def _begin(self, name: str, *arguments: str, program: str = "") -> None:
        command = [sys.executable, GUARD, program or name, *arguments]
        with (self.folder / "log" / f"{name}.out").open("ab") as output:
            self._daemons[name] = subprocess.Popen(
                command,
                cwd=self.folder,
                env=os.environ | self.environment,
                start_new_session=True,
                stdin=subprocess.PIPE,
                stdout=output,
                stderr=subprocess.STDOUT,
            )

    def _wait_for(self, condition: Callable[[], bool], what: str) -> None:
        def met() -> bool:
            for name, daemon in self._daemons.items():
                if daemon.poll() is not None:
                    raise RuntimeError(f"{name} has ended\n{self.logs()}")
            return condition()

        try:
            wait_for(met, what, SECONDS)
        except TimeoutError as error:
            raise TimeoutError(f"{error}\n{self.logs()}") from None

    def _end(self, name: str) -> None:
        daemon = self._daemons.pop(name)
        # The guard's signal.
        daemon.communicate(timeout=SECONDS)

    def _end_all(self) -> None:
        with ExitStack() as stack:
            for name in list(self._daemons):
                stack.callback(self._end, name)

    def _all_jobs(self) -> list[Job]:
        lines = self._run("squeue", "--noheader", "--states=all", "--sort=i", "--format=%A|%T|%N|%m").splitlines()
        fields = (line.split("|") for line in lines)
        return [Job(int(number), *rest) for number, *rest in fields]

    def _run(self, *command: str) -> str:
        done = subprocess.run(command, env=os.environ | self.environment, capture_output=True, text=True)
        if done.returncode:
            raise NoAnswerError(f"{' '.join(command)}: {done.stderr.strip()}")
        return done.stdout


def _search_path() -> str:
    """Return the PATH with the folders of daemons, which a user's may lack."""
    return os.pathsep.join([os.environ.get("PATH", os.defpath), "/usr/sbin", "/sbin"])


def _free_ports(count: int) -> list[int]:
    with ExitStack() as stack:
        found = []
        for _ in range(count):
            one = stack.enter_context(socket.socket())
            one.bind(("127.0.0.1", 0))
            found.append(one.getsockname()[1])
        return found

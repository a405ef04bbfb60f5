"""A Slurm of two nodes of its own on the loopback interface, for tests that run the pipeline on a cluster."""

import os
import shutil
import socket
import subprocess
from collections import namedtuple
from contextlib import ExitStack
from pathlib import Path

from tests.workflow.project import wait_for

NODES = ("n1", "n2")
# States of a node that can have jobs.
USABLE = {"idle", "mixed", "allocated", "completing"}
PATH = os.pathsep.join([os.environ.get("PATH", os.defpath), "/usr/sbin", "/sbin"])
PROGRAMS = ("munged", "slurmctld", "slurmd", "sbatch", "srun", "squeue", "scancel", "sinfo", "unshare", "setpriv")
# Each daemon in a process namespace that ends with it, and it with the tests: none of what it has started is left.
GUARD = ("setpriv", "--pdeathsig", "KILL", "unshare", "--pid", "--fork", "--kill-child", "--mount-proc")

# One processor in each node, so that two jobs at a time run on both. No accounting, no control groups. A node is seen
# to be down a while after SlurmdTimeout; finished jobs are reported of for as long as tests take.
CONFIG = """\
ClusterName=loopback
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={ports[0]}
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket
CredType=cred/munge
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/%n
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.%n.pid
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
SRUN = '#!/bin/sh\nSLURM_CONF={folder}/slurm.conf exec {srun} "$@"\n'


# A job as Slurm tells of it; the node is empty until it has started.
Job = namedtuple("Job", ["number", "state", "node"])


def unusable() -> str:
    """Return why no Slurm can be started here, or nothing."""
    missing = [name for name in PROGRAMS if not shutil.which(name, path=PATH)]
    if missing:
        return f"no {', '.join(missing)} (Debian's packages slurmctld, slurmd, slurm-client and munge)"
    # Only root can start several slurmd on one machine, and jobs in the name of whoever submits them.
    return "" if os.geteuid() == 0 else "only root can start a Slurm"


class Slurm:
    """Controller, two nodes and authentication, with all files in one folder of a short name: sockets are in it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.environment = {"SLURM_CONF": str(folder / "slurm.conf"), "PATH": f"{folder / 'bin'}:{PATH}"}
        self._daemons: dict[str, subprocess.Popen[bytes]] = {}

    def __enter__(self) -> "Slurm":
        for name in ("bin", "state", *NODES):
            (self.folder / name).mkdir(mode=0o700)
        host = socket.gethostname().split(".")[0]
        (self.folder / "slurm.conf").write_text(CONFIG.format(folder=self.folder, host=host, ports=_free_ports(3)))
        srun = self.folder / "bin/srun"
        srun.write_text(SRUN.format(folder=self.folder, srun=shutil.which("srun", path=PATH)))
        srun.chmod(0o755)
        (self.folder / "key").write_bytes(os.urandom(1024))
        (self.folder / "key").chmod(0o400)
        files = {"socket": "munge.socket", "key-file": "key", "pid-file": "munge.pid", "log-file": "munge.log"}
        files["seed-file"] = "seed"
        options = [f"--{option}={self.folder / file}" for option, file in files.items()]
        # By force, because others can enter the folder's parents.
        self._begin("munged", "munged", "--foreground", "--force", *options)
        wait_for((self.folder / "munge.socket").exists, "munged", 60)
        self._begin("slurmctld", "slurmctld", "-D", "-c")
        self.renew()
        return self

    def __exit__(self, *_: object) -> None:
        for name in reversed(list(self._daemons)):
            self.kill(name)

    def kill(self, name: str) -> None:
        """Kill a daemon and everything that it has started, so that nothing can report the end."""
        daemon = self._daemons.pop(name)
        daemon.kill()
        daemon.wait()

    def renew(self) -> None:
        """Begin the nodes that do not run, and wait until both can have jobs."""
        for node in NODES:
            if node not in self._daemons:
                self._begin(node, "slurmd", "-D", "-N", node)

        def usable() -> bool:
            for name, daemon in self._daemons.items():
                assert daemon.poll() is None, (self.folder / f"{name}.out").read_text(errors="replace")[-999:]
            states = self.run("sinfo", "--noheader", "--Node", "--format=%T").split()
            return len(states) == len(NODES) and USABLE.issuperset(states)

        wait_for(usable, "usable nodes", 60)

    def jobs(self) -> list[Job]:
        """Return all jobs in the order of their submission."""
        jobs = []
        for line in self.run("squeue", "--noheader", "--states=all", "--sort=i", "--format=%A|%T|%N").splitlines():
            number, state, node = line.split("|")
            jobs.append(Job(int(number), state, node))
        return jobs

    def _begin(self, name: str, *command: str) -> None:
        with (self.folder / f"{name}.out").open("ab") as output:
            self._daemons[name] = subprocess.Popen(
                [*GUARD, *command],
                cwd=self.folder,
                env=os.environ | self.environment,
                start_new_session=True,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
            )

    def run(self, *command: str) -> str:
        # The controller does not listen at once; callers wait for the text that they need.
        return subprocess.run(command, env=os.environ | self.environment, capture_output=True, text=True).stdout


def _free_ports(count: int) -> list[int]:
    with ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(count)]
        for listener in sockets:
            listener.bind(("127.0.0.1", 0))
        return [listener.getsockname()[1] for listener in sockets]

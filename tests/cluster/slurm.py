"""A Slurm of its own on the loopback: munged, slurmctld and three slurmd, in one folder.

Two nodes are ordinary ones, the third one has two GPUs as far as Slurm can tell. Ports are free
ones, no file of the system's own Slurm is read or written, and what was started is stopped by its
process id; so several of these can run side by side.
"""

from __future__ import annotations

import os
import pwd
import shutil
import socket
import subprocess
from collections.abc import Iterable, Mapping
from contextlib import ExitStack, suppress
from pathlib import Path

import psutil

from workflow.checkout import wait_for

PROGRAMS = ("munged", "slurmctld", "slurmd", "sbatch", "srun", "squeue", "scontrol")
#: Debian installs the daemons where an ordinary user's PATH does not look.
SYSTEM_PATH = os.pathsep.join([os.environ.get("PATH", ""), "/usr/sbin", "/sbin"])
#: Nothing here is timed: this only ends what hangs.
PATIENCE = 240
#: What each node has, as far as Slurm knows: they all are this machine.
SIZES = {"cpu1": "CPUs=16", "cpu2": "CPUs=16", "gpu1": "CPUs=2 Gres=gpu:2"}
NODES = tuple(SIZES)
#: MB of each. A job asks for 3000 and takes a quarter of it: so a machine of 16 GB bears all
MEMORY = 16000

CONFIG = """\
ClusterName=featlearn
SlurmctldHost=localhost(127.0.0.1)
SlurmctldPort={control_port}
SlurmUser={user}
SlurmdUser={user}
AuthType=auth/munge
# a job of a lost node starts again after the lifetime of its credential
AuthInfo=socket={folder}/munge.socket,cred_expire=20
CredType=cred/munge
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool-%n
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/%n.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SwitchType=switch/none
MpiDefault=none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU_Memory
SlurmdParameters=config_overrides
SchedulerParameters=batch_sched_delay=0,sched_interval=5
# a node that does not answer for so long is lost, and so are its jobs
SlurmdTimeout=15
MessageTimeout=30
KillWait=5
ReturnToService=2
# finished jobs are remembered for the whole test
MinJobAge=3600
GresTypes=gpu
{nodes}
# a job goes to the node that has least to do: few jobs suffice for all nodes to work
PartitionName=cpu Nodes=cpu1,cpu2 Default=YES LLN=YES MaxTime=48:00:00 State=UP
PartitionName=gpu Nodes=gpu1 MaxTime=48:00:00 State=UP
"""


def missing_programs() -> list[str]:
    return [name for name in PROGRAMS if shutil.which(name, path=SYSTEM_PATH) is None]


def kill(processes: Iterable[psutil.Process]) -> None:
    for process in processes:
        with suppress(psutil.NoSuchProcess):
            process.kill()


class Slurm:
    """The daemons, from ``start`` to ``stop``; ``env`` is what its clients need."""

    def __init__(self, folder: Path):
        self.folder = folder
        self.user = pwd.getpwuid(os.getuid()).pw_name
        self.processes: dict[str, subprocess.Popen] = {}
        # the jobstep plugin takes SLURM_CONF away from srun: a script in front gives it back
        self.env = {
            "SLURM_CONF": str(folder / "slurm.conf"),
            "PATH": f"{folder / 'bin'}{os.pathsep}{SYSTEM_PATH}",
        }

    def start(self) -> Slurm:
        self.folder.chmod(0o755)
        with ExitStack() as held:
            sockets = [held.enter_context(socket.socket()) for _ in range(1 + len(NODES))]
            for one in sockets:
                one.bind(("127.0.0.1", 0))
            control_port, *node_ports = [one.getsockname()[1] for one in sockets]
        self._configure(control_port, dict(zip(NODES, node_ports, strict=True)))
        try:
            self._start_munge()
            self._run("slurmctld", "slurmctld", "-D", "-c")
            for node in NODES:
                self.start_node(node)
            wait_for(self.ready, "the nodes did not come up", PATIENCE)
        except BaseException:
            self.stop()
            raise
        return self

    def stop(self) -> None:
        for name in reversed(list(self.processes)):
            popen = self.processes.pop(name)
            popen.terminate()
            try:
                popen.wait(20)
            except subprocess.TimeoutExpired:
                popen.kill()
                popen.wait()
        for node in NODES:
            kill(self.processes_on(node))

    def start_node(self, node: str) -> None:
        (self.folder / f"spool-{node}").mkdir(exist_ok=True)
        self._run(node, "slurmd", "-D", "-N", node)

    def lose_node(self, node: str) -> None:
        """What a power cut does: the daemon and every process of its jobs are gone at once.

        Slurm finds that out after ``SlurmdTimeout``; here it is told, as a monitor would.
        """
        daemon = self.processes.pop(node)
        daemon.kill()
        kill(self.processes_on(node))
        daemon.wait()
        self.ask("scontrol", "update", f"NodeName={node}", "State=DOWN", "Reason=power")

    def processes_on(self, node: str) -> list[psutil.Process]:
        """Processes of jobs on a node, and the daemons of their steps, which outlive slurmd."""
        found = {}
        for process in psutil.process_iter():
            try:
                variables = process.environ()
                if (
                    variables.get("SLURM_CONF") != self.env["SLURM_CONF"]
                    or variables.get("SLURMD_NODENAME") != node
                ):
                    continue
                found[process.pid] = process
                parent = process.parent()
                if parent and parent.name().startswith("slurmstepd"):
                    found[parent.pid] = parent
            except psutil.Error:
                continue
        return list(found.values())

    def _run(self, name: str, *command: str) -> None:
        with open(self.folder / f"{name}.out", "ab") as output:
            self.processes[name] = subprocess.Popen(
                command, env={**os.environ, **self.env}, cwd=self.folder, stdin=subprocess.DEVNULL,
                stdout=output, stderr=subprocess.STDOUT,
            )  # fmt: skip

    def _start_munge(self) -> None:
        key = self.folder / "munge.key"
        key.write_bytes(os.urandom(128))
        key.chmod(0o600)
        files = {"key-file": key} | {
            f"{kind}-file" if kind != "socket" else kind: self.folder / f"munge.{kind}"
            for kind in ("socket", "pid", "log", "seed")
        }
        options = [f"--{name}={path}" for name, path in files.items()]
        self._run("munged", "munged", "--foreground", "--force", "--num-threads=2", *options)
        wait_for((self.folder / "munge.socket").exists, "munged did not start", PATIENCE)

    def _configure(self, control_port: int, ports: Mapping[str, int]) -> None:
        lines = [
            f"NodeName={node} NodeHostname=localhost NodeAddr=127.0.0.1 Port={port} "
            f"RealMemory={MEMORY} State=UNKNOWN {SIZES[node]}"
            for node, port in ports.items()
        ]
        text = CONFIG.format(
            control_port=control_port, user=self.user, folder=self.folder, nodes="\n".join(lines)
        )
        (self.folder / "slurm.conf").write_text(text, encoding="utf-8")
        # GPUs for Slurm's bookkeeping only
        gres = "NodeName=gpu1 Name=gpu File=/dev/null\nNodeName=gpu1 Name=gpu File=/dev/zero\n"
        (self.folder / "gres.conf").write_text(gres, encoding="utf-8")
        (self.folder / "state").mkdir()
        srun = self.folder / "bin" / "srun"
        srun.parent.mkdir()
        real = shutil.which("srun", path=SYSTEM_PATH)
        srun.write_text(f'#!/bin/sh\nSLURM_CONF={self.env["SLURM_CONF"]} exec {real} "$@"\n')
        srun.chmod(0o755)

    def ask(self, *command: str) -> str:
        done = subprocess.run(
            command, env={**os.environ, **self.env}, check=True, capture_output=True, text=True,
            timeout=PATIENCE,
        )  # fmt: skip
        return done.stdout

    def node_states(self) -> dict[str, str]:
        try:
            told = self.ask("sinfo", "--noheader", "--Node", "--format=%N %T")
        except subprocess.CalledProcessError:
            return {}
        return dict(line.split()[:2] for line in told.splitlines() if line.strip())

    def ready(self) -> bool:
        return self.node_states() == dict.fromkeys(NODES, "idle")

    def jobs(self) -> list[dict[str, str]]:
        """Every job so far as ``scontrol`` describes it, oldest first."""
        told = self.ask("scontrol", "show", "job", "--oneliner")
        lines = [line for line in told.splitlines() if line.startswith("JobId=")]
        jobs = [dict(word.partition("=")[::2] for word in line.split(" ")) for line in lines]
        return sorted(jobs, key=lambda job: int(job["JobId"]))

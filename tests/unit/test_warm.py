"""Jobs as forks of a warm process end as other processes do; orphaned jobs end themselves."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

from featlearn.core.run import warm, workspace
from featlearn.core.run.job import STAGING
from featlearn.core.run.provenance import SOURCE_ROOT
from workflow.checkout import wait_for

#: What imports nothing is as warm as the rest for these tests, and there at once.
SERVE = "import sys; from featlearn.core.run import warm; warm.IMPORTED = (); warm.serve({!r}, {})"
HEAD = "import os, sys, time\nfrom featlearn.core.run.warm import delegate\ndelegate()\n"
PATIENCE = 30


@pytest.fixture
def env(tmp_path):
    return os.environ | {
        "PYTHONPATH": str(SOURCE_ROOT),
        warm.SOCKET: str(tmp_path / "place" / "warm"),
        warm.PYTHON: sys.executable,
    }


@pytest.fixture
def server(env, tmp_path):
    place = Path(env[warm.SOCKET])
    place.parent.mkdir()
    code = SERVE.format(str(place), os.getpid())
    with subprocess.Popen([sys.executable, "-c", code], env=env) as process:
        wait_for(place.exists, "the warm process does not listen", PATIENCE)
        yield process
        process.kill()


def started(body, env, folder):
    script = folder / "job.py"
    script.write_text(HEAD + body, encoding="utf-8")
    return subprocess.Popen(
        [sys.executable, str(script)], env=env, cwd=folder, stdout=subprocess.PIPE,
        stderr=subprocess.PIPE, text=True,
    )  # fmt: skip


def ended(body, env, folder):
    process = started(body, env, folder)
    out, err = process.communicate(timeout=PATIENCE)
    return process.returncode, out.strip(), err.strip()


def test_a_job_is_a_fork_with_its_own_folder_environment_and_streams(server, env, tmp_path):
    body = "print(os.getppid(), os.getcwd(), os.environ['MINE'])\nprint('loud', file=sys.stderr)"
    code, out, err = ended(body, env | {"MINE": "x"}, tmp_path)
    assert (code, out, err) == (0, f"{server.pid} {tmp_path} x", "loud")


@pytest.mark.parametrize(("body", "code", "words"), [
    ("sys.exit(7)", 7, ""),
    ("sys.exit('no such thing')", 1, "no such thing"),
    ("raise ValueError('odd')", 1, "ValueError: odd"),
    ("os._exit(3)", 3, ""),
    ("os.abort()", -signal.SIGABRT, ""),
])  # fmt: skip
def test_a_job_ends_as_its_fork_ends(server, env, tmp_path, body, code, words):
    found, _, err = ended(body, env, tmp_path)
    assert found == code
    assert err.endswith(words)


def test_jobs_run_side_by_side_and_the_server_goes_on(server, env, tmp_path):
    body = "open(sys.argv[0] + str(os.getpid()), 'w').close()\n"
    body += "import glob\nwhile len(glob.glob(sys.argv[0] + '?*')) < 2: time.sleep(0.01)"
    both = [started(body, env, tmp_path) for _ in range(2)]
    for process in both:
        process.communicate(timeout=PATIENCE)
        assert process.returncode == 0
    assert server.poll() is None


def test_a_fork_gets_signals_and_dies_with_the_process_that_asked_for_it(server, env, tmp_path):
    proxy = started("print(os.getpid(), flush=True)\ntime.sleep(600)", env, tmp_path)
    fork = int(proxy.stdout.readline())
    assert fork != proxy.pid
    proxy.kill()
    proxy.communicate()
    wait_for(lambda: not psutil.pid_exists(fork), "the fork lives on", PATIENCE)
    body = "import signal\nsignal.signal(signal.SIGTERM, lambda *_: sys.exit(5))\n"
    proxy = started(body + "print('up', flush=True)\ntime.sleep(600)", env, tmp_path)
    proxy.stdout.readline()
    proxy.terminate()
    proxy.communicate(timeout=PATIENCE)
    assert proxy.returncode == 5


def test_a_signal_before_there_is_a_fork_reaches_it(server, env, tmp_path):
    ended("", env, tmp_path)  # by now it listens
    server.send_signal(signal.SIGSTOP)
    proxy = started("print('never')", env, tmp_path)
    status = Path(f"/proc/{proxy.pid}/status")

    def catches_sigterm():
        caught = status.read_text(encoding="utf-8").split("SigCgt:")[1].split()[0]
        return int(caught, 16) >> (signal.SIGTERM - 1) & 1

    wait_for(catches_sigterm, "the proxy catches no signal", PATIENCE)
    proxy.terminate()
    time.sleep(0.1)
    assert proxy.poll() is None
    server.send_signal(signal.SIGCONT)
    out, _ = proxy.communicate(timeout=PATIENCE)
    assert proxy.returncode == -signal.SIGTERM
    assert "never" not in out


NOT_OURS = ({warm.SOCKET: "no"}, {warm.PYTHON: "/another/python"}, {warm.SOCKET: "/gone/warm"})


@pytest.mark.parametrize("change", NOT_OURS)
def test_without_a_warm_process_of_its_own_a_job_runs_as_it_is(server, env, tmp_path, change):
    code, out, _ = ended("print(os.getppid())", env | change, tmp_path)
    assert (code, out) == (0, str(os.getpid()))


ORPHAN = """
import sys, time
from pathlib import Path
from featlearn.core.run.warm import follow
staging = Path(sys.argv[1]) / ".staging" / "a-job"
staging.mkdir(parents=True)
follow(Path(sys.argv[1]), staging)
print("at work", flush=True)
time.sleep(300)
"""


@pytest.fixture
def no_run(monkeypatch):
    monkeypatch.setattr(workspace, "_held", {})  # what one test holds is not held in the next
    for name in (warm.RUN, warm.RUN_PROCESS, "PYTHONPATH"):
        monkeypatch.delenv(name, raising=False)


@pytest.mark.usefixtures("no_run")
def test_only_a_later_run_replaces_a_run(tmp_path, monkeypatch):
    assert not warm.is_replaced(tmp_path)  # outside of any run
    monkeypatch.setenv(warm.RUN, "this")
    assert not warm.is_replaced(tmp_path)  # nothing was started here
    for last, replaced in (("this\n", False), ("", False), ("later\n", True)):
        (tmp_path / warm.LAST_RUN).write_text(last)
        assert warm.is_replaced(tmp_path) == replaced


@pytest.mark.usefixtures("no_run")
def test_a_job_on_another_machine_belongs_to_the_run_that_submitted_it(tmp_path, monkeypatch):
    monkeypatch.setenv(warm.RUN, "as it was")
    workspace.announce(tmp_path, is_main=False)
    assert os.environ[warm.RUN] == "as it was"
    workspace.announce(tmp_path, is_main=True)
    assert os.environ[warm.RUN] != "as it was"


@pytest.mark.usefixtures("no_run")
def test_a_run_that_starts_sweeps_what_jobs_on_other_machines_left(tmp_path, monkeypatch):
    monkeypatch.setenv(warm.RUN, "new")
    (tmp_path / STAGING / "rule-elsewhere-1").mkdir(parents=True)
    workspace.hold(tmp_path)
    assert list((tmp_path / STAGING).iterdir()) == []
    assert not warm.is_replaced(tmp_path)
    monkeypatch.setenv(warm.RUN, "old")
    assert warm.is_replaced(tmp_path)


@pytest.mark.usefixtures("no_run")
def test_a_replaced_job_ends_and_takes_its_staging_folder_along(tmp_path):
    (tmp_path / warm.LAST_RUN).write_text("this\n")
    variables = {**os.environ, warm.RUN: "this", "PYTHONPATH": str(SOURCE_ROOT)}
    command = [sys.executable, "-c", ORPHAN, str(tmp_path)]
    with subprocess.Popen(command, env=variables, stdout=subprocess.PIPE, text=True) as job:
        try:
            assert job.stdout.readline() == "at work\n"
            assert job.poll() is None
            (tmp_path / warm.LAST_RUN).write_text("later\n")
            assert job.wait(60) == 1
        finally:
            job.kill()
    assert list((tmp_path / ".staging").iterdir()) == []

"""``make verify``: what it says. That it really runs everything again: test_two_runs."""

import re
import shutil
import sys
from pathlib import Path
from types import SimpleNamespace

import psutil
import pytest

from .checkout import REPOSITORY, Checkout, python, script_of, wait_for


@pytest.fixture(scope="module")
def checkout(template_finished, tmp_path_factory) -> Checkout:
    return template_finished.copy(tmp_path_factory.mktemp("verified"))


@pytest.fixture
def verify(checkout, monkeypatch):
    """The script as a module, and its second run replaced by a copy of the first."""
    monkeypatch.setattr(sys, "argv", ["verify.py", "--scale", "smoke"])
    module = script_of("verify", checkout.root, monkeypatch)

    def second_run(command, **_):
        results = Path(command[command.index("--directory") + 1]) / "results/smoke"
        if module.code:
            return SimpleNamespace(returncode=module.code)
        shutil.copytree(checkout / "results/smoke", results)
        module.spoil(results / "checksums.txt")
        return SimpleNamespace(returncode=0)

    module.code, module.spoil = 0, lambda checksums: None
    monkeypatch.setattr(module, "subprocess", SimpleNamespace(run=second_run))
    return module


def test_equal_bytes_are_said_to_be_equal_and_what_is_gone_is_named(verify, checkout, capsys):
    assert verify.main() == 0
    count = len(checkout.checksums())
    assert f"{count} files of results/smoke: every byte equal" in capsys.readouterr().out
    gone = checkout / "results/smoke/toy/figures/alignment.svg"
    kept = gone.read_bytes()
    gone.unlink()
    try:
        assert verify.main() == 1
    finally:
        gone.write_bytes(kept)
    assert capsys.readouterr().out.splitlines() == ["toy/figures/alignment.svg: missing on disk"]


def test_what_differs_in_the_second_run_is_named(verify, capsys):
    def spoil(checksums: Path) -> None:
        lines = checksums.read_text().splitlines()
        changed = [
            "0" * 64 + line[64:] if line.endswith("toy/figures/alignment.png") else line
            for line in lines
            if not line.endswith("toy/tables/alignment.md")
        ]
        checksums.write_text("\n".join([*changed, "1" * 64 + "  toy/new.parquet"]) + "\n")

    verify.spoil = spoil
    assert verify.main() == 1
    assert capsys.readouterr().out.splitlines() == [
        "toy/tables/alignment.md: missing in the second run",
        "toy/new.parquet: only in the second run",
        "toy/figures/alignment.png: differs in the second run",
    ]


def test_a_second_run_that_fails_is_no_verdict(verify, capsys):
    verify.code = 3
    assert verify.main() == 3
    assert "nothing was compared" in capsys.readouterr().err


def test_papers_are_repeated_without_the_others(verify, checkout, capsys, monkeypatch):
    monkeypatch.setattr(sys, "argv", ["verify.py", "--scale", "smoke", "--papers", "toy"])
    asked, second_run = [], verify.subprocess.run
    verify.subprocess.run = lambda command, **_: asked.append(command[-1]) or second_run(command)
    verify.spoil = lambda checksums: checksums.open("a").write("1" * 64 + "  other/new.parquet\n")
    assert (verify.main(), asked) == (0, ["papers=[toy]"])
    monkeypatch.setattr(sys, "argv", ["verify.py", "--scale", "smoke", "--papers", "toi"])
    assert verify.main() == 2
    assert "no file of toi" in capsys.readouterr().err


@pytest.fixture(scope="module")
def script():
    with pytest.MonkeyPatch.context() as patched:
        return script_of("verify", REPOSITORY, patched)


#: Starts a child, tells of it, and waits.
WAITS = (
    "import subprocess, sys, time; "
    "child = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)']); "
    "open(sys.argv[1], 'w').write(str(child.pid)); time.sleep(600)"
)


def ended(pid: int) -> bool:
    """A child whose parent is gone may stay a zombie where nobody waits for it."""
    try:
        return psutil.Process(pid).status() == psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return True


@pytest.mark.parametrize("interrupted", [False, True])
def test_what_is_killed_is_gone_with_its_children(interrupted, script, tmp_path, monkeypatch):
    """After Ctrl-C, too, which does not reach a run that has a session of its own."""
    told, real = tmp_path / "told", psutil.Popen.wait

    def wait(run, timeout=None):  # not so many seconds, but until there is what is to be killed
        if timeout is None:
            return real(run)
        wait_for(lambda: told.is_file() and told.read_text(), "the child is not there")
        if interrupted:
            raise KeyboardInterrupt
        return real(run, 0)

    monkeypatch.setattr(psutil.Popen, "wait", wait)
    command = [sys.executable, "-c", WAITS, str(told)]
    if interrupted:
        with pytest.raises(KeyboardInterrupt):
            script.killed(command, 1, 600)
    else:
        assert script.killed(command, 1, 600) == 1
    wait_for(lambda: ended(int(told.read_text())), "the child is still there")


def test_a_run_that_ends_is_not_killed(script):
    assert script.killed([sys.executable, "-c", ""], 9, 600) == 0


@pytest.mark.long
def test_a_run_that_is_killed_again_and_again_ends_in_the_same_bytes(done_toy):
    """Instants between the first second and about when the run would be done, or after it."""
    toy = done_toy()
    words = ("--scale", "smoke", "--kills", "4", "--within", "5")
    told = python(toy.root, "scripts/verify.py", *words)
    assert told.returncode == 0, told.stdout + told.stderr
    assert re.search(r"every byte equal in a second run, killed [1-4] times\n$", told.stdout)

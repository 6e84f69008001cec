"""``make verify``: what it says. That it really runs everything again: test_determinism."""

import importlib.util
import shutil
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from .checkout import Checkout

pytestmark = pytest.mark.workflow


@pytest.fixture(scope="module")
def checkout(done_toy) -> Checkout:
    return done_toy()


@pytest.fixture
def verify(checkout, monkeypatch):
    """The script as a module, and its second run replaced by a copy of the first."""
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.setattr(sys, "argv", ["verify.py", "--scale", "smoke"])
    script = checkout / "scripts/verify.py"
    spec = importlib.util.spec_from_file_location("verify", script)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)

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

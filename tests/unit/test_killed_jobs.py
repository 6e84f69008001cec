"""Killed fifty times at random, a job of every kind of training ends in the same bytes."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

KILLS = 50
SCRIPT = Path(__file__).with_name("killed_jobs.py")
KINDS = "images mrp mrp-supervised contrastive noncontrastive transformer nuclear"


@pytest.mark.long
@pytest.mark.parametrize("kind", KINDS.split())
def test_fifty_random_kills_change_no_byte(kind, tmp_path):
    done = subprocess.run(
        [sys.executable, str(SCRIPT), str(tmp_path), kind, str(KILLS)],
        env={**os.environ, "OMP_NUM_THREADS": "1"}, capture_output=True, text=True, timeout=600,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout.splitlines()[-1])
    assert told["kills"] == KILLS
    assert set(told["ends"]) == {0}
    # how many found a checkpoint depends on the machine; none would mean that none is written
    assert told["resumed"] > 0
    assert told["wrong"] == []
    assert told["half"] == []
    assert told["files"]
    assert not any((tmp_path / "results/smoke/.checkpoints").rglob("*.safetensors"))

"""The same bytes natively and on two emulated processors, for a piece of each kind of job.

Needs ``qemu-x86_64`` (Debian: ``qemu-user``); about a minute for each processor.
"""

import json
import os
import platform
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from featlearn.core.run.portable import pin

ROOT = Path(__file__).resolve().parents[2]
QEMU = shutil.which("qemu-x86_64")
pytestmark = [
    pytest.mark.long,
    pytest.mark.skipif(QEMU is None, reason="qemu-x86_64 is missing (Debian: qemu-user)"),
    pytest.mark.skipif(platform.machine() != "x86_64", reason="portable is for x86-64"),
]


def digests(*before: str) -> dict[str, str]:
    """Of each kind of job, its digest; ``before`` are words that emulate a processor."""
    environment = dict(os.environ)
    pin(environment)
    packages = [path for path in sys.path if path.endswith("-packages")]
    environment |= {
        "PYTHONPATH": os.pathsep.join([str(ROOT / "src"), *packages]),
        "OMP_NUM_THREADS": "1",
        "MPLBACKEND": "Agg",
    }
    # a virtual environment's python is a link; the emulator gets the program itself
    command = [*before, os.path.realpath(sys.executable), str(ROOT / "tests/emulated/kinds.py")]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=900)
    assert done.returncode == 0, done.stderr
    return dict(json.loads(done.stdout.splitlines()[-1]))


@pytest.fixture(scope="module")
def native() -> dict[str, str]:
    return digests()


@pytest.mark.parametrize("processor", ["Haswell-noTSX", "EPYC-v1"])
def test_bytes_are_those_of_another_processor(native, processor):
    found = digests(str(QEMU), "-cpu", processor)
    assert [kind for kind in native if native[kind] != found[kind]] == []

"""The page of keys says what the schema says, and every key has a meaning."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def test_page_of_keys_is_in_step_with_the_schema():
    script = ROOT / "scripts" / "core" / "configuration_page.py"
    done = subprocess.run(
        [sys.executable, script, "--check"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


def test_no_key_is_described_by_its_own_name():
    page = (ROOT / "docs" / "configuration.md").read_text(encoding="utf-8")
    for line in page.splitlines():
        if line.startswith(("| `mrp.", "| `images.")):
            key, told = (cell.strip(" `") for cell in line.split("|")[1:3])
            name = key.rpartition(".")[2].replace("_", " ")
            assert told.lower() != name.lower(), line

"""The page of keys says what the schema says, and every key has a meaning."""

import subprocess
import sys
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[2]


def test_page_of_keys_is_in_step_with_the_schema():
    script = ROOT / "scripts" / "configuration_page.py"
    done = subprocess.run(
        [sys.executable, script, "--check"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    "file", sorted((ROOT / "workflow" / "schemas").glob("*.yaml")), ids=lambda file: file.stem
)
def test_no_comma_cuts_a_description_in_two(file):
    """``{ description: one, two }`` is a description and a key ``two`` that nothing reads."""

    def cut(node) -> list[str]:
        if isinstance(node, list):
            return [name for one in node for name in cut(one)]
        if not isinstance(node, dict):
            return []
        own = [name for name, value in node.items() if value is None and name != "default"]
        return own + [name for value in node.values() for name in cut(value)]

    assert cut(yaml.safe_load(file.read_text(encoding="utf-8"))) == []

"""Lists of SHA-256 in the form of sha256sum, and where two of them differ."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

#: Of a run: every artefact, below ``results/<run>``.
NAME = "checksums.txt"


def read_checksums(path: Path) -> dict[str, str]:
    """``file -> SHA-256`` of a list."""
    pairs = (line.split("  ", 1) for line in path.read_text(encoding="utf-8").splitlines())
    return {name: value for value, name in pairs}


def differences(expected: Mapping[str, str], found: Mapping[str, str], what: str) -> list[str]:
    """One line for each file that is missing, new or different."""
    lines = [f"{name}: missing {what}" for name in sorted(expected.keys() - found.keys())]
    lines += [f"{name}: only {what}" for name in sorted(found.keys() - expected.keys())]
    same = sorted(expected.keys() & found.keys())
    lines += [f"{name}: differs {what}" for name in same if expected[name] != found[name]]
    return lines

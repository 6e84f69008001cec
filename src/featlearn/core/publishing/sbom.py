"""What is installed beside featlearn: names, versions, licences and digests."""

from __future__ import annotations

import csv
import hashlib
from collections.abc import Iterator
from importlib.metadata import Distribution, distributions
from typing import NamedTuple

#: Words of a licence text that are shown where a package gives a whole text as its licence.
LONGEST = 60
UNKNOWN = "not told"


class Package(NamedTuple):
    """One installed package.

    ``digest``: SHA-256 over names and digests of its files, as 64 hexadecimal digits; empty if it
    lists none. Files that the installer writes do not count: whoever installs the same package has
    the same digest.
    """

    name: str
    version: str
    licence: str
    digest: str


def installed() -> list[Package]:
    """Every package that this Python finds, by name; the first of two of the same name counts."""
    found: dict[str, Package] = {}
    for one in distributions():
        name = one.metadata["Name"]
        if name:
            found.setdefault(name.lower(), Package(name, one.version, _licence(one), _digest(one)))
    return [found[name] for name in sorted(found)]


def _licence(one: Distribution) -> str:
    """As the package states it: an expression, else its classifiers, its words, its file."""
    headers = one.metadata
    if expression := headers.get_all("License-Expression"):
        return str(expression[0])
    words = [
        entry.rpartition(" :: ")[2]
        for entry in headers.get_all("Classifier") or ()
        if entry.startswith("License :: ")
    ]
    if words and words != ["OSI Approved"]:
        return ", ".join(dict.fromkeys(words))
    if text := " ".join(" ".join(headers.get_all("License") or ()).split()):
        return text if len(text) <= LONGEST else text[:LONGEST] + " ..."
    files = headers.get_all("License-File")
    return f"its file {files[0]}" if files else UNKNOWN


def _digest(one: Distribution) -> str:
    lines = sorted(_files(one))
    return hashlib.sha256("\n".join(lines).encode()).hexdigest() if lines else ""


def _files(one: Distribution) -> Iterator[str]:
    # RECORD has a row a file: name, digest, size. Distribution.files would take seconds
    for row in csv.reader((one.read_text("RECORD") or "").splitlines()):
        name, digest = row[0], row[1] if len(row) > 1 else ""
        made = name.startswith(("..", "/")) or name.endswith(".pyc") or ".dist-info/" in name
        if digest and not made:
            yield f"{name} {digest}"

"""What an artefact was made from, and whether it still is what was made.

Two halves:

* the **fingerprint** of a script: a hash of the script and of every featlearn module that it
  imports, directly or through others. It is found by reading the source (nothing is imported), and
  stands among the ``params`` of a rule, so Snakemake re-runs exactly what an edit touches;
* the **record** of an artefact: a JSON file ``<results>/provenance/<artefact>.json`` with the
  digest of its bytes and all that went into it. It lies beside the artefact, not inside, so that
  identical results stay identical files.
"""

from __future__ import annotations

import ast
import functools
import hashlib
import json
import os
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from featlearn.core.files import digest, write_atomically

PACKAGE = "featlearn"
SOURCE_ROOT = Path(__file__).resolve().parents[2]
RECORDS = "provenance"
DAMAGED = ".damaged"
#: Names the folder in which Snakemake keeps what runs share; their records lie in it too.
SHARED = "SNAKEMAKE_OUTPUT_CACHE"
NOT_SHARED = "no run shared these bytes"


# --------------------------------------------------------------------------- fingerprint


def _is_type_checking(test: ast.expr) -> bool:
    return (isinstance(test, ast.Name) and test.id == "TYPE_CHECKING") or (
        isinstance(test, ast.Attribute) and test.attr == "TYPE_CHECKING"
    )


def _statements(block: Sequence[ast.stmt]) -> Iterator[ast.stmt]:
    """All statements of a block and of the blocks in it, less those for type checkers only."""
    for statement in block:
        if isinstance(statement, ast.If) and _is_type_checking(statement.test):
            yield from _statements(statement.orelse)
            continue
        yield statement
        for part in ("body", "orelse", "finalbody"):
            yield from _statements(getattr(statement, part, ()))
        for branch in (*getattr(statement, "handlers", ()), *getattr(statement, "cases", ())):
            yield from _statements(branch.body)


@functools.cache
def _module_file(name: str, root: Path) -> Path | None:
    base = root.joinpath(*name.split("."))
    for candidate in (base / "__init__.py", base.with_suffix(".py")):
        if candidate.is_file():
            return candidate
    return None


@functools.cache
def _imports(path: Path, package: str | None) -> frozenset[str]:
    """Dotted names that the file may import, relative ones resolved against ``package``."""
    names: set[str] = set()
    for node in _statements(ast.parse(path.read_bytes(), filename=str(path)).body):
        if isinstance(node, ast.Import):
            names.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level and package is not None:
                anchor = package.split(".")
                anchor = anchor[: len(anchor) - node.level + 1]
                base = ".".join([*anchor, base] if base else anchor)
            names.add(base)
            # "from featlearn.mrp import train" may name a module or a function: both are tried
            names.update(f"{base}.{alias.name}" for alias in node.names)
    return frozenset(name for name in names if name.split(".")[0] == PACKAGE)


@functools.cache
def _imported(path: Path, package: str | None, root: Path) -> dict[str, Path]:
    """The modules that the file itself may import, and their parent packages."""
    found = {}
    for name in _imports(path, package):
        parts = name.split(".")
        for depth in range(1, len(parts) + 1):
            module = ".".join(parts[:depth])
            file = _module_file(module, root)
            if file is not None:
                found[module] = file
    return found


def modules_of(script: str | os.PathLike[str], root: Path = SOURCE_ROOT) -> dict[str, Path]:
    """Every featlearn module that ``script`` uses, transitively: dotted name to file.

    Parent packages count, for Python runs their ``__init__.py`` too.
    """
    found: dict[str, Path] = {}
    waiting: list[tuple[Path, str | None]] = [(Path(script), None)]
    while waiting:
        path, package = waiting.pop()
        for module, file in _imported(path, package, root).items():
            if module not in found:
                found[module] = file
                own = module if file.name == "__init__.py" else module.rpartition(".")[0]
                waiting.append((file, own))
    return dict(sorted(found.items()))


def fingerprint(script: str | os.PathLike[str], root: Path = SOURCE_ROOT) -> str:
    """Hash (16 hexadecimal digits) of ``script`` and of every module it uses."""
    total = hashlib.sha256(Path(script).read_bytes())
    for name, file in modules_of(script, root).items():
        total.update(f"\0{name}\0".encode() + file.read_bytes())
    return total.hexdigest()[:16]


# --------------------------------------------------------------------------- record


def record_path(results: Path, artefact: Path) -> Path:
    """Where the record of ``artefact`` (a path below ``results``) lies."""
    return results / RECORDS / f"{artefact.relative_to(results)}.json"


def write_record(results: Path, artefact: Path, content: dict[str, Any]) -> None:
    """Write the record of one artefact, whole or not at all."""
    text = json.dumps(content, indent=1, sort_keys=True, default=str)
    write_atomically(record_path(results, artefact), (text + "\n").encode())


def read_record(results: Path, artefact: Path) -> dict[str, Any] | None:
    """The record of ``artefact``, or None if there is none that can be read."""
    try:
        content = json.loads(record_path(results, artefact).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return content if isinstance(content, dict) else None


def share_record(content: dict[str, Any]) -> None:
    """Keep a record beside what runs share, if they do, by the digest of the bytes."""
    if folder := os.environ.get(SHARED):
        text = json.dumps(content, indent=1, sort_keys=True, default=str)
        path = Path(folder) / RECORDS / f"{content['sha256']}.json"
        write_atomically(path, (text + "\n").encode())


def is_shared(artefact: Path) -> bool:
    """Whether an artefact is a link to what runs share (Snakemake made the link)."""
    return artefact.is_symlink() and (artefact.resolve().parent / RECORDS).is_dir()


def adopt(results: Path, artefact: Path) -> dict[str, Any] | None:
    """The record of an artefact that another run made and shared; it becomes this run's.

    None if no job wrote these bytes and shared them: then they are not what they should be.
    """
    file = artefact.resolve()
    try:
        path = file.parent / RECORDS / f"{digest(file)}.json"
        content = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    content |= {
        "artefact": str(artefact.relative_to(results)),
        "mtime_ns": file.stat().st_mtime_ns,
    }
    write_record(results, artefact, content)
    return content


def _unrecorded_links(results: Path) -> Iterator[Path]:
    """Links to shared artefacts that this run has no record of yet."""
    for folder, _, files in os.walk(results):
        for path in (Path(folder, name) for name in files):
            if is_shared(path) and path.is_file() and not record_path(results, path).exists():
                yield path


def records(results: Path) -> Iterator[tuple[Path, dict[str, Any]]]:
    """Each artefact that has a record, with the record, in the order of their names."""
    folder = results / RECORDS
    for file in sorted(folder.rglob("*.json")):
        artefact = results / str(file.relative_to(folder))[: -len(".json")]
        content = read_record(results, artefact)
        if content is not None:
            yield artefact, content


def damage(artefact: Path, record: dict[str, Any], *, thorough: bool) -> str | None:
    """What is wrong with the bytes of ``artefact``, or None.

    Parameters
    ----------
    thorough
        True hashes the file in any case. False trusts a file whose size and time of change are
        those of the record, which costs one ``stat``.
    """
    status = artefact.stat()
    if status.st_size != record.get("bytes"):
        return f"{status.st_size} bytes, {record.get('bytes')} were written"
    if not thorough and status.st_mtime_ns == record.get("mtime_ns"):
        return None
    found = digest(artefact)
    if found != record.get("sha256"):
        return f"its SHA-256 is {found[:12]}..., {str(record.get('sha256'))[:12]}... was written"
    return None


def damaged_artefacts(results: Path) -> dict[Path, str]:
    """Artefacts whose bytes changed since they were written, each with what is wrong.

    Snakemake touches what a job made, and copying changes times too: where the bytes are right and
    only the time is new, the record takes it over, so that no file is hashed at every start.
    """
    found = {}
    for artefact, record in records(results):
        if not artefact.is_file():
            continue
        if fault := damage(artefact, record, thorough=False):
            found[artefact] = fault
        elif (changed := artefact.stat().st_mtime_ns) != record.get("mtime_ns"):
            write_record(results, artefact, {**record, "mtime_ns": changed})
    for artefact in _unrecorded_links(results):
        if adopt(results, artefact) is None:
            found[artefact] = NOT_SHARED
    return found


def set_aside(results: Path, artefact: Path) -> Path:
    """Move a damaged artefact out of the way (nothing is deleted) so that it is made again."""
    first = results / DAMAGED / artefact.relative_to(results)
    first.parent.mkdir(parents=True, exist_ok=True)
    target, number = first, 1
    while target.exists():
        number += 1
        target = first.with_name(f"{first.name}.{number}")
    # shared files are links: the file itself has to go, or every run would get it again
    shutil.move(artefact.resolve(), target)
    artefact.unlink(missing_ok=True)
    record_path(results, artefact).unlink(missing_ok=True)
    return target

"""What an artefact was made from, and whether it still is what was made.

Two halves:

* the **fingerprint** of a function: a hash of what it computes, of the module that holds it as far
  as the function uses it, and of every featlearn module that these import, directly or through
  others. It is found by reading the source (nothing is imported): comments, docstrings and the
  frame around a job do not count. It stands among the ``params`` of a rule, so Snakemake re-runs
  exactly what an edit touches;
* the **record** of an artefact: a JSON file ``<results>/provenance/<artefact>.json`` with the
  digest of its bytes and all that went into it. It lies beside the artefact, not inside, so that
  identical results stay identical files.
"""

from __future__ import annotations

import ast
import contextlib
import functools
import hashlib
import json
import os
import shutil
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from featlearn.core.errors import FeatlearnError
from featlearn.core.files import digest, write_atomically
from featlearn.core.notes import noted, of_sources

PACKAGE = "featlearn"
SOURCE_ROOT = Path(__file__).resolve().parents[2]
RECORDS = "provenance"
DAMAGED = ".damaged"
#: Names the folder in which Snakemake keeps what runs share; their records lie in it too.
SHARED = "SNAKEMAKE_OUTPUT_CACHE"
NOT_SHARED = "no run shared these bytes"


# --------------------------------------------------------------------------- fingerprint

#: Modules around the computing: they decide when and where a job runs and how its files appear, not
#: what stands in them. They enter a fingerprint by a number, which is raised by hand when one of
#: them, a script, or what only these use (how a file is written) begins to change what is computed.
FRAME = frozenset(
    f"featlearn.core.{name}"
    for name in (
        "config", "display", "environment", "errors", "experiments", "gpus", "guard",
        "commit", "interruption", "job", "lifeline", "machine_faults", "notes", "outputs",
        "portable", "progress", "provenance", "publish", "run", "software", "unfinished", "warm",
    )
)  # fmt: skip
FRAME_VERSION = 1


def _is_type_checking(test: ast.expr) -> bool:
    return (isinstance(test, ast.Name) and test.id == "TYPE_CHECKING") or (
        isinstance(test, ast.Attribute) and test.attr == "TYPE_CHECKING"
    )


def _blocks(node: ast.AST) -> Iterator[list[Any]]:
    """Lists of statements within a statement. Expressions have none: they are not searched."""
    for name in ("body", "orelse", "finalbody", "handlers", "cases"):
        block = getattr(node, name, None)
        if isinstance(block, list):
            yield block


def _meaning(statements: Iterable[ast.stmt]) -> Iterator[ast.stmt]:
    """Statements without what computes nothing: docstrings and what only type checkers read."""
    for one in statements:
        if isinstance(one, ast.Expr):
            text = isinstance(one.value, ast.Constant) and isinstance(one.value.value, str)
            if not text:
                yield one
        elif isinstance(one, ast.If) and _is_type_checking(one.test):
            yield from _meaning(one.orelse)
        else:
            for block in _blocks(one):
                block[:] = _meaning(block)
            yield one


@functools.cache
def _statements(file: Path) -> tuple[ast.stmt, ...]:
    """The statements of a module that compute something; comments are none to begin with."""
    return tuple(_meaning(ast.parse(file.read_bytes(), filename=str(file)).body))


class _Statement(NamedTuple):
    """What a fingerprint asks of a statement of a module, once."""

    dumped: bytes
    imports: frozenset[str]
    bound: frozenset[str]
    used: frozenset[str]


@functools.cache
def _read_statements(file: Path, package: str | None) -> tuple[_Statement, ...]:
    return tuple(
        _Statement(
            ast.dump(one).encode(),
            frozenset(_imports([one], package)),
            frozenset(_bound(one)),
            frozenset(_used(one)),
        )
        for one in _statements(file)
    )


class Facts(NamedTuple):
    """What a fingerprint needs of a module, or of one of its names.

    Attributes
    ----------
    meaning
        SHA-256 of what it computes.
    imports
        Dotted names below featlearn that it may import.
    """

    meaning: str
    imports: tuple[str, ...]


@functools.cache
def _facts(file: Path, package: str | None, symbol: str = "") -> Facts:
    def read() -> list[Any]:
        whole = _read_statements(file, package)
        own = _closure(file, whole, symbol) if symbol else whole
        meaning = hashlib.sha256(b"\0".join(one.dumped for one in own))
        found = frozenset[str]().union(*(one.imports for one in own))
        names = {name for name in found if name.partition(".")[0] == PACKAGE}
        return [meaning.hexdigest(), sorted(names)]

    meaning, imports = noted(f"facts {digest(file)} {package} {symbol}", read)
    return Facts(meaning, tuple(imports))


@functools.cache
def module_file(name: str, root: Path = SOURCE_ROOT) -> Path | None:
    """File of a module, or None if there is none; nothing is imported."""
    base = root.joinpath(*name.split("."))
    for candidate in (base / "__init__.py", base.with_suffix(".py")):
        if candidate.is_file():
            return candidate
    return None


def _imports(statements: Iterable[ast.stmt], package: str | None) -> Iterator[str]:
    """Dotted names that statements may import, relative ones resolved against ``package``."""
    for node in statements:
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level and package is not None:
                anchor = package.split(".")
                anchor = anchor[: len(anchor) - node.level + 1]
                base = ".".join([*anchor, base] if base else anchor)
            yield base
            # "from featlearn.mrp import train" may name a module or a function: both are tried
            yield from (f"{base}.{alias.name}" for alias in node.names)
        for block in _blocks(node):
            yield from _imports(block, package)


def _modules(names: Iterable[str], root: Path) -> dict[str, Path]:
    """Those of the names that are modules of featlearn, and their parent packages."""
    found = {}
    for name in names:
        parts = name.split(".")
        for depth in range(1, len(parts) + 1) if parts[0] == PACKAGE else ():
            module = ".".join(parts[:depth])
            if module not in FRAME and (file := module_file(module, root)) is not None:
                found[module] = file
    return found


@functools.cache
def _imported(file: Path, package: str | None, root: Path) -> dict[str, Path]:
    return _modules(_facts(file, package).imports, root)


def _below(found: Mapping[str, Path], root: Path) -> dict[str, Path]:
    """Modules and all that they use, transitively."""
    known = dict(found)
    waiting = list(found.items())
    while waiting:
        module, file = waiting.pop()
        own = module if file.name == "__init__.py" else module.rpartition(".")[0]
        for other, path in _imported(file, own, root).items():
            if other not in known:
                known[other] = path
                waiting.append((other, path))
    return dict(sorted(known.items()))


def modules_of(script: str | os.PathLike[str], root: Path = SOURCE_ROOT) -> dict[str, Path]:
    """Every featlearn module that a file uses, transitively: dotted name to file.

    Parent packages count, for Python runs their ``__init__.py`` too; the frame does not.
    """
    return _below(_imported(Path(script), None, root), root)


def _bound(statement: ast.stmt) -> set[str]:
    """Names that a statement of a module binds; none where that takes more than a look."""
    if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        return {statement.name}
    if isinstance(statement, (ast.Import, ast.ImportFrom)):
        return {(alias.asname or alias.name).partition(".")[0] for alias in statement.names}
    if not isinstance(statement, (ast.Assign, ast.AnnAssign, ast.AugAssign)):
        return set()
    return {
        node.id
        for node in ast.walk(statement)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
    }


def _used(statement: ast.stmt) -> set[str]:
    return {node.id for node in ast.walk(statement) if isinstance(node, ast.Name)}


def _closure(file: Path, statements: Sequence[_Statement], symbol: str) -> list[_Statement]:
    """The statements of a module that one of its names depends on.

    A statement that binds no name (a loop, a call) may change any, so it always counts.
    """
    wanted = {symbol}
    taken: set[int] = set()
    if not any(symbol in one.bound for one in statements):
        raise FeatlearnError(f"{file}: no {symbol!r} is defined there")
    while True:
        more = {
            number
            for number, one in enumerate(statements)
            if number not in taken and (not one.bound or one.bound & wanted)
        }
        if not more:
            return [statements[number] for number in sorted(taken)]
        taken |= more
        wanted |= set().union(*(statements[number].used for number in more))


@functools.cache
def fingerprint(*roots: str, root: Path = SOURCE_ROOT) -> str:
    """Hash (16 hexadecimal digits) of what functions compute.

    Parameters
    ----------
    roots
        ``featlearn.mrp.experiments.headline:pretrain``: of this module only what the function
        uses, of the modules that it imports all. ``featlearn.core.report``: a whole module.

    Raises
    ------
    FeatlearnError
        If a module or a function is not there.
    """
    if root != SOURCE_ROOT:
        return _fingerprint(roots, root)
    return str(noted(f"print {of_sources()} {roots}", lambda: _fingerprint(roots, root)))


def _fingerprint(roots: tuple[str, ...], root: Path) -> str:
    total = hashlib.sha256(str(FRAME_VERSION).encode())
    found: dict[str, Path] = {}
    for name in roots:
        module, _, symbol = name.partition(":")
        file = module_file(module, root)
        if file is None:
            raise FeatlearnError(f"{module}: there is no such module below {root}")
        package = module if file.name == "__init__.py" else module.rpartition(".")[0]
        own = _facts(file, package, symbol)
        total.update(f"\0{name}\0{own.meaning}".encode())
        found |= _modules([module.rpartition(".")[0], *own.imports], root)
    for name, file in _below(found, root).items():
        package = name if file.name == "__init__.py" else name.rpartition(".")[0]
        total.update(f"\0{name}\0{_facts(file, package).meaning}".encode())
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
    return _read(record_path(results, artefact))


def _read(record: str | os.PathLike[str]) -> dict[str, Any] | None:
    try:
        with open(record, "rb") as file:
            content = json.loads(file.read())
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
    for path in map(Path, _files(results, links=True)):
        if is_shared(path) and path.is_file() and not record_path(results, path).exists():
            yield path


def _files(folder: str | os.PathLike[str], *, links: bool = False) -> Iterator[str]:
    """Paths of files, or only of links, below a folder; as fast as the system tells them."""
    with contextlib.suppress(FileNotFoundError), os.scandir(folder) as entries:
        for entry in entries:
            if entry.is_dir(follow_symlinks=False):
                yield from _files(entry.path, links=links)
            elif entry.is_symlink() or not links:
                yield entry.path


def records(results: Path) -> Iterator[tuple[Path, dict[str, Any] | None]]:
    """Each artefact that has a record, with the record, in the order of their names.

    None stands for a record that cannot be read.
    """
    folder = results / RECORDS
    for file in sorted(_files(folder)):
        if file.endswith(".json"):
            name = os.path.relpath(file, folder).removesuffix(".json")
            yield results / name, _read(file)


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


def damaged_artefacts(results: Path, *, thorough: bool = False) -> dict[Path, str]:
    """Artefacts whose bytes changed since they were written, each with what is wrong.

    So is one whose record cannot be read: nothing says what its bytes should be. A ``thorough``
    look hashes every file; see :func:`damage`.

    Snakemake touches what a job made, and copying changes times too: where the bytes are right and
    only the time is new, the record takes it over, so that no file is hashed at every start.
    """
    found = {}
    for artefact, record in records(results):
        if not artefact.is_file():
            continue
        if record is None:
            found[artefact] = "its record cannot be read"
        elif fault := damage(artefact, record, thorough=thorough):
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

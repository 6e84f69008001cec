"""What an artefact was made from, and whether it still is what was made.

The **fingerprint** of a function is a hash of what it computes: its module as far as it uses it,
and every featlearn module that these import, without comments, docstrings and the frame around a
job. It is a param of the rule, so that Snakemake re-runs exactly what an edit touches. The
**record** of an artefact, ``<results>/provenance/<artefact>.json``, has the digest of its bytes and
all that went into it; it lies beside it, so that identical results are identical files.
"""

from __future__ import annotations

import ast
import contextlib
import functools
import hashlib
import itertools
import json
import os
import re
import shutil
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from featlearn.core.errors import FeatlearnError
from featlearn.core.files import digest, write_atomically
from featlearn.core.run.notes import noted, of_sources

PACKAGE = "featlearn"
SOURCE_ROOT = Path(__file__).resolve().parents[3]
RECORDS = "provenance"
DAMAGED = ".damaged"
#: Names the folder in which Snakemake keeps what runs share; their records lie in it too.
SHARED = "SNAKEMAKE_OUTPUT_CACHE"
NOT_SHARED = "no run shared these bytes"


#: Modules around the computing: they decide when and where a job runs, not what stands in its
#: files. They enter a fingerprint by a number, raised by hand when one of them, a script, or what
#: only these use begins to change what is computed.
FRAME = frozenset(
    ["featlearn.core.errors"]
    + [f"featlearn.core.run.{file.stem}" for file in Path(__file__).parent.glob("[!_]*.py")]
)
FRAME_VERSION = 1
#: The version in the header of weights and in every fingerprint, whichever is released: a release
#: alone changes no bytes and makes nothing again.
FIXED_VERSION = "0.1.0"
TYPING = ("TYPE_CHECKING", "typing.TYPE_CHECKING")


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
        elif isinstance(one, ast.If) and ast.unparse(one.test) in TYPING:
            yield from _meaning(one.orelse)
        else:
            for block in _blocks(one):
                block[:] = _meaning(block)
            yield one


class _Statement(NamedTuple):
    """What a fingerprint needs of a statement of a module."""

    dumped: str
    imports: frozenset[str]
    #: Names that it binds at the module's level; none where that takes more than a look.
    bound: frozenset[str]


def _dumped(node: ast.AST) -> str:
    """A syntax tree as Python 3.11 writes it, so that fingerprints are those of any version."""
    full = {"show_empty": True} if sys.version_info >= (3, 13) else {}
    return ast.dump(node, **full).replace(", type_params=[]", "")


@functools.cache
def _read_statements(file: Path, package: str | None) -> tuple[_Statement, ...]:
    """The statements of a module that compute something; comments are none to begin with."""
    statements = []
    for one in _meaning(ast.parse(file.read_bytes(), filename=str(file)).body):
        dumped, bound = _dumped(one), list[str]()
        if isinstance(one, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            bound = [one.name]
        elif isinstance(one, (ast.Import, ast.ImportFrom)):
            bound = [(alias.asname or alias.name).partition(".")[0] for alias in one.names]
        elif isinstance(one, (ast.Assign, ast.AnnAssign, ast.AugAssign)):
            bound = re.findall(r"Name\(id='(\w+)', ctx=Store", dumped)
            if bound == ["__version__"]:
                dumped = re.sub(r"(?<=value=)'.*?'", repr(FIXED_VERSION), dumped)
        imports = frozenset(_imports([one], package))
        statements.append(_Statement(dumped, imports, frozenset(bound)))
    return tuple(statements)


@functools.cache
def _facts(file: Path, package: str | None, symbol: str = "") -> tuple[str, list[str]]:
    """SHA-256 of what a module, or one of its names, computes, and our names that it imports."""

    def read() -> list[Any]:
        whole = _read_statements(file, package)
        used = _closure(file, whole, symbol) if symbol else whole
        meaning = hashlib.sha256("\0".join(one.dumped for one in used).encode())
        names = frozenset[str]().union(*(one.imports for one in used))
        ours = sorted(name for name in names if name.partition(".")[0] == PACKAGE)
        return [meaning.hexdigest(), ours]

    meaning, imports = noted(f"facts {digest(file)} {package} {symbol}", read)
    return meaning, imports


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
    modules = {}
    for name in names:
        parts = name.split(".")
        for depth in range(1, len(parts) + 1) if parts[0] == PACKAGE else ():
            module = ".".join(parts[:depth])
            if module not in FRAME and (file := module_file(module, root)) is not None:
                modules[module] = file
    return modules


@functools.cache
def _imported(file: Path, package: str | None, root: Path) -> dict[str, Path]:
    return _modules(_facts(file, package)[1], root)


def _package(module: str, file: Path) -> str:
    """What relative imports of a module start from."""
    return module if file.name == "__init__.py" else module.rpartition(".")[0]


def _below(modules: Mapping[str, Path], root: Path) -> dict[str, Path]:
    """Modules and all that they use, transitively."""
    known = dict(modules)
    waiting = list(modules.items())
    while waiting:
        module, file = waiting.pop()
        for other, path in _imported(file, _package(module, file), root).items():
            if other not in known:
                known[other] = path
                waiting.append((other, path))
    return dict(sorted(known.items()))


def _closure(file: Path, statements: Sequence[_Statement], symbol: str) -> list[_Statement]:
    """The statements of a module that a name depends on; one that binds no name always counts."""
    wanted, taken = {symbol}, set[int]()
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
        for number in more:
            wanted.update(re.findall(r"Name\(id='(\w+)'", statements[number].dumped))


@functools.cache
def fingerprint(*roots: str, root: Path = SOURCE_ROOT) -> str:
    """Hash (16 hexadecimal digits) of what functions compute.

    ``roots``: ``<module>:<function>``: of this module what the function uses, of those that it
    imports all; or a whole ``<module>``. Raises FeatlearnError if one is not there.
    """
    if root != SOURCE_ROOT:
        return _fingerprint(roots, root)
    return str(noted(f"fingerprint {of_sources()} {roots}", lambda: _fingerprint(roots, root)))


def _fingerprint(roots: tuple[str, ...], root: Path) -> str:
    total = hashlib.sha256(str(FRAME_VERSION).encode())
    modules: dict[str, Path] = {}
    for name in roots:
        module, _, symbol = name.partition(":")
        file = module_file(module, root)
        if file is None:
            raise FeatlearnError(f"{module}: there is no such module below {root}")
        meaning, imports = _facts(file, _package(module, file), symbol)
        total.update(f"\0{name}\0{meaning}".encode())
        modules |= _modules([module.rpartition(".")[0], *imports], root)
    for name, file in _below(modules, root).items():
        total.update(f"\0{name}\0{_facts(file, _package(name, file))[0]}".encode())
    return total.hexdigest()[:16]


#: What this job read of data sets, by name; stands in the records of its files.
READ: dict[str, dict[str, Any]] = {}


def note_read(what: str, kind: str, images: int, sha256: str) -> None:
    """Put a data set, or a part of one, on the record, with the digest of its decoded pixels."""
    READ[what] = {"kind": kind, "images": images, "sha256": sha256}


def record_path(results: Path, artefact: Path) -> Path:
    """Where the record of ``artefact`` (a path below ``results``) lies."""
    return results / RECORDS / f"{artefact.relative_to(results)}.json"


def write_record(results: Path, artefact: Path, content: dict[str, Any]) -> None:
    """Write the record of one artefact, whole or not at all."""
    _written(content, record_path(results, artefact))


def read_record(results: Path, artefact: Path) -> dict[str, Any] | None:
    """The record of ``artefact``, or None if there is none that can be read."""
    return _read(record_path(results, artefact))


def _written(content: dict[str, Any], path: Path) -> None:
    text = json.dumps(content, indent=1, sort_keys=True, default=str)
    write_atomically(path, (text + "\n").encode())


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
        _written(content, Path(folder) / RECORDS / f"{content['sha256']}.json")


def is_shared(artefact: Path) -> bool:
    """Whether an artefact is a link to what runs share (Snakemake made the link)."""
    return artefact.is_symlink() and (artefact.resolve().parent / RECORDS).is_dir()


def adopt(results: Path, artefact: Path) -> dict[str, Any] | None:
    """Take over the record of an artefact that another run shared; None if no job wrote it."""
    file = artefact.resolve()
    content = _read(file.parent / RECORDS / f"{digest(file)}.json")
    if content is None:
        return None
    content |= {"artefact": str(artefact.relative_to(results)), "mtime_ns": file.stat().st_mtime_ns}
    write_record(results, artefact, content)
    return content


def lineage(results: Path, artefacts: Iterable[Path]) -> dict[Path, dict[str, Any]]:
    """Records of ``artefacts`` and of all that they were made from, makers first, and no others."""
    found: dict[Path, dict[str, Any]] = {}
    visited: set[Path] = set()

    def visit(artefact: Path) -> None:
        if artefact in visited or not artefact.is_relative_to(results):
            return
        visited.add(artefact)
        record = read_record(results, artefact)
        if record is not None:
            for source in sorted(record.get("inputs", {})):
                visit(Path(source))
            found[artefact] = record

    for artefact in artefacts:
        visit(artefact)
    return found


def _files(folder: str | os.PathLike[str], *, links: bool = False) -> Iterator[str]:
    """Paths of files, or only of links, below a folder; as fast as the system tells them."""
    with contextlib.suppress(FileNotFoundError), os.scandir(folder) as entries:
        for entry in entries:
            if entry.is_dir(follow_symlinks=False):
                yield from _files(entry.path, links=links)
            elif entry.is_symlink() or not links:
                yield entry.path


def records(results: Path) -> Iterator[tuple[Path, dict[str, Any] | None]]:
    """Each artefact with its record (None if unreadable), in the order of names."""
    folder = results / RECORDS
    for file in sorted(_files(folder)):
        if file.endswith(".json"):
            name = os.path.relpath(file, folder).removesuffix(".json")
            yield results / name, _read(file)


def damage(artefact: Path, record: dict[str, Any], *, thorough: bool) -> str | None:
    """What is wrong with the bytes, or None; if not ``thorough``, size and time vouch for them."""
    status = artefact.stat()
    if status.st_size != record.get("bytes"):
        return f"{status.st_size} bytes, {record.get('bytes')} were written"
    if not thorough and status.st_mtime_ns == record.get("mtime_ns"):
        return None
    actual = digest(artefact)
    if actual != record.get("sha256"):
        return f"its SHA-256 is {actual[:12]}..., {str(record.get('sha256'))[:12]}... was written"
    return None


def damaged_artefacts(results: Path, *, thorough: bool = False) -> dict[Path, str]:
    """Artefacts with changed bytes or no readable record, and the fault; copies are noted."""
    damaged = {}
    for artefact, record in records(results):
        if not artefact.is_file():
            continue
        if record is None:
            damaged[artefact] = "its record cannot be read"
        elif fault := damage(artefact, record, thorough=thorough):
            damaged[artefact] = fault
        elif (changed := artefact.stat().st_mtime_ns) != record.get("mtime_ns"):
            write_record(results, artefact, {**record, "mtime_ns": changed})
    for artefact in map(Path, _files(results, links=True)):
        new = is_shared(artefact) and not record_path(results, artefact).exists()
        if new and artefact.is_file() and adopt(results, artefact) is None:
            damaged[artefact] = NOT_SHARED
    return damaged


def set_aside(results: Path, artefact: Path) -> Path:
    """Move a damaged artefact out of the way (nothing is deleted) so that it is made again."""
    first = results / DAMAGED / artefact.relative_to(results)
    first.parent.mkdir(parents=True, exist_ok=True)
    others = (first.with_name(f"{first.name}.{number}") for number in itertools.count(2))
    target = next(one for one in itertools.chain([first], others) if not one.exists())
    # shared files are links: the file itself has to go, or every run would get it again
    shutil.move(artefact.resolve(), target)
    artefact.unlink(missing_ok=True)
    record_path(results, artefact).unlink(missing_ok=True)
    return target

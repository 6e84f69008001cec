"""What a paper shows: functions marked ``@figure`` or ``@table``, found without importing them.

A figure is a function of tidy frames: **parameters** name those that the experiment gives
(``config`` is its section of the config), the **docstring** is title and caption (Markdown, see
:mod:`featlearn.core.publishing.captions`). A table returns a :class:`Table`. Marks stack: each is
an exhibit of the same function, told apart by keywords, which the function gets and the caption has
for ``{{ name }}``. The plan reads marks with :mod:`ast`; at run time they do nothing.
docs/adding-a-paper.md has examples.
"""

from __future__ import annotations

import ast
import functools
import hashlib
import re
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from featlearn.core.errors import FeatlearnError
from featlearn.core.run.notes import by_sources
from featlearn.core.run.provenance import module_file

if TYPE_CHECKING:
    import pandas as pd

KINDS = ("figure", "table")
#: Name of the modules that hold figures, tables and claims of an experiment.
ANALYSIS = "analysis"
#: Parameter of an exhibit that is no frame: the experiment's section of the config.
CONFIG = "config"
#: The package that holds the papers, and where it lies.
PACKAGE = Path(__file__).resolve().parents[2]

Function = TypeVar("Function", bound=Callable[..., Any])
#: What the parameter ``config`` gets, and ``paper_values``: printed tables by name.
Config = Mapping[str, Any]
PaperValues = Mapping[str, Any]


class Table(NamedTuple):
    """A table for Parquet and for a reader; ``notes`` that are left out tell the replicates."""

    frame: pd.DataFrame
    shown: pd.DataFrame
    notes: str | None = None


def figure(
    name: str | None = None, *, contains: str = "", **fixed: Any
) -> Callable[[Function], Function]:
    """Mark a function that draws.

    ``name``: as in ``figures/<name>.svg``; left out, that of the function with dashes.
    ``contains``: ``drawn``, ``stand-in``, ``quoted`` ...; left out, what the rules say of the
    experiment. ``**fixed``: literals that the function gets as keywords, the caption as words.
    """
    return lambda function: function


#: Mark a function that returns a :class:`Table`, likewise.
table = figure


@dataclass(frozen=True)
class Exhibit:
    """One figure or table; ``frames``: parameters of its function that the mark does not fill."""

    paper: str
    kind: str
    name: str
    module: str
    function: str
    frames: tuple[str, ...]
    caption: str = field(repr=False)
    contains: str = ""
    fixed: Mapping[str, Any] = field(default_factory=dict)

    @property
    def title(self) -> str:
        return self.rendered_caption.partition("\n")[0]

    @property
    def rendered_caption(self) -> str:
        """The caption with the literals of the mark for ``{{ word }}``, and with ``{{ name }}``."""
        text = self.caption
        for name, value in (*self.fixed.items(), ("name", self.name)):
            text = text.replace(f"{{{{ {name} }}}}", str(value))
        return text

    @property
    def page(self) -> str:
        """The caption as a Markdown page."""
        return _as_page(self.rendered_caption)

    @property
    def code(self) -> str:
        return f"{self.module}:{self.function}"


def part(paper: str, experiment: str) -> str | None:
    """``analysis/<experiment>.py`` of a paper as a module, or a paper's ``analysis.py``."""
    module = f"{PACKAGE.name}.{paper}.{ANALYSIS}"
    if module_file(f"{module}.{experiment}") is not None:
        return f"{module}.{experiment}"
    return module if (PACKAGE / paper / f"{ANALYSIS}.py").is_file() else None


@by_sources
def claims_of(paper: str, experiment: str) -> list[str]:
    """What declares an experiment's claims: classes, as ``module:class``."""
    module = part(paper, experiment)
    return [
        f"{module}:{node.name}"
        for node in (_parsed(module).body if module else ())
        # whose statement ``paper = ...`` or ``paper, kind = ...`` declares them
        if isinstance(node, ast.ClassDef)
        and any(
            isinstance(one, ast.Assign) and re.match(r"[^=]*\bpaper\b[^=]*=", ast.unparse(one))
            for one in node.body
        )
    ]


@by_sources
def texts_of(claims: Sequence[str]) -> str:
    """Digest of the docstrings of claims (:func:`claims_of`), which no fingerprint has."""
    texts = [
        ast.get_docstring(node) or ""
        for module in sorted({one.partition(":")[0] for one in claims})
        for group in _parsed(module).body
        if isinstance(group, ast.ClassDef)
        for node in group.body
        if isinstance(node, ast.FunctionDef)
    ]
    return hashlib.sha256("\n".join(texts).encode()).hexdigest()[:16]


@functools.cache
def _parsed(module: str) -> ast.Module:
    file = module_file(module)
    return ast.parse(file.read_bytes() if file else b"", filename=str(file))


def exhibits(paper: str, experiment: str) -> list[Exhibit]:
    """Figures and tables of an experiment (:func:`part`); FeatlearnError naming a wrong mark."""
    return [
        Exhibit(**{**one, "frames": tuple(one["frames"])}) for one in _exhibits(paper, experiment)
    ]


@by_sources
def _exhibits(paper: str, experiment: str) -> list[dict[str, Any]]:
    module = part(paper, experiment)
    if module is None:
        return []
    functions = [node for node in _parsed(module).body if isinstance(node, ast.FunctionDef)]
    names = [one.name for one in functions]
    # a figure and a table of one name would be one function: the later
    if twice := [name for name in names if names.count(name) > 1]:
        raise FeatlearnError(f"{module}: {twice[0]} is defined twice")
    shown = [one for kind in KINDS for node in functions for one in _of(paper, kind, module, node)]
    return [vars(one) | {"frames": [*one.frames]} for one in shown]


def exhibit(paper: str, kind: str, name: str, code: str) -> Exhibit:
    """An exhibit whose rule is written by hand: ``code`` is ``module:function``."""
    module, _, function = code.partition(":")
    return Exhibit(paper, kind, name, module, function, (), caption_of(code))


@by_sources
def caption_of(code: str) -> str:
    """The docstring of ``module:function``; an error names a function without one."""
    module, _, function = code.partition(":")
    for node in _parsed(module).body:
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)) and node.name == function:
            return _caption(module, node)
    raise FeatlearnError(f"{code}: there is no such function; expected featlearn.<module>:<name>")


@by_sources
def story(paper: str) -> str:
    """The story of a paper for the report: the docstring of its package, as a Markdown page."""
    text = ast.get_docstring(_parsed(f"{PACKAGE.name}.{paper}"))
    if not text:
        raise FeatlearnError(f"{PACKAGE / paper / '__init__.py'}: expected a docstring, the story")
    return _as_page(text)


def _as_page(text: str) -> str:
    title, _, body = text.partition("\n")
    return f"# {title}\n{body}\n"


def _caption(module: str, node: ast.FunctionDef | ast.ClassDef) -> str:
    if text := ast.get_docstring(node):
        return text
    raise FeatlearnError(f"{module}:{node.name}: no docstring; expected title and caption")


def _of(paper: str, kind: str, module: str, node: ast.FunctionDef) -> Iterator[Exhibit]:
    # the mark next to the function is its first exhibit, as the decorators are applied
    for mark in reversed(node.decorator_list):
        named = mark.func if isinstance(mark, ast.Call) else mark
        if not (isinstance(named, ast.Name) and named.id == kind):
            continue
        where = f"{module}:{node.name}"
        if not isinstance(mark, ast.Call):
            raise FeatlearnError(f"{where}: marked @{kind}; expected @{kind}(...)")
        try:
            given = {str(word.arg): ast.literal_eval(word.value) for word in mark.keywords}
            names = [ast.literal_eval(value) for value in mark.args] or [given.pop("name", None)]
        except ValueError as error:
            told = f"{where}: a mark holds what is no literal: {ast.unparse(mark)}"
            raise FeatlearnError(told) from error
        contains = given.pop("contains", "")
        arguments = [arg.arg for arg in (*node.args.args, *node.args.kwonlyargs)]
        if unknown := [word for word in given if word not in arguments]:
            raise FeatlearnError(f"{where}: marked with {unknown[0]!r}, which is no parameter")
        frames = tuple(name for name in arguments if name not in given)
        name = names[0] or node.name.replace("_", "-")
        caption = _caption(module, node)
        yield Exhibit(paper, kind, name, module, node.name, frames, caption, contains, given)


# Ids of claims that captions, stories and findings quote, read off decorators while a plan is made.
# ``{word}`` in the id of a family stands for a string of its module; classes that override ``made``
# may put the name of a data set first.

CLAIM = re.compile(r"""\b(?:verdict|said)\(\s*["']([^"']+)["']""")
TABLE = re.compile(r"""\bvalue\(\s*["']([^"'/]+)["']""")


def _ids(tree: ast.Module) -> Iterator[str]:
    """Ids of the claims of a module as they are spelled, without the paper."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef):
            for mark in node.decorator_list:
                if isinstance(mark, ast.Call) and ast.unparse(mark.func) == "claim":
                    given = {word.arg: ast.literal_eval(word.value)
                             for word in mark.keywords if word.arg == "id"}  # fmt: skip
                    yield given.get("id", node.name.replace("_", "-"))


def _pattern(file: Path) -> str:
    """A regular expression for the ids of a module."""
    tree = ast.parse(file.read_bytes(), filename=str(file))
    nodes = [*ast.walk(tree)]
    strings = {str(node.value) for node in nodes if isinstance(node, ast.Constant)}
    words = "|".join(word for word in strings if re.fullmatch(r"[\w.-]+", word))
    prefix = any(isinstance(node, ast.FunctionDef) and node.name == "made" for node in nodes)
    ids = "|".join(re.sub(r"\\\{\w+\\\}", f"(?:{words})", re.escape(id)) for id in _ids(tree))
    return (r"(?:[\w.-]+-)?" if prefix else "") + f"(?:{ids})" if ids else ""


@functools.cache
def _known(paper: str) -> re.Pattern[str]:
    room = PACKAGE / paper
    files = sorted((*room.glob("analysis.py"), *room.glob("analysis/**/*.py")))
    return re.compile("|".join(filter(None, map(_pattern, files))) or "(?!)")


def is_known(claim: str) -> bool:
    """Whether the paper of ``<paper>/<name>`` declares such a claim."""
    paper, _, name = claim.partition("/")
    return _known(paper).fullmatch(name) is not None


def refuse_unknown(texts: Iterable[tuple[str, str, str]], tables: Container[str]) -> None:
    """Refuse texts, with place and paper, that quote no known claim, or none of the tables."""
    lines = []
    for place, paper, text in texts:
        lines += [
            f"{place}: asks for the claim {claim}, which no claims module of its paper declares"
            for claim in CLAIM.findall(text)
            if not is_known(claim)
        ]
        lines += [
            f"{place}: quotes the table {paper}/{name}, which no rule makes"
            for name in TABLE.findall(text)
            if f"{paper}/{name}" not in tables
        ]
    _refuse(lines)


def refuse_unknown_findings(entries: Sequence[Mapping[str, Any]], papers: Iterable[str]) -> None:
    """The same of the claims that findings rest on, of these papers."""
    chosen = {*papers}
    _refuse(
        f"finding {entry['id']}: no claims module declares {entry['claim']}"
        for entry in entries
        if entry["claim"].partition("/")[0] in chosen and not is_known(entry["claim"])
    )


def _refuse(lines: Iterable[str]) -> None:
    if text := "\n".join(lines):
        raise FeatlearnError(text)

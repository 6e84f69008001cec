"""What a paper shows: functions marked ``@figure`` or ``@table``, found without importing them.

A figure is a function of tidy frames::

    @figure("fig-7")
    def growth(histories: pd.DataFrame, config: dict) -> Figure:
        '''Figure 7: growth

        One line an arm. {{ value("moments", quantity="share") | percent }} of them ...
        '''

Its **parameters** name the frames that the experiment gives (``config`` is the experiment's section
of the config), its **docstring** is title and caption (Markdown, see :mod:`featlearn.core.prose`).
A table returns a :class:`Table`. Marks stack: each further one is one more exhibit of the same
function, told apart by further keywords, which the function gets::

    @figure("fig-c1", k=3)
    @figure("fig-c2", k=4)
    def margins(history: pd.DataFrame, k: int) -> Figure:
        '''Margins for k = {{ k }} ...'''

The plan reads the marks with :mod:`ast` (:func:`exhibits`), so that it imports nothing heavy; at
run time they do nothing.
"""

from __future__ import annotations

import ast
import functools
import inspect
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from featlearn.core.errors import FeatlearnError
from featlearn.core.notes import noted, of_sources
from featlearn.core.provenance import module_file

if TYPE_CHECKING:
    import pandas as pd

KINDS = ("figure", "table")
#: Parameter of an exhibit that is no frame: the experiment's section of the config.
CONFIG = "config"
#: The package that holds the papers, and where it lies.
PACKAGE = Path(__file__).resolve().parents[1]

Function = TypeVar("Function", bound=Callable[..., Any])
#: What the parameter ``config`` gets.
Config = Mapping[str, Any]


class Table(NamedTuple):
    """A table: what goes into Parquet, what a reader sees, and the line below it.

    ``notes`` that are left out tell the number of replicates, if ``frame`` has such a column, and
    what stands after the sign.
    """

    frame: pd.DataFrame
    shown: pd.DataFrame
    notes: str | None = None


def figure(
    name: str | None = None, *, contains: str = "", **fixed: Any
) -> Callable[[Function], Function]:
    """Mark a function that draws.

    Parameters
    ----------
    name
        As in ``figures/<name>.svg``; left out, the name of the function with dashes.
    contains
        What the catalogue makes its status of: ``drawn``, ``stand-in``, ``quoted`` ...; left out,
        what the rules say of the experiment.
    **fixed
        Literals that the function gets as keywords, and the caption as words.
    """
    return lambda function: function


def table(
    name: str | None = None, *, contains: str = "", **fixed: Any
) -> Callable[[Function], Function]:
    """Mark a function that returns a :class:`Table`; see :func:`figure`."""
    return lambda function: function


@dataclass(frozen=True)
class Exhibit:
    """One figure or table, as its mark declares it.

    Attributes
    ----------
    frames
        The parameters of the function that no keyword of the mark fills.
    caption
        Title, an empty line, Markdown.
    """

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
        return self.told.partition("\n")[0]

    @property
    def told(self) -> str:
        """The caption with the literals of the mark for ``{{ name }}``."""
        text = self.caption
        for name, value in self.fixed.items():
            text = text.replace(f"{{{{ {name} }}}}", str(value))
        return text

    @property
    def page(self) -> str:
        """The caption as a Markdown page."""
        title, _, body = self.told.partition("\n")
        return f"# {title}\n{body}\n"

    @property
    def code(self) -> str:
        return f"{self.module}:{self.function}"


def part(paper: str, kind: str, experiment: str) -> str | None:
    """Module with an experiment's ``figures``, ``tables`` or ``claims``, if it has any.

    That is ``<paper>/<kind>/<experiment>.py``; of a paper of one experiment ``<paper>/<kind>.py``.
    """
    module = f"{PACKAGE.name}.{paper}.{kind}"
    if module_file(f"{module}.{experiment}") is not None:
        return f"{module}.{experiment}"
    return module if (PACKAGE / paper / f"{kind}.py").is_file() else None


@functools.cache
def _parsed(file: Path) -> ast.Module:
    return ast.parse(file.read_bytes(), filename=str(file))


def exhibits(paper: str, experiment: str) -> list[Exhibit]:
    """Figures and tables of an experiment; see :func:`part`.

    Raises
    ------
    FeatlearnError
        Naming the function, if one has no docstring or a mark cannot be read.
    """
    found = noted(
        f"exhibits {of_sources()} {paper} {experiment}",
        lambda: [vars(one) | {"frames": [*one.frames]} for one in _exhibits(paper, experiment)],
    )
    return [Exhibit(**{**one, "frames": tuple(one["frames"])}) for one in found]


def _exhibits(paper: str, experiment: str) -> list[Exhibit]:
    found: list[Exhibit] = []
    for kind in KINDS:
        module = part(paper, f"{kind}s", experiment)
        if module and (file := module_file(module)):
            for node in _parsed(file).body:
                if isinstance(node, ast.FunctionDef):
                    found += _of(paper, kind, module, node)
    return found


def exhibit(paper: str, kind: str, name: str, code: str, contains: str = "") -> Exhibit:
    """An exhibit whose rule is written by hand: ``code`` is ``module:function``."""
    module, _, function = code.partition(":")
    return Exhibit(paper, kind, name, module, function, (), caption_of(code), contains)


def caption_of(code: str) -> str:
    """The docstring of ``module:function``; an error names a function without one."""
    return str(noted(f"caption {of_sources()} {code}", lambda: _caption_of(code)))


def _caption_of(code: str) -> str:
    module, _, function = code.partition(":")
    file = module_file(module)
    for node in _parsed(file).body if file else ():
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)) and node.name == function:
            return _caption(module, node)
    raise FeatlearnError(f"{code}: there is no such function; expected featlearn.<module>:<name>")


def story(paper: str) -> str:
    """The story of a paper for the report: the docstring of its package, as a Markdown page."""
    return str(noted(f"story {of_sources()} {paper}", lambda: _story(paper)))


def _story(paper: str) -> str:
    file = PACKAGE / paper / "__init__.py"
    text = ast.get_docstring(_parsed(file)) if file.is_file() else None
    if not text:
        raise FeatlearnError(f"{file}: expected a docstring: the paper's story for the report")
    title, _, body = text.partition("\n")
    return f"# {title}\n{body}\n"


def _caption(module: str, node: ast.FunctionDef | ast.ClassDef) -> str:
    text = ast.get_docstring(node)
    if not text or not text.strip():
        raise FeatlearnError(f"{module}:{node.name}: no docstring; expected title and caption")
    return inspect.cleandoc(text)


def _of(paper: str, kind: str, module: str, node: ast.FunctionDef) -> Iterator[Exhibit]:
    # the mark next to the function is its first exhibit, as the decorators are applied
    for mark in reversed(node.decorator_list):
        named = mark.func if isinstance(mark, ast.Call) else mark
        if not (isinstance(named, ast.Name) and named.id in KINDS):
            continue
        where = f"{module}:{node.name}"
        if named.id != kind or not isinstance(mark, ast.Call):
            raise FeatlearnError(f"{where}: marked @{named.id}; expected @{kind}(...) in this file")
        try:
            given = {str(word.arg): ast.literal_eval(word.value) for word in mark.keywords}
            names = [ast.literal_eval(value) for value in mark.args] or [given.pop("name", None)]
        except ValueError as error:
            raise FeatlearnError(
                f"{where}: a mark holds what is no literal: {ast.unparse(mark)}"
            ) from error
        contains = given.pop("contains", "")
        arguments = [arg.arg for arg in (*node.args.args, *node.args.kwonlyargs)]
        if unknown := [word for word in given if word not in arguments]:
            raise FeatlearnError(f"{where}: marked with {unknown[0]!r}, which is no parameter")
        frames = tuple(name for name in arguments if name not in given)
        name = names[0] or node.name.replace("_", "-")
        caption = _caption(module, node)
        yield Exhibit(paper, kind, name, module, node.name, frames, caption, contains, given)

"""A claim as a method: its docstring states it, its decorator bounds it, its body measures it.

The first paragraph is the statement, the rest the reason of the band; the method returns one number
a replicate. ``self.<frame>`` is a frame of the experiment, ``self.config`` the paper's section. The
id is ``<paper>/<name of the method, with dashes>``. With ``each`` the method is a family, a claim
for each group of words: they fill ``{word}`` in the id and all texts, count as fields of
:class:`~featlearn.core.evidence.claims.Claim`, and go to the method's parameters. What a theorem
assumes is a :func:`premise`: its docstring is the assumption, and it returns the number of the run
and the one that is needed; ``premises=("few_kernels",)`` names it. In the same way
``baselines="others"`` names a method that gives by name what the number is compared with.
docs/adding-a-paper.md has examples.
"""

from __future__ import annotations

import inspect
import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import fields
from functools import partial
from typing import Any, ClassVar, TypeVar

from featlearn.core.evidence.claims import Claim, Premise

#: What a class, a decorator or a member of a family may say of a claim.
FIELDS = {field.name for field in fields(Claim)} - {"claim", "statement", "reason", "measure"}
#: A word in a text that a family fills in.
WORD = re.compile(r"\{(\w+)\}")

Method = TypeVar("Method", bound=Callable[..., Any])


def claim(
    source: str,
    quantity: str,
    *,
    id: str = "",
    each: Iterable[Mapping[str, Any]] = ({},),
    **given: Any,
) -> Callable[[Method], Method]:
    """Declare a method of :class:`Claims` as a claim.

    ``source``, ``quantity``, ``**given``: fields of :class:`~featlearn.core.evidence.claims.Claim`.
    ``id``: behind ``<paper>/``, where it is not the method's name. ``each``: words of each claim of
    a family. A band without ``low`` or ``high`` has no end there; an end that depends on a setting
    is a function of the paper's section of the config.
    """

    def mark(method: Method) -> Method:
        own = {"source": source, "quantity": quantity, **given}
        name = id or method.__name__.replace("_", "-")
        method.declared = name, [own | dict(one) for one in each]  # type: ignore[attr-defined]
        return method

    return mark


def premise(relation: str) -> Callable[[Method], Method]:
    """Declare a method of :class:`Claims` as a :class:`~featlearn.core.evidence.claims.Premise`."""

    def mark(method: Method) -> Method:
        method.relation = relation  # type: ignore[attr-defined]
        return method

    return mark


class Claims:
    """Claims of an experiment, in the order of their methods; inherited ones first.

    A subclass that names its ``paper`` declares them; one without is a base for others. A field of
    all claims is an attribute of the class (``out_of_reach`` also a method of the config); what a
    decorator says wins, but ``changed`` is put together. ``prefix``: of each id behind
    ``<paper>/``. ``**words``: fill ``{word}`` in all texts.
    """

    paper: ClassVar[str] = ""
    frames: Mapping[str, Any]

    def __init__(self, config: Mapping[str, Any], prefix: str = "", **words: Any):
        self.config, self.prefix, self.words = config, prefix, words

    @classmethod
    def made(cls, config: Mapping[str, Any]) -> Sequence[Claims]:
        """One group of claims; a subclass may give several, as one a data set of the config."""
        return (cls(config),)

    def __getattr__(self, frame: str) -> Any:
        # while a claim is measured; a method of dunder name is none
        frames = self.__dict__.get("frames")
        if frames is None or frame.startswith("_"):
            raise AttributeError(f"{type(self).__name__} has no {frame!r}")
        return frames[frame]

    def __iter__(self) -> Iterator[Claim]:
        found: dict[str, Any] = {}
        for kind in reversed(type(self).__mro__):
            found |= {name: one for name, one in vars(kind).items() if hasattr(one, "declared")}
        for method in found.values():
            name, family = method.declared
            for given in family:
                yield self._claim(method, name, given)

    def _claim(self, method: Any, name: str, given: Mapping[str, Any]) -> Claim:
        words = {**self.words, **given}
        taken = {key: given[key] for key in inspect.signature(method).parameters if key in given}
        said: dict[str, Any] = {"low": -math.inf, "high": math.inf}
        for key in FIELDS:
            if key in given or hasattr(type(self), key) or key in self.__dict__:
                said[key] = given[key] if key in given else self._own(key)
        said |= {end: said[end](self.config) for end in ("low", "high") if callable(said[end])}
        said["premises"] = tuple(map(partial(self._premise, words), said.get("premises", ())))
        if others := said.get("baselines"):
            said["baselines"] = partial(self._read, getattr(type(self), others))
        said["changed"] = f"{getattr(self, 'changed', '')} {given.get('changed', '')}"
        statement, _, reason = (inspect.getdoc(method) or "").partition("\n\n")
        if not statement:
            raise ValueError(f"{type(self).__name__}.{method.__name__}: must have a docstring")
        said |= {"statement": statement, "reason": reason}
        texts = {key: filled(text, words) for key, text in said.items() if isinstance(text, str)}
        name = filled(f"{self.paper}/{self.prefix}{name}", words)
        return Claim(name, measure=partial(self._read, method, **taken), **said | texts)

    def _read(self, method: Any, frames: Mapping[str, Any], **taken: Any) -> Any:
        """What a method gives of these frames."""
        self.frames = frames
        return method(self, **taken)

    def _premise(self, words: Mapping[str, Any], name: str) -> Premise:
        method: Any = getattr(type(self), name, None)
        if not hasattr(method, "relation"):
            raise ValueError(
                f"{type(self).__name__}: premises must name methods with @premise, got {name!r}"
            )
        text = filled(inspect.getdoc(method) or "", words)
        return Premise(text, method.relation, partial(self._read, method))

    def _own(self, field: str) -> Any:
        """A field as the class has it; a function of the config alone is no method."""
        raw = inspect.getattr_static(self, field)
        if inspect.isfunction(raw) and len(inspect.signature(raw).parameters) == 1:
            return raw
        return getattr(self, field)


def filled(text: str, words: Mapping[str, Any]) -> str:
    """A text on one line, its ``{word}`` filled in where the word is known."""
    text = WORD.sub(lambda word: str(words.get(word[1], word[0])), text)
    return " ".join(text.split())


def of_module(module: Any, config: Mapping[str, Any]) -> list[Claim]:
    """The claims of the classes that a module defines, in their order."""
    return [
        one
        for kind in vars(module).values()
        if isinstance(kind, type) and issubclass(kind, Claims) and kind.paper
        if kind.__module__ == module.__name__
        for group in kind.made(config)
        for one in group
    ]

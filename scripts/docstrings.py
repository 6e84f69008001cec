"""What mkdocstrings reads of the library: comments ``#:``, and links such as :func:`link`."""

from __future__ import annotations

import re
from functools import partial
from typing import Any

import griffe

#: A link to an object by its name.
ROLE = re.compile(r":(?:attr|class|data|func|meth|mod):`([^`]+)`")
#: A comment that documents the attribute before it.
COMMENT = re.compile(r"#: ?(.*)")


class House(griffe.Extension):
    """Docstrings as this project writes them."""

    def on_attribute_instance(self, *, attr: griffe.Attribute, **_: Any) -> None:
        """A comment behind an attribute documents it, else the comments above."""
        if attr.docstring or attr.lineno is None or attr.endlineno is None:
            return
        lines = attr.lines_collection[attr.filepath]
        said = [
            line[1] for line in map(COMMENT.search, lines[attr.lineno - 1 : attr.endlineno]) if line
        ]
        if not said:
            first = last = attr.lineno - 1
            while first and lines[first - 1].lstrip().startswith("#:"):
                first -= 1
            said = [line.lstrip(" #:") for line in lines[first:last]]
        if said:
            attr.docstring = griffe.Docstring("\n".join(said), parent=attr)

    def on_package(self, *, pkg: griffe.Module, **_: Any) -> None:
        """Links, once all names are known."""
        todo: list[griffe.Object | griffe.Alias] = [pkg]
        while todo:
            one = todo.pop()
            todo += [member for member in one.members.values() if not member.is_alias]
            if one.docstring:
                one.docstring.value = ROLE.sub(partial(link, one), one.docstring.value)


def link(seen_from: griffe.Object, role: re.Match[str]) -> str:
    """A link where a page has the object, else its name."""
    name = role[1].lstrip("~.")
    try:
        target = seen_from.resolve(name)
    except griffe.NameResolutionError:
        target = name
    return f'<autoref optional identifier="{target}"><code>{name}</code></autoref>'

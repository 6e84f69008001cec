"""Write the tables of docs/keys/<section>.md from the schemas; docs/configuration.md lists them.

python scripts/configuration_page.py            writes
python scripts/configuration_page.py --check    fails if a page is behind
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Mapping
from itertools import chain
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "src"))

from featlearn.core.run.config import read_schema, resolve

PAGE, KEYS = ROOT / "docs" / "configuration.md", ROOT / "docs" / "keys"
#: Between these lines are the tables of a section; what is around them is written by hand.
BEGIN, END = "<!-- keys: made from the schema -->\n", "<!-- end of keys -->\n"
#: The sections on the page, in the order in which groups are described.
LISTED = re.compile(r"^- \[`(\w+)`\]\(keys/\w+\.md\)\n", re.MULTILINE)
HEAD = ("| key | meaning | value | default |", "|:--|:--|:--|:--|")
WORDS = {
    "integer": "whole number", "number": "number", "string": "text", "boolean": "true or false",
    "array": "list", "object": "group", "null": "nothing",
}  # fmt: skip
LIMITS = {
    "minimum": "at least", "exclusiveMinimum": "more than", "maximum": "at most",
    "exclusiveMaximum": "less than",
}  # fmt: skip


def resolved(node: Mapping[str, Any], schema: Mapping[str, Any]) -> Mapping[str, Any]:
    """The node with what its ``$ref`` points at, and a group's default at each of its keys."""
    node = resolve(node, schema)
    default, keys = node.get("default"), node.get("properties")
    if not (keys and isinstance(default, Mapping) and default.keys() <= keys.keys()):
        return node
    given = {name: {**keys[name], "default": value} for name, value in default.items()}
    return {key: value for key, value in node.items() if key != "default"} | {
        "properties": {**keys, **given}
    }


def values(node: Mapping[str, Any], schema: Mapping[str, Any]) -> str:
    """Type and range in words."""
    node = resolved(node, schema)
    if "enum" in node:
        return "one of " + ", ".join("nothing" if v is None else str(v) for v in node["enum"])
    if "const" in node:
        return str(node["const"])
    if "anyOf" in node and "type" not in node:
        return " or ".join(values(one, schema) for one in node["anyOf"])
    if node.get("type") == "array":
        item = resolved(node.get("items", {}), schema)
        return f"list of {'groups' if item.get('type') == 'object' else values(item, schema)}"
    if "properties" in node:
        return "group of " + " or ".join(node["properties"])
    kinds = node.get("type", "object")
    told = " or ".join(WORDS[kind] for kind in ([kinds] if isinstance(kinds, str) else kinds))
    return ", ".join(
        [told, *(f"{word} {node[key]}" for key, word in LIMITS.items() if key in node)]
    )


#: Where each definition is described, its first use, and what it is there.
Described = dict[str, tuple[str, Mapping[str, Any]]]


def rows(
    path: str,
    node: Mapping[str, Any],
    schema: Mapping[str, Any],
    described: Described,
    needed: bool = True,
) -> Iterator[str]:
    """Lines of a table of all keys below ``node``; what is ``needed`` stands in a scale."""
    whole = resolved(node, schema)
    keys, item = whole.get("properties", {}), resolved(whole.get("items", {}), schema)
    groups = whole.get("type") == "array" and "properties" in item
    if (ref := node.get("$ref")) in described:
        first, there = described[ref]
        others = ", ".join(other_defaults(whole, there, schema))
        told = f"as `{first}`" + f", but {others}" * bool(others)
        default = shown(node["default"]) if groups and "default" in node else ""
        default = "nothing" if whole.get("default", ...) is None else default
        yield f"| `{path}` | {told} | {'list of groups' if groups else 'group'} | {default} |"
        return
    if ref and (groups or keys):
        described[ref] = path, whole
        for key, part in keys.items():
            below = resolved(part, schema)
            if "properties" in below or below.get("type") == "array":
                described.setdefault(f"{ref}/properties/{key}", (f"{path}.{key}", below))
    if not keys or "default" in whole:
        # what is free to choose stands in no file of a scale
        default = "must be given" if "<name>" in path or "[]" in path else "scale"
        default = shown(whole["default"]) if "default" in whole else default if needed else "none"
        told = str(whole.get("description", "?")).replace("|", "\\|")
        yield f"| `{path}` | {told} | {values(whole, schema)} | {default} |"
    if whole.get("default") is None:  # a group, or one that may be left out
        for key, part in keys.items():
            must = key in whole.get("required", ())
            yield from rows(f"{path}.{key}", part, schema, described, must)
    if keys and "default" not in whole:
        return
    nested = whole.get("additionalProperties")
    if isinstance(nested, Mapping):
        yield from rows(f"{path}.<name>", nested, schema, described)
    elif item.get("type") == "object":
        yield from rows(f"{path}[]", whole["items"], schema, described)


def other_defaults(
    here: Mapping[str, Any], there: Mapping[str, Any], schema: Mapping[str, Any], path: str = ""
) -> Iterator[str]:
    """Keys of a group whose default is another ``here`` than ``there``, where it is described."""
    for key, part in here.get("properties", {}).items():
        own, other = (resolved(node, schema) for node in (part, there["properties"][key]))
        if own.get("default", ...) != other.get("default", ...):
            wanted = "must be given" if key in here.get("required", ()) else "none"
            yield f"`{path}{key}` {shown(own['default']) if 'default' in own else wanted}"
        yield from other_defaults(own, other, schema, f"{path}{key}.")


def shown(default: Any) -> str:
    """A default as YAML has it; nothing is told in words."""
    text = str(default).lower() if isinstance(default, bool) else default
    return "nothing" if default is None else f"`{text}`"


def tables(section: str, whole: Mapping[str, Any], described: Described) -> str:
    """A table for the keys of a section, and one for each of its groups."""
    own = whole["properties"][section]
    schema = {"$defs": whole["$defs"]}
    nodes: dict[str, Mapping[str, Any]] = {}
    for key, node in own.get("properties", {"": own}).items():
        name, whole = f"{section}.{key}".removesuffix("."), resolved(node, schema)
        free = whole.get("additionalProperties")
        groups = isinstance(free, Mapping) and "properties" not in whole
        nodes[f"{name}.<name>" if groups else name] = free if groups else node
    single = [name for name, node in nodes.items() if "properties" not in resolved(node, schema)]
    found = []
    if single:  # keys of the section itself
        lines = [row for name in single for row in rows(name, nodes[name], schema, described)]
        found += [f"## `{section}`\n", *HEAD, *lines, ""]
    for name, node in nodes.items():
        if name not in single:
            told = resolved(node, schema).get("description")
            found.append(f"## `{name}`\n")
            found += [f"{told[0].upper()}{told[1:]}.\n"] if told else []
            found += [*HEAD, *rows(name, node, schema, described), ""]
    return "\n".join(found) + "\n"


def pages(schema: Mapping[str, Any], *, add: bool) -> dict[Path, str]:
    """The pages as they should be; with ``add`` a section without a page gets one."""
    index = PAGE.read_text(encoding="utf-8")
    known = LISTED.findall(index)
    sections = [*chain(*schema["papers"].values(), schema.get("others", []))]
    if gone := [one for one in known if one not in sections]:
        raise SystemExit(f"{PAGE}: lists {gone[0]}, which is no section")
    if missing := [one for one in sections if one not in known]:
        if not add:
            raise SystemExit(f"{PAGE}: lists no {', '.join(missing)}; run {Path(__file__).name}")
        last = [*LISTED.finditer(index)][-1].end()
        lines = "".join(f"- [`{one}`](keys/{one}.md)\n" for one in missing)
        index = index[:last] + lines + index[last:]
    made, described = {PAGE: index}, Described()
    for section in (*known, *missing):
        file = KEYS / f"{section}.md"
        empty = f"# Keys of {section}\n\n{BEGIN}{END}"
        text = file.read_text(encoding="utf-8") if file.is_file() else empty
        head, begin, rest = text.partition(BEGIN)
        _, end, tail = rest.partition(END)
        if not begin or not end:
            raise SystemExit(f"{file}: must have the lines {BEGIN.strip()!r} and {END.strip()!r}")
        made[file] = f"{head}{BEGIN}\n{tables(section, schema, described)}{END}{tail}"
    return made


if __name__ == "__main__":
    check = "--check" in sys.argv[1:]
    for file, new in pages(read_schema(ROOT / "workflow" / "schemas"), add=not check).items():
        old = file.read_text(encoding="utf-8") if file.is_file() else ""
        if check and old != new:
            sys.exit(f"{file}: behind the schemas; run {Path(__file__).name}")
        if old != new:
            file.write_text(new, encoding="utf-8")

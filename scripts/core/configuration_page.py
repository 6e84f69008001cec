"""Write the tables of keys in docs/configuration.md from the schemas.

python scripts/core/configuration_page.py            writes
python scripts/core/configuration_page.py --check    fails if the page is behind
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "src"))

from featlearn.core.config import merge, read_yaml

PAGE = ROOT / "docs" / "configuration.md"
BEGIN, END = "<!-- keys of {paper}: made from its schema -->\n", "<!-- end of keys -->\n"
#: Groups that the page describes once, under the headline.
DESCRIBED = {"multi_view": "mrp.headline.data", "kernels": "mrp.headline.network"}
WORDS = {"integer": "whole number", "number": "number", "string": "text", "object": "group"}


def resolved(node: Mapping[str, Any], schema: Mapping[str, Any]) -> dict[str, Any]:
    """The node with what its ``$ref`` points at."""
    if "$ref" not in node:
        return dict(node)
    found = schema["$defs"][node["$ref"].rpartition("/")[2]]
    return merge(resolved(found, schema), {k: v for k, v in node.items() if k != "$ref"})


def values(node: Mapping[str, Any], schema: Mapping[str, Any]) -> str:
    """Type and range in words."""
    node = resolved(node, schema)
    if "enum" in node:
        return "one of " + ", ".join(map(str, node["enum"]))
    if node.get("type") == "array":
        item = resolved(node["items"], schema)
        words = values(item, schema)
        return "list of groups" if item.get("type") == "object" else f"list of {words}"
    limits = {"minimum": "at least", "exclusiveMinimum": "more than", "maximum": "at most"}
    parts = [f"{word} {node[key]}" for key, word in limits.items() if key in node]
    return ", ".join([WORDS[node.get("type", "object")], *parts])


def meaning(path: str, node: Mapping[str, Any], schema: Mapping[str, Any]) -> str:
    """A key's own description, else that of the longest end of its path."""
    parts = path.split(".")
    named = [".".join(parts[n:]) for n in range(1, len(parts))]
    known = schema.get("meanings", {})
    found = next((known[name] for name in named if name in known and "." in name), None)
    text = found or resolved(node, schema).get("description") or known.get(parts[-1])
    if text is None:
        raise SystemExit(f"{path}: the schema says nowhere what it means")
    return str(text).replace("|", "\\|")


def rows(path: str, node: Mapping[str, Any], schema: Mapping[str, Any]) -> Iterator[str]:
    """Lines of a table: all keys below ``node``, deepest groups included."""
    name = node.get("$ref", "").rpartition("/")[2]
    if name in DESCRIBED:
        yield f"| `{path}` | as `{DESCRIBED[name]}` | group |  |"
        return
    node = resolved(node, schema)
    if "properties" in node:
        for key, part in node["properties"].items():
            yield from rows(f"{path}.{key}", part, schema)
        return
    default = f"`{node['default']}`" if "default" in node else "scale"
    told = meaning(path, node, schema)
    yield f"| `{path}` | {told} | {values(node, schema)} | {default} |"
    nested = node.get("additionalProperties")
    if isinstance(nested, Mapping):
        yield from rows(f"{path}.<name>", nested, schema)
    elif resolved(node.get("items", {}), schema).get("type") == "object":
        yield from rows(f"{path}[]", node["items"], schema)


def tables(paper: str, skip: tuple[str, ...] = ()) -> str:
    """A section for each experiment of a paper."""
    schema = read_yaml(ROOT / "workflow" / "schemas" / f"{paper}.schema.yaml")
    found = []
    for name, node in schema["properties"].items():
        if name not in skip:
            lines = list(rows(f"{paper}.{name}", node, schema))
            told = resolved(node, schema).get("description")
            found.append(f"### `{paper}.{name}`\n")
            found += [f"{told[0].upper()}{told[1:]}.\n"] if told else []
            found += ["| key | meaning | value | default |", "|:--|:--|:--|:--|", *lines, ""]
    return "\n".join(found) + "\n"


def page(text: str) -> str:
    """The page with its tables made anew."""
    begin = BEGIN.format(paper="mrp")
    before, _, rest = text.partition(begin)
    _, _, after = rest.partition(END)
    return before + begin + "\n" + tables("mrp", skip=("headline",)) + END + after


if __name__ == "__main__":
    old = PAGE.read_text(encoding="utf-8")
    new = page(old)
    if "--check" in sys.argv[1:]:
        sys.exit(f"{PAGE}: behind the schemas; run {Path(__file__).name}" if old != new else 0)
    PAGE.write_text(new, encoding="utf-8")

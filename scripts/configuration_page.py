"""Write the tables of keys in docs/configuration.md from the schemas.

python scripts/configuration_page.py            writes
python scripts/configuration_page.py --check    fails if the page is behind
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "src"))

from featlearn.core.config import merge, read_schema

PAGE = ROOT / "docs" / "configuration.md"
BEGIN, END = "<!-- keys of {paper}: made from its schema -->\n", "<!-- end of keys -->\n"
#: Groups that the page describes once, and where.
DESCRIBED = {
    "multi_view": "mrp.headline.data",
    "kernels": "mrp.headline.network",
    "encoder": "images.encoders.cnn",
    "pretraining_run": "images.pretraining.simmim",
    "training": "images.pretraining.simmim.training",
    "pretraining_method": "images.pretraining.simmim.objective",
    "classifier": "images.comparison.finetuning.objective",
    "augmentation": "images.augmentation",
    "detector": "images.detection.detector",
    "picture_world": "images.world",
    "image_data": "real_images.<name>.data",
    "steps": "images.augmentation.steps",
}
#: Parts of the config that have tables, each with the groups that are described by hand.
SECTIONS: dict[str, tuple[str, ...]] = {
    "mrp": ("headline",),
    "contrastive.images": (),
    "noncontrastive.images": (),
    "images": (),
    "eigencam": (),
    "real_images": (),
}
HEAD = ("| key | meaning | value | default |", "|:--|:--|:--|:--|")
WORDS = {
    "integer": "whole number",
    "number": "number",
    "string": "text",
    "boolean": "true or false",
    "array": "list",
    "object": "group",
    "null": "nothing",
}


def resolved(node: Mapping[str, Any], schema: Mapping[str, Any]) -> dict[str, Any]:
    """The node with what its ``$ref`` points at."""
    if "$ref" not in node:
        return dict(node)
    found: Mapping[str, Any] = schema
    for key in node["$ref"].removeprefix("#/").split("/"):
        found = found[key]
    return merge(resolved(found, schema), {k: v for k, v in node.items() if k != "$ref"})


def values(node: Mapping[str, Any], schema: Mapping[str, Any]) -> str:
    """Type and range in words."""
    node = resolved(node, schema)
    if "enum" in node:
        return "one of " + ", ".join("nothing" if v is None else str(v) for v in node["enum"])
    if "const" in node:
        return str(node["const"])
    for choice in ("oneOf", "anyOf"):
        if choice in node and "type" not in node:
            return " or ".join(values(one, schema) for one in node[choice])
    if node.get("type") == "array":
        item = resolved(node["items"], schema)
        words = values(item, schema)
        return "list of groups" if item.get("type") == "object" else f"list of {words}"
    limits = {
        "minimum": "at least",
        "exclusiveMinimum": "more than",
        "maximum": "at most",
        "exclusiveMaximum": "less than",
    }
    parts = [f"{word} {node[key]}" for key, word in limits.items() if key in node]
    if "properties" in node:
        return "group of " + " or ".join(node["properties"])
    kinds = node.get("type", "object")
    told = " or ".join(WORDS[kind] for kind in ([kinds] if isinstance(kinds, str) else kinds))
    return ", ".join([told, *parts])


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


def rows(
    path: str, node: Mapping[str, Any], schema: Mapping[str, Any], needed: bool = True
) -> Iterator[str]:
    """Lines of a table: all keys below ``node``, deepest groups included.

    A key that is ``needed`` and has no default must stand in the file of the scale.
    """
    name = node.get("$ref", "").rpartition("/")[2]
    if DESCRIBED.get(name, path) != path:
        others = ", ".join(f"`{key}` {value}" for key, value in other_defaults(node))
        told = f"as `{DESCRIBED[name]}`" + (f", but {others}" if others else "")
        default = shown(node["default"]) if "default" in node else ""
        kind = "list of groups" if resolved(node, schema).get("type") == "array" else "group"
        yield f"| `{path}` | {told} | {kind} | {default} |"
        return
    node = resolved(node, schema)
    if "properties" in node and "default" not in node:
        for key, part in node["properties"].items():
            must = key in node.get("required", ())
            yield from rows(f"{path}.{key}", part, schema, must)
        return
    # what is free to choose stands in no file of a scale
    wanted = "must be given" if path.startswith("real_images") or "[]" in path else "scale"
    default = shown(node["default"]) if "default" in node else (wanted if needed else "none")
    told = meaning(path, node, schema)
    yield f"| `{path}` | {told} | {values(node, schema)} | {default} |"
    if node.get("default", ...) is None:  # a group that may be left out
        for key, part in node.get("properties", {}).items():
            yield from rows(f"{path}.{key}", part, schema, key in node.get("required", ()))
    nested = node.get("additionalProperties")
    if isinstance(nested, Mapping):
        yield from rows(f"{path}.<name>", nested, schema)
    elif resolved(node.get("items", {}), schema).get("type") == "object":
        yield from rows(f"{path}[]", node["items"], schema)


def other_defaults(node: Mapping[str, Any], path: str = "") -> Iterator[tuple[str, str]]:
    """Keys below a group that is described elsewhere whose default is another here."""
    for key, part in node.get("properties", {}).items():
        if "default" in part:
            yield f"{path}{key}", shown(part["default"])
        yield from other_defaults(part, f"{path}{key}.")


def shown(default: Any) -> str:
    """A default as YAML has it; nothing is told in words."""
    if default is None:
        return "nothing"
    return f"`{str(default).lower() if isinstance(default, bool) else default}`"


def tables(paper: str, skip: tuple[str, ...] = ()) -> str:
    """A section for each experiment of a paper, or of another part of the config."""
    whole = read_schema(ROOT / "workflow" / "schemas")
    section = whole
    for key in paper.split("."):
        section = section["properties"][key]
    schema = {"$defs": whole["$defs"], "meanings": section.get("meanings", {})}
    found = []
    groups = section.get("properties") or {"<name>": section["additionalProperties"]}
    single = {k: node for k, node in groups.items() if "properties" not in resolved(node, schema)}
    if single:  # keys of the section itself
        lines = [
            row for name, node in single.items() for row in rows(f"{paper}.{name}", node, schema)
        ]
        found += [f"### `{paper}`\n", *HEAD, *lines, ""]
    for name, node in groups.items():
        if name not in (*skip, *single):
            lines = list(rows(f"{paper}.{name}", node, schema))
            told = resolved(node, schema).get("description")
            found.append(f"### `{paper}.{name}`\n")
            found += [f"{told[0].upper()}{told[1:]}.\n"] if told else []
            found += [*HEAD, *lines, ""]
    return "\n".join(found) + "\n"


def page(text: str) -> str:
    """The page with its tables made anew."""
    for paper, skip in SECTIONS.items():
        begin = BEGIN.format(paper=paper)
        before, found, rest = text.partition(begin)
        if not found:
            raise SystemExit(f"{PAGE}: has no line {begin.strip()!r}")
        _, _, after = rest.partition(END)
        text = before + begin + "\n" + tables(paper, skip) + END + after
    return text


if __name__ == "__main__":
    old = PAGE.read_text(encoding="utf-8")
    new = page(old)
    if "--check" in sys.argv[1:]:
        sys.exit(f"{PAGE}: behind the schemas; run {Path(__file__).name}" if old != new else 0)
    PAGE.write_text(new, encoding="utf-8")

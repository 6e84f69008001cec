"""The config of a run: defaults, config.yaml, scale file, the user's changes, then checks.

Everything is checked before the first job; each fault names key, expectation and value: "KEY must
be Y, got Z". A schema in short YAML is the home of a key, and no pydantic model: these would cost a
plan 0.5 s before anything is loaded.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import yaml
from jsonschema import Draft202012Validator, validators
from jsonschema.exceptions import ValidationError

from featlearn.core.errors import ConfigError
from featlearn.core.files import digest
from featlearn.core.run import given, portable
from featlearn.core.run.checks import cut, must, unknown, word
from featlearn.core.run.guard import size_fault
from featlearn.core.run.notes import noted, of_files, of_sources

TYPE_WORDS = {
    "integer": "a whole number",
    "number": "a finite number",
    "string": "text",
    "boolean": "true or false",
    "array": "a list",
    "object": "a group of keys",
    "null": "nothing",
}
NOTHING: Mapping[str, Any] = {}
#: Ends of what has none in its schema, by type: a list without an end is a plan that never ends.
WIDEST: Mapping[str, Mapping[str, Any]] = {
    "integer": {"maximum": 10**9},
    "number": {"minimum": -1e18, "maximum": 1e18},
    "string": {"maxLength": 4096},
    "array": {"maxItems": 1000},
    "object": {"maxProperties": 200},
}
#: The same by the name of the key; sizes are pixels of a side.
WIDEST_OF_KEY: Mapping[str, Mapping[str, Any]] = {
    "replicates": {"maximum": 1000},
    "image_size": {"maximum": 4096},
    "size": {"maximum": 4096},
}
#: Most lines of a message.
LINES = 40

#: The scale that every other one changes, at once or over the scale that its ``based_on`` names.
BASE = "desk"
#: Stands where a layer took away what one below it gave, until the defaults are filled in.
_TAKEN_AWAY = object()
#: What a node of a schema file says of itself in a mapping; every other mapping there is a key.
_NESTED = ("default", "each", "propertyNames")
_LIST = re.compile(r"(list|set)(?:\((\d+)(?:(\.\.)(\d*))?\))?(?: of (.+))?")
_BOUND_WORDS = {"minimum": "at least", "maximum": "at most", "exclusiveMinimum": "more than",
                "exclusiveMaximum": "less than"}  # fmt: skip
_BOUNDS = {">=": "minimum", "<=": "maximum", ">": "exclusiveMinimum", "<": "exclusiveMaximum"}


def merge(
    base: Mapping[str, Any],
    change: Mapping[str, Any],
    schema: Mapping[str, Any] = NOTHING,
    top: Mapping[str, Any] = NOTHING,
) -> dict[str, Any]:
    """``base`` with keys of ``change``; by a ``schema``, nothing takes away what may be absent."""
    schema = resolve(schema, top)
    named, others = schema.get("properties", {}), schema.get("additionalProperties")
    merged = dict(base)
    for key, value in change.items():
        old = merged.get(key)
        below = named.get(key, others if isinstance(others, Mapping) else NOTHING)
        if isinstance(old, Mapping) and isinstance(value, Mapping):
            whole = resolve(below, top).get("whole", False)
            merged[key] = value if whole else merge(old, value, below, top)
        elif value is None and old is not None and below and _may_go(key, below, schema, top):
            merged[key] = _TAKEN_AWAY
        else:
            merged[key] = value
    return merged


def _may_go(
    key: str, below: Mapping[str, Any], schema: Mapping[str, Any], top: Mapping[str, Any]
) -> bool:
    value = "properties" not in resolve(below, top)
    if key in schema.get("required", ()) or (value and key in schema.get("kept", ())):
        return False
    return not Validator({**below, "$defs": top.get("$defs", {})}).is_valid(None)


def in_order(value: Any) -> Any:
    """The same value with the keys of every group sorted, so that equal configs print alike."""
    if isinstance(value, Mapping):
        return {key: in_order(value[key]) for key in sorted(value, key=str)}
    if isinstance(value, list):
        return [in_order(item) for item in value]
    return value


def read_yaml(path: Path, loader: Any = yaml.SafeLoader) -> Any:
    """Read YAML without its code-running tags; a fault names the file."""
    try:
        return yaml.load(path.read_text(encoding="utf-8"), loader)
    # a day that is none is a ValueError, nesting without end a RecursionError
    except (OSError, ValueError, RecursionError, yaml.YAMLError) as error:
        raise ConfigError(f"{path}: cannot be read: {error}") from error


def read_own_yaml(path: Path) -> Any:
    """Read the repository's YAML with the C parser, which is fast; endless nesting crashes it."""
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    if not path.is_file():
        return read_yaml(path)  # says so
    return noted(f"yaml {digest(path)}", lambda: read_yaml(path, loader))


def load(user: Mapping[str, Any], root: Path) -> dict[str, Any]:
    """The whole, checked config of a run.

    ``user``: what Snakemake collected from ``--configfile`` and ``--config``; it wins over the
    scale's file, which wins over ``config/config.yaml``. ``root``: holds ``config/``. Returns dict:
    defaults filled in, keys in order, ``papers`` in the order of the house, and ``results``.
    """
    if fault := size_fault(user):
        raise ConfigError(f"the config {fault}")
    files = sorted([*(root / "config").rglob("*.yaml"), *(root / "workflow/schemas").glob("*")])
    own = hashlib.sha256(repr((user, missing_sets(user, root))).encode()).hexdigest()
    key = f"config {of_sources()} {of_files(tuple(files), root)} {own}"
    loaded: dict[str, Any] = noted(key, lambda: _load(user, root))
    return loaded


def missing_sets(user: Mapping[str, Any], root: Path) -> list[str]:
    """A line on each data set of the scale that is not there; of a user's config as in `load`."""
    return given.layers_of(_scale_of(user, root)[-1], user)[1]


def _scale_of(user: Mapping[str, Any], root: Path) -> list[dict[str, Any]]:
    common = read_own_yaml(root / "config" / "config.yaml")
    return _layers(user.get("scale", common["scale"]), root / "config" / "scale")


def _load(user: Mapping[str, Any], root: Path) -> dict[str, Any]:
    common = read_yaml(root / "config" / "config.yaml")
    schema = read_schema(root / "workflow" / "schemas")
    scales = _scale_of(user, root)
    merged = merge(fill_defaults({}, schema, schema, start=True), common)
    for layer in (one for scale in scales for one in given.layers_of(scale, user)[0]):
        sizes = {key: value for key, value in layer.items() if key != "based_on"}
        merged = merge(merged, sizes, schema, schema)
    # the file of a scale may be the user's as well: then it says the same again
    merged = merge(merged, given.without(user, scales[-1]), schema, schema)
    # on the command line, run=7 is a number and run= nothing
    merged["run"] = "" if merged["run"] is None else str(merged["run"])
    filled = fill_defaults(merged, schema, schema)
    refuse(faults(filled, with_ends(schema)))
    filled["run"] = filled["run"] or plain_run(filled)
    refuse(portable.faults(filled))
    if filled.get("portable"):
        filled["compile"] = "never"
    filled["results"] = f"results/{filled['run']}"
    filled["papers"] = [paper for paper in schema["papers"] if paper in filled["papers"]]
    ordered: dict[str, Any] = in_order(filled)
    if "sweep" in filled:  # of two keys the first one goes across
        ordered["sweep"]["keys"] = filled["sweep"]["keys"]
    return ordered


def plain_run(config: Mapping[str, Any]) -> str:
    """Folder below ``results/`` of a run without a name of its own: portable bytes lie apart."""
    return f"{config['scale']}-portable" if config.get("portable") else str(config["scale"])


def _layers(scale: Any, folder: Path) -> list[dict[str, Any]]:
    """What the files of a scale say: of the one that all are based on first, of its own last."""
    files = {file.stem: file for file in sorted(folder.glob("*.yaml"))}
    layers: dict[str, dict[str, Any]] = {}
    name, told = scale, "scale"
    while BASE not in layers:
        if not isinstance(name, str) or name not in files or name in layers:
            others = [other for other in files if other not in layers]
            raise ConfigError(must(told, f"one of {', '.join(others)}", name))
        layers[name] = read_own_yaml(files[name])
        told, name = f"{files[name]}: based_on", layers[name].get("based_on", BASE)
    return list(layers.values())[::-1]


def read_schema(folder: Path) -> dict[str, Any]:
    """The JSON Schema of the config: ``config.schema.yaml`` and all ``<section>.schema.yaml``.

    A file of ``$defs`` alone holds what sections share. A section is a paper of that name, unless
    ``paper`` at the top of its file says whose part it is, or ``none``. The schema has the sections
    of each paper under ``papers``, by the ``order`` in their files, and those of none under
    ``others``. Only the sections of papers that a config holds are required. :func:`expand` says
    how a file is written; one with ``properties`` is JSON Schema already. Raises ConfigError if a
    paper has no schema or no package, or a definition stands in two files.
    """
    schema = read_own_yaml(folder / "config.schema.yaml")
    files = dict.fromkeys(schema.setdefault("$defs", {}), "config.schema.yaml")
    sections = []
    for file in sorted(folder.glob("*.schema.yaml")):
        name = file.name.removesuffix(".schema.yaml")
        if name == "config":
            continue
        section = read_own_yaml(file)
        definitions = section.pop("$defs", {})
        if twice := min(definitions.keys() & files.keys(), default=""):
            raise ConfigError(f"{file}: $defs.{twice} is defined in {files[twice]} already")
        paper, order = section.pop("paper", name), section.pop("order", math.inf)
        short = "properties" not in section and not isinstance(section.get("type"), str)
        schema["$defs"] |= {key: expand(one) if short else one for key, one in definitions.items()}
        files |= dict.fromkeys(definitions, file.name)
        if section or paper != name:
            schema["properties"][name] = expand(section) if short else section
            if paper == "none":
                schema.setdefault("others", []).append(name)
            else:
                sections.append((paper != name, order, name, paper))
    papers: dict[str, list[str]] = {}
    for _, _, name, paper in sorted(sections):  # papers come before parts
        papers.setdefault(paper, []).append(name)
    for paper, names in papers.items():
        root = folder.parents[1]  # one that is installed stands inside of featlearn
        package = (root.parent if root.name == "_workflow" else root / "src/featlearn") / paper
        if paper not in names or not package.is_dir():
            raise ConfigError(
                f"{folder}: {', '.join(names)}: a paper {paper} has a {paper}.schema.yaml and a "
                f"package {package}; what is part of another paper names it, 'paper: <name>'"
            )
    schema["papers"] = papers
    schema["properties"]["papers"] |= {"items": {"enum": list(papers)}, "default": list(papers)}
    schema["allOf"] = [
        {
            "if": {"properties": {"papers": {"contains": {"const": paper}}}},
            "then": {"required": names},
        }
        for paper, names in papers.items()
    ]
    _require(schema, schema)
    return schema


def _require(node: Any, top: Mapping[str, Any]) -> None:
    """Make the keys of groups required that are not optional, unless a default puts them in."""
    if isinstance(node, list):
        for one in node:
            _require(one, top)
    if not isinstance(node, dict):
        return
    if node.get("partial") is True:
        node |= _partial(node, top)
        del node["$ref"], node["partial"]
    for below in node.values():
        _require(below, top)
    if isinstance(node.get("kept"), list):
        for name in node["kept"]:
            key = node["properties"][name]
            group = "$ref" in key or "properties" in key
            lone = {"properties": {name: key}}
            if "default" not in key and not (group and fill_defaults({}, lone, top, start=True)):
                node["required"].append(name)


def _partial(node: Mapping[str, Any], top: Mapping[str, Any]) -> dict[str, Any]:
    """What changes a group: its keys are optional and have no defaults."""
    schema = {key: value for key, value in resolve(node, top).items() if key != "default"}
    if "properties" in schema:
        keys = {key: _partial(below, top) for key, below in schema["properties"].items()}
        schema |= {"properties": {k: {**one, "optional": True} for k, one in keys.items()}}
        schema |= {"required": [], "kept": []}
    return schema


def expand(node: Mapping[str, Any]) -> dict[str, Any]:
    """The JSON Schema of a node of a schema file.

    A node with a ``type``, an ``enum``, a ``const`` or ``anyOf`` is a value, such as
    ``{ type: integer >= 2, default: 5, means: independent starts }``. A type is a word of JSON
    Schema, ``text`` (not empty), ``nothing`` or a name of ``$defs``; with bounds (``number > 0 and
    < 1``), in a list or a set (``list(2..) of count``, ``set(2)`` of what ``each`` says), or with
    ``or nothing`` after it. A key beside the type of a group has another default; ``partial`` makes
    it changes of such a group, without defaults.

    Any other node is a group: a mapping in it is a key, all else says something of the group, as do
    ``default`` and ``each``, which is what stands under names that a user chooses. A layer changes
    single keys of a group, or replaces it if it is ``whole``. Defaults fill in all keys but those
    that are ``optional``, which ``~`` takes away.
    """
    words = {k: v for k, v in node.items() if not isinstance(v, Mapping) or k in _NESTED}
    keys = {name: below for name, below in node.items() if name not in words}
    each = expand(words.pop("each")) if "each" in words else None
    schema: dict[str, Any] = {}
    if "means" in words:
        schema["description"] = words.pop("means")
    if "type" in words:
        schema |= _of_type(words.pop("type"), each)
        if keys:  # of that type, with other defaults
            schema["properties"] = keys
    elif "anyOf" in words:
        schema["anyOf"] = [expand(one) for one in words.pop("anyOf")]
    elif not words.keys() & {"enum", "const"}:
        free = each or words.pop("open", False)
        kind = ["object", "null"] if words.get("default", ...) is None else "object"
        schema |= {"type": kind, "additionalProperties": free}
        schema["required"] = words.pop("required", [])
        if keys:
            schema["properties"] = {name: expand(below) for name, below in keys.items()}
            schema["kept"] = [name for name, one in keys.items() if not one.get("optional")]
    if "contains" in words:
        schema["allOf"] = [{"contains": {"const": one}} for one in words.pop("contains")]
    return schema | words


def _of_type(text: str, each: Mapping[str, Any] | None) -> dict[str, Any]:
    plain = text.removesuffix(" or nothing")
    schema: dict[str, Any] = {}
    if several := _LIST.fullmatch(plain):
        kind, least, to, most, entry = several.groups()
        schema = {"type": "array", "items": _of_type(entry, None) if entry else each}
        if kind == "set":
            schema["uniqueItems"] = True
        if least:
            schema["minItems"] = int(least)
        if most or (least and not to):
            schema["maxItems"] = int(most or least)
    else:
        word, *bounds = re.split(r" (?:and )?(?=[<>])", plain)
        if word == "text":
            schema = {"type": "string", "minLength": 1}
        elif word == "nothing":
            schema = {"type": "null"}
        elif word in TYPE_WORDS:
            schema = {"type": word}
        else:
            schema = {"$ref": f"#/$defs/{word}"}
        for sign, number in map(str.split, bounds):
            schema[_BOUNDS[sign]] = json.loads(number)
    return schema if plain == text else {**schema, "type": [schema["type"], "null"]}


def refuse(found: Iterable[str], what: str = "the config is") -> None:
    """Raise one ConfigError that lists all faults, if there are any."""
    lines = list(found)
    if lines:
        told = lines[:LINES] + [f"and {len(lines) - LINES} more"] * (len(lines) > LINES)
        raise ConfigError(f"{what} not valid:\n" + "\n".join(f"  {line}" for line in told))


def refuse_papers(config: Mapping[str, Any]) -> None:
    """Refuse a config whose sections of papers contradict what ``<paper>/config.py`` knows."""
    for paper in config["papers"]:
        if find_spec(f"featlearn.{paper}.config"):
            refuse(import_module(f"featlearn.{paper}.config").faults(config[paper]))


def resolve(schema: Mapping[str, Any], top: Mapping[str, Any]) -> Mapping[str, Any]:
    """A node of a schema with what its ``$ref`` names put in."""
    if "$ref" not in schema:
        return schema
    pointed: Any = top
    for part in schema["$ref"].removeprefix("#/").split("/"):
        if part not in pointed:
            raise ConfigError(f"workflow/schemas: no file defines the type {part!r}")
        pointed = pointed[part]
    return merge(resolve(pointed, top), {k: v for k, v in schema.items() if k != "$ref"})


def with_ends(schema: Mapping[str, Any], key: str = "") -> dict[str, Any]:
    """The same schema in which every number, text, list and group has ends: see :data:`WIDEST`."""
    ended = {
        name: with_ends(below, name)
        if isinstance(below, Mapping)
        else [with_ends(part) if isinstance(part, Mapping) else part for part in below]
        if name in ("anyOf", "allOf", "oneOf")
        else below
        for name, below in schema.items()
    }
    kinds = schema.get("type", ())  # or a key of that name
    ends: dict[str, Any] = {}
    for kind in [kinds] if isinstance(kinds, str) else kinds:
        ends |= WIDEST.get(kind, {})
    return {**ends, **WIDEST_OF_KEY.get(key, {}), **ended}


def fill_defaults(
    value: Any, schema: Mapping[str, Any], top: Mapping[str, Any], *, start: bool = False
) -> Any:
    """``value`` with every absent key that has a ``default`` in the schema put in.

    An absent group comes in with its defaults too, unless it has keys that only a user can give.
    Optional keys come in at the ``start`` alone, as a layer may take them away.
    """
    schema = resolve(schema, top)
    if not isinstance(value, Mapping):
        return value
    filled = {key: below for key, below in value.items() if below is not _TAKEN_AWAY}
    named, others = schema.get("properties", {}), schema.get("additionalProperties")
    if isinstance(others, Mapping):
        for key in filled.keys() - named.keys():
            filled[key] = fill_defaults(filled[key], others, top, start=start)
    for key, below in named.items():
        below = resolve(below, top)
        if key in filled:
            filled[key] = fill_defaults(filled[key], below, top, start=start)
        elif below.get("optional") and not start:
            continue
        elif "default" in below:
            filled[key] = fill_defaults(below["default"], below, top, start=start)
        elif below.get("type") == "object" and "properties" in below:
            inner = fill_defaults({}, below, top, start=start)
            if inner and inner.keys() >= set(below.get("kept", below.get("required", ()))):
                filled[key] = inner
    return filled


def _is_whole(_: Any, value: Any) -> bool:
    # JSON Schema counts 10.0 as an integer, range() does not
    return isinstance(value, int) and not isinstance(value, bool)


def _is_finite(_: Any, value: Any) -> bool:
    return _is_whole(_, value) or (isinstance(value, float) and math.isfinite(value))


Validator = validators.extend(  # type: ignore[no-untyped-call]
    Draft202012Validator,
    type_checker=Draft202012Validator.TYPE_CHECKER.redefine("integer", _is_whole).redefine(
        "number", _is_finite
    ),
)


def faults(value: Any, schema: Mapping[str, Any]) -> Iterator[str]:
    """One line for each violation of the schema: key, value, what was expected."""
    errors = Validator(schema).iter_errors(value)
    lines: dict[str, None] = {}  # a set that keeps its order: a rule may be broken by several keys
    for error in sorted(errors, key=lambda error: [str(part) for part in error.absolute_path]):
        lines.update(dict.fromkeys(_describe(error)))
    yield from lines


def _describe(error: ValidationError) -> Iterator[str]:
    key = ".".join(word(part) for part in error.absolute_path) or "(top)"
    value: Any = error.instance
    rule: Any = error.validator_value
    schema: Any = error.schema
    match error.validator:
        case "additionalProperties":
            known = list(schema["properties"])
            for name in sorted(set(value) - set(known), key=str):
                yield f"{key}.{word(name)}: {unknown(name, known)}".removeprefix("(top).")
        case "required":
            for missing in rule:
                if missing not in value:
                    yield f"{key}.{missing}: missing".removeprefix("(top).")
        case "type":
            kinds, hint = [rule] if isinstance(rule, str) else rule, ""
            if isinstance(value, str) and {"number", "integer"} & set(kinds):
                with suppress(ValueError):
                    float(value)
                    whole = value.strip().isdigit()
                    way = "without quotes" if whole else "with a point, such as 1.0e-3"
                    hint = f" (YAML reads {value} as text: write it {way})"
            yield must(key, " or ".join(TYPE_WORDS[kind] for kind in kinds), value) + hint
        case "enum":
            yield must(key, f"one of {', '.join(map(str, rule))}", value)
        case "minimum" | "maximum" | "exclusiveMinimum" | "exclusiveMaximum":
            yield must(key, f"{_BOUND_WORDS[str(error.validator)]} {rule}", value)
        case "minItems" | "maxItems" | "minProperties" | "maxProperties" | "maxLength":
            bound = "at least" if str(error.validator).startswith("min") else "at most"
            what = {"I": "entries", "P": "keys", "L": "letters"}[str(error.validator)[3]]
            yield f"{key} must have {bound} {rule} {what}, got {len(value)}"
        case "minLength":
            yield must(key, "some text", value)
        case "uniqueItems":
            yield must(key, "a list of entries that differ", value)
        case "contains":
            yield must(key, f"a list with {rule.get('const')}", value)
        case "pattern":
            yield must(key, schema.get("description", rule), value)
        case _:
            yield f"{key}: {cut(error.message, str)}"

"""The config of a run: config.yaml, scale file, the user's changes, defaults, then checks.

Everything is checked before the first job, all faults are told at once, and each names its key and
what was expected there.
"""

from __future__ import annotations

import difflib
import hashlib
import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import yaml
from jsonschema import Draft202012Validator, validators
from jsonschema.exceptions import ValidationError

from featlearn.core import portable
from featlearn.core.errors import ConfigError
from featlearn.core.files import digest
from featlearn.core.guard import size_fault
from featlearn.core.notes import noted, of_files, of_sources

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
#: Ends of what has none in its schema, by type. A run without ends is a plan that never ends, and a
#: number that nobody means is told while that is still cheap.
WIDEST: Mapping[str, Mapping[str, Any]] = {
    "integer": {"maximum": 10**9},
    "number": {"minimum": -1e18, "maximum": 1e18},
    "string": {"maxLength": 4096},
    "array": {"maxItems": 1000},
    "object": {"maxProperties": 200},
}
#: The same by the name of the key: each replicate is held in memory, or has jobs of its own; sizes
#: are pixels of a side.
WIDEST_OF_KEY: Mapping[str, Mapping[str, Any]] = {
    "replicates": {"maximum": 1000},
    "image_size": {"maximum": 4096},
    "size": {"maximum": 4096},
}
#: Most letters of a value that a message repeats, and most lines of a message.
LETTERS, LINES = 80, 40

#: The scale that every other one changes, at once or over the scale that its ``based_on`` names.
BASE = "desk"
#: Stands where a layer took away what one below it gave, until the defaults are filled in.
_TAKEN_AWAY = object()


def merge(
    base: Mapping[str, Any],
    change: Mapping[str, Any],
    schema: Mapping[str, Any] = NOTHING,
    top: Mapping[str, Any] = NOTHING,
) -> dict[str, Any]:
    """``base`` with the keys of ``change`` replaced, group by group; both stay as they are.

    By a ``schema``, nothing (``~`` in YAML) takes away what ``base`` has under a name that is free
    to choose or under a key that may be absent, unless nothing is itself a value there.
    """
    schema = _resolve(schema, top)
    named, others = schema.get("properties", {}), schema.get("additionalProperties")
    merged = dict(base)
    for key, value in change.items():
        old = merged.get(key)
        below = named.get(key, others if isinstance(others, Mapping) else NOTHING)
        if isinstance(old, Mapping) and isinstance(value, Mapping):
            merged[key] = merge(old, value, below, top)
        elif value is None and old is not None and below and _may_go(key, below, schema, top):
            merged[key] = _TAKEN_AWAY
        else:
            merged[key] = value
    return merged


def _may_go(
    key: str, below: Mapping[str, Any], schema: Mapping[str, Any], top: Mapping[str, Any]
) -> bool:
    if key in schema.get("required", ()):
        return False
    return not Validator({**below, "$defs": top.get("$defs", {})}).is_valid(None)


def in_order(value: Any) -> Any:
    """The same value with the keys of every group sorted, so that equal configs print alike."""
    if isinstance(value, Mapping):
        return {key: in_order(value[key]) for key in sorted(value, key=str)}
    if isinstance(value, list):
        return [in_order(item) for item in value]
    return value


def read_yaml(path: Path) -> Any:
    """Read YAML without its code-running tags; a fault names the file."""
    return _read(path, yaml.SafeLoader)


def _read(path: Path, loader: Any) -> Any:
    try:
        return yaml.load(path.read_text(encoding="utf-8"), loader)
    # a day that is none is a ValueError, nesting without end a RecursionError
    except (OSError, ValueError, RecursionError, yaml.YAMLError) as error:
        raise ConfigError(f"{path}: cannot be read: {error}") from error


def read_own_yaml(path: Path) -> Any:
    """Read YAML of the repository itself: the parser in C where PyYAML has it, ten times faster.

    Like :func:`read_yaml` it knows no tag that runs code. It is not for what users give: on lists
    within lists without end that parser ends the process.
    """
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    if not path.is_file():
        return _read(path, loader)  # says so
    return noted(f"yaml {digest(path)}", lambda: _read(path, loader))


def load(user: Mapping[str, Any], root: Path) -> dict[str, Any]:
    """The whole, checked config of a run.

    Parameters
    ----------
    user
        What Snakemake collected from ``--configfile`` and ``--config``; it wins over the scale's
        file, which wins over ``config/config.yaml``.
    root
        Folder that holds ``config/`` and ``workflow/``.

    Returns
    -------
    dict
        With defaults filled in, keys in order, ``papers`` in the order of the house, and
        ``results`` (the folder that the run writes).

    Raises
    ------
    ConfigError
        Naming each wrong key, its value and what was expected.
    """
    if fault := size_fault(user):
        raise ConfigError(f"the config {fault}")
    files = sorted([*(root / "config").rglob("*.yaml"), *(root / "workflow/schemas").glob("*")])
    own = hashlib.sha256(repr(user).encode()).hexdigest()
    key = f"config {of_sources()} {of_files(tuple(files), root)} {own}"
    loaded: dict[str, Any] = noted(key, lambda: _load(user, root))
    return loaded


def _load(user: Mapping[str, Any], root: Path) -> dict[str, Any]:
    common = read_yaml(root / "config" / "config.yaml")
    schema = read_schema(root / "workflow" / "schemas")
    scale = user.get("scale", common["scale"])
    layers = _layers(scale, root / "config" / "scale")
    # the file of a scale may be the user's as well: then it says the same again
    if "based_on" in user and user["based_on"] == layers[-1].get("based_on"):
        user = {key: value for key, value in user.items() if key != "based_on"}
    merged = dict(common)
    for layer in layers:
        sizes = {key: value for key, value in layer.items() if key != "based_on"}
        merged = merge(merged, sizes, schema, schema)
    merged = merge(merged, user, schema, schema)
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
    return in_order(filled)


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
            raise ConfigError(f"{told}: {name!r}; expected one of {', '.join(others)}")
        layers[name] = read_own_yaml(files[name])
        told, name = f"{files[name]}: based_on", layers[name].get("based_on", BASE)
    return list(layers.values())[::-1]


def read_schema(folder: Path) -> dict[str, Any]:
    """``config.schema.yaml`` with each section of the config from its ``<section>.schema.yaml``.

    A file of ``$defs`` alone holds what several sections share. A section is a paper of that name,
    with a package, unless ``paper`` at the top of its file says whose part it is. The schema has
    the sections of each paper under ``papers``, both in the order that ``order`` in their files
    gives. The key ``papers`` of a config may hold those found, all by default; only the sections of
    papers that it holds are required.

    Raises
    ------
    ConfigError
        If a paper has no schema or no package, or a definition stands in two files.
    """
    schema = read_own_yaml(folder / "config.schema.yaml")
    files = dict.fromkeys(schema.setdefault("$defs", {}), "config.schema.yaml")
    found = []
    for file in sorted(folder.glob("*.schema.yaml")):
        name = file.name.removesuffix(".schema.yaml")
        if name == "config":
            continue
        section = read_own_yaml(file)
        own = section.pop("$defs", {})
        if twice := min(own.keys() & files.keys(), default=""):
            raise ConfigError(f"{file}: $defs.{twice} is defined in {files[twice]} already")
        schema["$defs"] |= own
        files |= dict.fromkeys(own, file.name)
        if section:
            paper = section.pop("paper", name)
            found.append((paper != name, section.pop("order", math.inf), name, paper))
            schema["properties"][name] = section
    papers: dict[str, list[str]] = {}
    for _, _, name, paper in sorted(found):  # papers come before parts
        papers.setdefault(paper, []).append(name)
    for paper, names in papers.items():
        package = _packages(folder.parents[1]) / paper
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
    return schema


def _packages(root: Path) -> Path:
    """Where the papers' packages lie: a workflow that is installed stands inside of featlearn."""
    return root.parent if root.name == "_workflow" else root / "src" / "featlearn"


def refuse(found: Iterable[str], what: str = "the config is") -> None:
    """Raise one ConfigError that lists all faults, if there are any."""
    lines = list(found)
    if lines:
        told = lines[:LINES] + [f"and {len(lines) - LINES} more"] * (len(lines) > LINES)
        raise ConfigError(f"{what} not valid:\n" + "\n".join(f"  {line}" for line in told))


# --------------------------------------------------------------------------- schema


def _resolve(schema: Mapping[str, Any], top: Mapping[str, Any]) -> Mapping[str, Any]:
    if "$ref" not in schema:
        return schema
    found: Any = top
    for part in schema["$ref"].removeprefix("#/").split("/"):
        found = found[part]
    return merge(found, {key: value for key, value in schema.items() if key != "$ref"})


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


def fill_defaults(value: Any, schema: Mapping[str, Any], top: Mapping[str, Any]) -> Any:
    """``value`` with every absent key that has a ``default`` in the schema put in.

    An absent group comes in with its defaults too, unless it has keys that only a user can give.
    Under keys that are free to choose (``additionalProperties``), every group that is there is
    filled.
    """
    schema = _resolve(schema, top)
    if not isinstance(value, Mapping):
        return value
    filled = {key: below for key, below in value.items() if below is not _TAKEN_AWAY}
    named, others = schema.get("properties", {}), schema.get("additionalProperties")
    if isinstance(others, Mapping):
        for key in filled.keys() - named.keys():
            filled[key] = fill_defaults(filled[key], others, top)
    for key, below in named.items():
        below = _resolve(below, top)
        if key in filled:
            filled[key] = fill_defaults(filled[key], below, top)
        elif "default" in below:
            filled[key] = fill_defaults(below["default"], below, top)
        elif below.get("type") == "object" and "properties" in below:
            inner = fill_defaults({}, below, top)
            if inner and inner.keys() >= set(below.get("required", ())):
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
    key = ".".join(_word(part) for part in error.absolute_path) or "(top)"
    value: Any = error.instance
    shown = cut(value)
    rule: Any = error.validator_value
    schema: Any = error.schema
    match error.validator:
        case "additionalProperties":
            known = list(schema["properties"])
            for unknown in sorted(set(value) - set(known), key=str):
                name = _word(unknown) if key == "(top)" else f"{key}.{_word(unknown)}"
                near = difflib.get_close_matches(str(unknown), known, n=1)
                hint = (
                    f"did you mean {near[0]!r}?" if near else f"expected one of {', '.join(known)}"
                )
                yield f"{name}: unknown key; {hint}"
        case "required":
            for missing in rule:
                if missing not in value:
                    yield f"{key}.{missing}: missing".removeprefix("(top).")
        case "type":
            kinds = [rule] if isinstance(rule, str) else rule
            wanted = " or ".join(TYPE_WORDS[kind] for kind in kinds)
            hint = ""
            if isinstance(value, str) and {"number", "integer"} & set(kinds) and _is_number(value):
                whole = value.strip().isdigit()
                way = "without quotes" if whole else "with a point, such as 1.0e-3"
                hint = f" (YAML reads {value} as text: write it {way})"
            yield f"{key}: {shown}; expected {wanted}{hint}"
        case "enum":
            yield f"{key}: {shown}; expected one of {', '.join(map(str, rule))}"
        case "minimum":
            yield f"{key}: {shown}; expected at least {rule}"
        case "maximum":
            yield f"{key}: {shown}; expected at most {rule}"
        case "exclusiveMinimum":
            yield f"{key}: {shown}; expected more than {rule}"
        case "exclusiveMaximum":
            yield f"{key}: {shown}; expected less than {rule}"
        case "minItems" | "maxItems" | "minProperties" | "maxProperties":
            bound = "at least" if str(error.validator).startswith("min") else "at most"
            what = "keys" if str(error.validator).endswith("Properties") else "entries"
            yield f"{key}: {len(value)} {what}; expected {bound} {rule}"
        case "minLength":
            yield f"{key}: {shown}; expected some text"
        case "maxLength":
            yield f"{key}: {shown}; expected at most {rule} letters, not {len(value)}"
        case "pattern":
            yield f"{key}: {shown}; expected {schema.get('description', rule)}"
        case _:
            yield f"{key}: {cut(error.message, str)}"


def cut(value: Any, write: Callable[[Any], str] = repr) -> str:
    """A value as a message repeats it: printable, on one line and of at most LETTERS letters."""
    text = write(value)
    return text if len(text) <= LETTERS else f"{text[: LETTERS - 4]} ..."


def _word(key: object) -> str:
    """A key as a message names it."""
    text = str(key)
    return cut(text, str) if text.isprintable() else cut(text)


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


# --------------------------------------------------------------------------- checks of a paper

#: What a paper's own check gives: lines such as ``mrp.headline.data.patches: 10; expected ...``.
Check = Callable[[Mapping[str, Any]], Iterable[str]]

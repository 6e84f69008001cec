"""Data sets that a scale names, and what it makes of those that are there.

The file of a scale may hold ``sets``: the ``data`` group of a data set by name; and ``given``: by
names of sets and papers, with spaces between them, a layer of the config that counts where all of
these are there. In it ``{set: NAME, size: 32}`` stands for the group of that name with these
further keys, ``{path_of: NAME}`` for its path alone. A set of the scale is there if its folder or
file is; one that a user names is taken at its word.
"""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping
from pathlib import Path
from typing import Any

from featlearn.core.errors import ConfigError
from featlearn.core.run.checks import must

Layer = dict[str, Any]


def layers_of(scale: Mapping[str, Any], user: Mapping[str, Any]) -> tuple[list[Layer], list[str]]:
    """The layers of a scale's file for a user's config, and a line on each set that is missing.

    Raises ConfigError if the user names a set that the scale does not have.
    """
    if "given" not in scale:
        return [dict(scale)], []
    sets, own = scale.get("sets", {}), user.get("sets") or {}
    if not isinstance(own, Mapping):
        raise ConfigError(must("sets", "a group of data sets by name", own))
    for name, data in own.items():
        if name not in sets:
            raise ConfigError(must(f"sets.{name}", f"one of {', '.join(sets)}", data))
        if not isinstance(data, Mapping):
            raise ConfigError(must(f"sets.{name}", "a group such as {kind: folder, path: …}", data))
    known = {**sets, **own}
    lost = {name for name in sets if known[name] == sets[name] and not _place(sets[name]).exists()}
    layers = [{key: value for key, value in scale.items() if key not in ("sets", "given")}]
    unmade: dict[str, dict[str, None]] = {name: {} for name in sorted(lost)}
    made: dict[str, None] = {}
    named = user.get("papers", scale.get("papers"))
    papers = [one for one in named if isinstance(one, str)] if isinstance(named, list) else []
    for words, layer in scale["given"].items():
        names = {*words.split()}
        if not names <= {*sets, *papers}:
            continue
        groups = dict.fromkeys(_groups(layer, () if names & {*papers} else papers))
        for name in sorted(lost & names):
            unmade[name] |= groups
        if not lost & names:
            made |= groups
            layers.append(_filled(layer, known))
    return layers, [
        f"{name}: no {_place(sets[name])}; {what} {', '.join(chosen)}"
        for name, groups in unmade.items()
        for what, chosen in (
            ("stand-ins remain in", [one for one in groups if one not in made]),
            ("made without it:", [one for one in groups if one in made]),
        )
        if chosen
    ]


def without(user: Mapping[str, Any], scale: Mapping[str, Any]) -> Layer:
    """A user's config less what the file of the scale says too, and less the sets."""
    same = {key for key in ("given", "based_on") if key in user and user[key] == scale.get(key)}
    return {
        k: v for k, v in user.items() if k not in same | ({"sets"} if "given" in scale else set())
    }


def _place(data: Mapping[str, Any]) -> Path:
    return Path(data.get("path") or data["root"]).expanduser()


def _groups(layer: Mapping[str, Any], papers: Container[str]) -> Iterator[str]:
    """``section.group`` of what a layer changes in these papers, in all if none is given."""
    for section, groups in layer.items():
        if not papers or section in papers:
            yield from (f"{section}.{group}" for group in groups)


def _filled(value: Any, sets: Mapping[str, Mapping[str, Any]]) -> Any:
    if isinstance(value, list):
        return [_filled(one, sets) for one in value]
    if not isinstance(value, Mapping):
        return value
    if "path_of" in value:
        return sets[value["path_of"]]["path"]
    filled = {key: _filled(one, sets) for key, one in value.items() if key != "set"}
    return {**sets[value["set"]], **filled} if "set" in value else filled

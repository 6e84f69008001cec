"""From a group of the config, ``kind`` and options, to the object that it describes."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from featlearn.core.checks import unknown
from featlearn.core.errors import ConfigError

Made = TypeVar("Made")


def construct(
    key: str,
    settings: Mapping[str, Any],
    kinds: Mapping[str, tuple[str, Callable[..., Made]]],
    *given: Any,
) -> Made:
    """Call the function of ``settings["kind"]`` with the options of that kind.

    The options stand beside ``kind``, or in a group named after the kind's family: a config that
    has its defaults filled in holds the groups of all families, and only the own one is read.

    ``key``: name of the settings in the config, for messages. ``kinds``: for each kind its family
    and a function whose keyword arguments are the options. ``*given``: first arguments of the
    function. Raises ConfigError for an unknown kind or an option that the kind does not have.
    """
    kind = settings.get("kind", "")
    if kind not in kinds:
        raise ConfigError(f"{key}.kind: {kind!r}; expected one of {', '.join(kinds)}")
    _, make = kinds[kind]
    options = options_of(settings, kinds)
    known = _options(make, len(given))
    for name in options:
        if name not in known:
            hint = unknown(name, known).partition("; ")[2]
            raise ConfigError(f"{key}.{name}: unknown option of {kind}; {hint}")
    return make(*given, **options)


def options_of(
    settings: Mapping[str, Any], kinds: Mapping[str, tuple[str, Callable[..., Any]]]
) -> dict[str, Any]:
    """The options of the kind that ``settings`` name, from beside ``kind`` or from its group."""
    families = {name for name, _ in kinds.values()}
    options = {name: value for name, value in settings.items() if name not in families | {"kind"}}
    return options | settings.get(kinds[settings["kind"]][0], {})


def _options(make: Callable[..., Any], given: int) -> list[str]:
    """Names of the arguments after the first ``given`` ones."""
    return list(inspect.signature(make).parameters)[given:]

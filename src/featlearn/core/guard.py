"""A config file is data: one that Snakemake would run as a program is refused.

Snakemake hands config files to a template engine (YTE). A YAML file that says ``__use_yte__`` may
hold Python, which runs while the file is read, before any line of the Snakefile. So the profile of
this workflow, which Snakemake reads first, looks at the files on the command line with
:func:`template_fault`. The profile runs this file by its path: it imports nothing of featlearn.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path

import yaml

SWITCH = "__use_yte__"


def template_fault(words: Iterable[str]) -> str | None:
    """Why the config files among the words of a command line are refused; None if they are not.

    Every word that names a file ending in ``.yaml``, ``.yml`` or ``.json`` counts, and every word
    after ``--configfile``: a file too many is looked at, never one too few.
    """
    after = False
    for word in words:
        name, _, value = word.partition("=")
        option = name.startswith("--")
        after = name.startswith("--configf") if option else after
        path = Path(value if option else word)
        wanted = after or path.suffix in (".yaml", ".yml", ".json")
        if wanted and path.is_file() and (fault := _fault(path)):
            return f"{path}: {fault}"
    return None


def _fault(path: Path) -> str | None:
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        return f"cannot be read: {error}"
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        pass
    else:
        return None  # Snakemake takes JSON for what it is
    try:
        content = yaml.safe_load(text)
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        return f"is not plain YAML: {error}"
    if isinstance(content, dict) and SWITCH in content:
        return (
            f"{SWITCH}: a config that holds Python is not run; expected plain values "
            "(evaluate it with yte where you trust it, and give the result)"
        )
    return None

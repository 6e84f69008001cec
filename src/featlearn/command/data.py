"""``featlearn data``: which data sets have a name, and how one comes to this machine."""

from __future__ import annotations

import argparse
from pathlib import Path

from featlearn.core.errors import FeatlearnError
from featlearn.core.run.checks import must
from featlearn.images.data.fetch import get, missing
from featlearn.images.data.published import PUBLISHED


def data(options: argparse.Namespace) -> int:
    root = Path(options.root).expanduser()
    if options.what == "list":
        for name, own in PUBLISHED.items():
            there = "not there" if missing(own, root) else f"in {root}"
            print(f"{name}: {own.megabytes} MB, licence: {own.licence}; {there}")
            for archive in own.archives:
                print(f"    {archive.address}  MD5 {archive.md5}")
            if own.page:
                print(f"    {own.page} (asks for an account)")
        return 0
    if options.name not in PUBLISHED:
        raise FeatlearnError(must("NAME", f"one of {', '.join(PUBLISHED)}", options.name))
    get(options.name, root)
    kind = f"kind: torchvision, name: {options.name}, root"
    if options.name.startswith("VOC"):
        kind = f"kind: {options.name.lower()}, path"
    print(f"In a config: data: {{{kind}: {root}}}")
    return 0

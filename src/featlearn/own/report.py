"""The report on a user's own images: one offline HTML file, worth sending.

Nothing is measured here. It loads nothing from elsewhere (pictures are ``data:`` URIs), all that
comes out of a file is escaped, and the same inputs give the same page.
"""

from __future__ import annotations

import re
from collections.abc import Hashable, Mapping, Sequence
from itertools import cycle
from pathlib import Path
from typing import Any, NamedTuple

import jinja2
import pandas as pd
from markupsafe import Markup

from featlearn.core.embedding import picture
from featlearn.core.files import read_parquet
from featlearn.core.prose import Page, parse_page
from featlearn.core.report import TEMPLATES, plain_yaml
from featlearn.images.look import some
from featlearn.own.intervals import FEW
from featlearn.own.tables.images import ACCURACY, cut, interval

#: Order of the page; what a run does not have is left out.
FIGURES = ("accuracy", "confusion", "maps", "learning", "pictures")
#: Of each table how many of its columns tell what a row is about; the others hold what was found.
TABLES = {"accuracy": 4, "gains": 4, "classes": 3, "detection": 2, "pictures": 2}
#: Faults that are listed; of more the page says how many, and where they stand.
LISTED = 200


class Shown(NamedTuple):
    """A figure or table of the page."""

    key: str
    page: Page
    files: Sequence[str]
    image: str | None = None
    size: tuple[int, int] | None = None


class Left(NamedTuple):
    """A picture that was left out."""

    file: str
    reason: str


def render(
    *,
    folder: Path,
    captions: Mapping[str, str],
    faults: Mapping[str, Path],
    twice: Mapping[str, Path],
    config: Mapping[str, Any],
    settings: Mapping[str, Any],
    command: str,
) -> str:
    """The HTML of the report.

    Parameters
    ----------
    folder
        ``results/<run>/own``.
    captions
        Of each figure and table, as ``figure/<name>``, its caption (Markdown).
    faults
        Of each data set the Parquet file of the pictures that were left out.
    twice
        The same of those whose pixels stand in another part or class as well.
    config
        ``run`` and ``seed``.
    settings
        The section ``real_images`` of the config, with its defaults.
    command
        What makes this run again.
    """
    figures = [_figure(folder, name, captions) for name in FIGURES if f"figure/{name}" in captions]
    tables = [_table(folder, name, captions) for name in TABLES if f"table/{name}" in captions]
    table = read_parquet(folder / "tables" / "accuracy.parquet")
    counts = read_parquet(folder / "tables" / "pictures.parquet")
    left = {
        name: [Left(*map(str, row)) for row in read_parquet(path)[["file", "reason"]].to_numpy()]
        for name, path in faults.items()
    }
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader([Path(__file__).with_name("templates"), TEMPLATES]),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["yaml"] = plain_yaml
    return environment.get_template("own.html.j2").render(
        config=config,
        settings=settings,
        command=command,
        sentences=sentences(table, counts, left),
        warnings=warnings(table, counts),
        figures={one.key: one for one in figures},
        tables={one.key: one for one in tables},
        left=left,
        twice={name: _twice(read_parquet(path)) for name, path in twice.items()},
        listed=LISTED,
    )


def _figure(folder: Path, name: str, captions: Mapping[str, str]) -> Shown:
    file = folder / "figures" / f"{name}.svg"
    image, size = picture(file)
    page = parse_page(captions[f"figure/{name}"], f"figure {name}", 2)
    return Shown(name, page, [f"figures/{name}.svg", f"figures/{name}.png"], image, size)


def _table(folder: Path, name: str, captions: Mapping[str, str]) -> Shown:
    file = folder / "tables" / f"{name}.md"
    own = parse_page(file.read_text(encoding="utf-8"), str(file), 2)
    told = parse_page(captions[f"table/{name}"], f"table {name}", 2)
    page = Page(told.title, Markup(told.body + _with_heads(own.body, TABLES[name])))
    return Shown(name, page, [f"tables/{name}.md", f"tables/{name}.parquet"])


def _twice(frame: pd.DataFrame) -> list[list[str]]:
    """Files that are one picture, with the part that each is in; one list a picture."""
    groups: dict[str, list[str]] = {}
    for same, role, file in frame[["same", "role", "file"]].itertuples(index=False):
        part = "training" if role == "train" else role
        groups.setdefault(same, []).append(f"{part}: {file}")
    return list(groups.values())


def _with_heads(html: str, keys: int) -> Markup:
    """A table whose cells know their heads: on a narrow screen each row is a card of its own."""
    heads = [Markup(head).striptags() for head in re.findall(r"<th[^>]*>(.*?)</th>", html)]
    kinds = ("", Markup(' class="subject"'))
    cells = cycle(
        Markup('<td data-head="{}"{}').format(head, kinds[place < keys])
        for place, head in enumerate(heads)
    )
    return Markup(re.sub("<td", lambda _: next(cells), html))


def sentences(
    table: pd.DataFrame, counts: pd.DataFrame, left: Mapping[str, Sequence[Left]]
) -> list[str]:
    """What was found, a sentence or three a data set.

    Parameters
    ----------
    table
        As :func:`featlearn.own.tables.images.accuracy_table` makes it.
    counts
        Columns data_set, class, role, images.
    """
    told = []
    for name in dict.fromkeys(table["data_set"]):
        own = counts[counts["data_set"] == name]
        by_role = own.groupby("role")["images"].sum()
        out = len(left.get(name, ()))
        told.append(
            f"{name}: {own['class'].nunique()} classes, {by_role['train']} training and "
            f"{by_role['test']} test images"
            + (f"; {out} left out" if out else "; none left out")
            + "."
        )
        tuned = table[(table["data_set"] == name) & (table["evaluation"] == "fine-tuned")]
        most = tuned[tuned["fraction"] == tuned["fraction"].max()]
        words = [
            f"{row['method']} {interval(row['mean'], row['low'], row['high'])}"
            for row in most.to_dict("records")
        ]
        quantity, labels = most["quantity"].iloc[0], most["labels"].iloc[0]
        told.append(
            f"{quantity[0].upper()}{quantity[1:]} on the test images after training with all "
            f"{labels} labels, with its 95 % interval: {'; '.join(words)}."
        )
        told += [_gained(row) for row in most[most["gain"].notna()].to_dict("records")]
    return told


def _gained(row: Mapping[Hashable, Any]) -> str:
    name, seen = row["method"], interval(row["gain"], row["gain_low"], row["gain_high"])
    if row["gain_low"] > 0:
        return f"{name} added {seen} to training from scratch."
    if row["gain_high"] < 0:
        return f"{name} took something from training from scratch: {seen}."
    return (
        f"Whether {name} adds anything to training from scratch, these images do not tell: the "
        f"difference is {seen}."
    )


class Warned(NamedTuple):
    """What a reader must not overlook: a head of a few words, and the rest."""

    head: str
    text: str


def warnings(table: pd.DataFrame, counts: pd.DataFrame) -> list[Warned]:
    """What a reader must not overlook.

    Parameters
    ----------
    table, counts
        See :func:`sentences`; ``counts`` also with repeated and contradicted.
    """
    told = []
    for name, own in counts.groupby("data_set", sort=False):
        test = own[own["role"] == "test"]
        again, images = int(test["repeated"].sum()), int(test["images"].sum())
        if again:
            told.append(
                Warned(
                    "Test images that were trained on.",
                    f"{again} of the {images} test images of {name} are, pixel for pixel, training "
                    "images as well: accuracies here are too high. Keep one of each; their names "
                    "stand below. Cut or saved anew, a picture is not found by this.",
                )
            )
        if twice := int(own["contradicted"].sum()):
            told.append(
                Warned(
                    "One picture, two classes.",
                    f"{twice} images of {name} stand, pixel for pixel, in the folders of two "
                    "classes: no network can be right on both. Their names stand below.",
                )
            )
        for role, what in (("train", "no training image"), ("test", "no test image")):
            part = own[own["role"] == role]
            if none := part.loc[part["images"] == 0, "class"].tolist():
                told.append(
                    Warned("Classes without images.", f"{name}: {what} of {some(map(cut, none))}.")
                )
    for name, own in table.groupby("data_set", sort=False):
        images = int(own["test_images"].iloc[0])
        if images >= FEW or own["quantity"].iloc[0] != ACCURACY:
            continue
        wide = ((own["high"] - own["low"]) / 2).max()
        told.append(
            Warned(
                "Few test images.",
                f"{name} has {images} test images. One of them more or less moves an accuracy by "
                f"{100 / images:.0f} points, and each accuracy here is known to about "
                f"±{100 * wide:.0f} points. For ±5 points it takes about 400 test images. Put them "
                "into a folder test/ beside train/, or raise data.shares.test.",
            )
        )
    return told

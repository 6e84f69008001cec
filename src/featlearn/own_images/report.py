"""The report on a user's images: one offline HTML file that loads nothing from elsewhere."""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterator, Mapping, Sequence
from itertools import cycle
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd
from markupsafe import Markup

from featlearn.core.evidence.frames import pick
from featlearn.core.files import read_parquet
from featlearn.core.publishing.html_assets import Page, environment, parse_page, picture
from featlearn.core.run.checks import some
from featlearn.own_images.analysis import ACCURACY, cut, interval
from featlearn.own_images.config import FEW

#: Order of the page; what a run does not have is left out.
FIGURES = ("accuracy", "confusion", "maps", "learning", "pictures")
#: Of each table how many columns say what a row is about; the others hold results.
TABLES = {"accuracy": 4, "gains": 4, "classes": 3, "detection": 2, "pictures": 2}
#: Faults that are listed; of more the page says how many there are, and in which file.
LISTED = 200


class Shown(NamedTuple):
    """A figure or table of the page."""

    page: Page
    files: Sequence[str]
    image: str | None = None
    size: tuple[int, int] | None = None


def render(
    *, folder: Path, captions: Mapping[str, str], faults: Mapping[str, Path],
    twice: Mapping[str, Path], config: Mapping[str, Any], settings: Mapping[str, Any], command: str,
) -> str:  # fmt: skip
    """The HTML of the report.

    ``folder``: ``results/<run>/own_images``. ``captions``: of each figure and table, as ``figure/<name>``, in Markdown.
    ``faults``, ``twice``: of each data set the Parquet file of pictures that were left out, and of those that stand in
    another part or class as well. ``config``: ``run`` and ``seed``. ``settings``: the section ``real_images`` with its
    defaults. ``command``: what makes this run again.
    """
    table = read_parquet(folder / "tables" / "accuracy.parquet")
    counts = read_parquet(folder / "tables" / "pictures.parquet")
    left = {name: read_parquet(path)[["file", "reason"]].astype(str).to_numpy().tolist()
            for name, path in faults.items()}  # fmt: skip
    template = environment(Path(__file__).parent).get_template("report.html.j2")
    return template.render(
        config=config, settings=settings, command=command,
        sentences=sentences(table, counts, {name: len(files) for name, files in left.items()}),
        warnings=warnings(table, counts),
        figures={name: _figure(folder, name, captions[key]) for name in FIGURES
                 if (key := f"figure/{name}") in captions},
        tables={name: _table(folder, name, captions[key]) for name in TABLES
                if (key := f"table/{name}") in captions},
        left=left, listed=LISTED,
        twice={name: _twice(read_parquet(path)) for name, path in twice.items()},
    )  # fmt: skip


def _figure(folder: Path, name: str, caption: str) -> Shown:
    image, size = picture(folder / "figures" / f"{name}.svg")
    page = parse_page(caption, f"figure {name}", 2)
    return Shown(page, [f"figures/{name}.svg", f"figures/{name}.png"], image, size)


def _table(folder: Path, name: str, caption: str) -> Shown:
    file = folder / "tables" / f"{name}.md"
    cells = parse_page(file.read_text(encoding="utf-8"), str(file), 2).body
    text = parse_page(caption, f"table {name}", 2)
    page = Page(text.title, Markup(text.body + _with_heads(cells, TABLES[name])))
    return Shown(page, [f"tables/{name}.md", f"tables/{name}.parquet"])


def _with_heads(html: str, keys: int) -> Markup:
    """A table whose cells know their heads: on a narrow screen each row is a card of its own."""
    heads = [Markup(head).striptags() for head in re.findall(r"<th[^>]*>(.*?)</th>", html)]
    kinds = ("", Markup(' class="subject"'))
    cells = cycle(Markup('<td data-head="{}"{}').format(head, kinds[place < keys])
                  for place, head in enumerate(heads))  # fmt: skip
    return Markup(re.sub("<td", lambda _: next(cells), html))


def _twice(frame: pd.DataFrame) -> list[list[str]]:
    """Files that are one picture, with the part that each is in; one list a picture."""
    parts = frame["role"].replace("train", "training")
    groups = (parts + ": " + frame["file"]).groupby(frame["same"], sort=False)
    return [files.tolist() for _, files in groups]


def sentences(table: pd.DataFrame, counts: pd.DataFrame, left: Mapping[str, int]) -> list[str]:
    """The result, a sentence or three a data set.

    ``table``: as :func:`featlearn.own_images.analysis.accuracy_table` makes it. ``counts``: columns
    data_set, class, role, images. ``left``: number of pictures of each data set that were left out.
    """
    lines = []
    for name in dict.fromkeys(table["data_set"]):
        rows = pick(counts, data_set=name)
        by_role = rows.groupby("role")["images"].sum()
        lines.append(f"{name}: {rows['class'].nunique()} classes, {by_role['train']} training and "
                     f"{by_role['test']} test images; {left.get(name) or 'none'} left out.")  # fmt: skip
        tuned = pick(table, data_set=name, evaluation="fine-tuned")
        most = tuned[tuned["fraction"] == tuned["fraction"].max()]
        words = [f"{row['method']} {interval(row['mean'], row['low'], row['high'])}"
                 for row in most.to_dict("records")]  # fmt: skip
        quantity, labels = most["quantity"].iloc[0], most["labels"].iloc[0]
        lines.append(f"{quantity[0].upper()}{quantity[1:]} on the test images after training with all "
                     f"{labels} labels, with its 95 % interval: {'; '.join(words)}.")  # fmt: skip
        lines += [_gained(row) for row in most[most["gain"].notna()].to_dict("records")]
    return lines


def _gained(row: Mapping[Hashable, Any]) -> str:
    name, seen = row["method"], interval(row["gain"], row["gain_low"], row["gain_high"])
    if row["gain_low"] > 0:
        return f"{name} added {seen} to training from scratch."
    if row["gain_high"] < 0:
        return f"{name} took something from training from scratch: {seen}."
    return (f"Whether {name} adds anything to training from scratch, these images do not tell: the "
            f"difference is {seen}.")  # fmt: skip


def warnings(table: pd.DataFrame, counts: pd.DataFrame) -> Iterator[tuple[str, str]]:
    """What a reader must not overlook: a head of a few words, and the rest.

    ``table``, ``counts``: see :func:`sentences`; ``counts`` also with repeated and contradicted.
    """
    for name, rows in counts.groupby("data_set", sort=False):
        again, images = rows.loc[rows["role"] == "test", ["repeated", "images"]].sum()
        if again:
            yield (
                "Test images that were trained on.",
                f"{again} of the {images} test images of {name} are, pixel for pixel, training "
                "images as well: accuracies here are too high. Keep one of each; their names "
                "stand below. Cut or saved anew, a picture is not found by this.",
            )
        if twice := rows["contradicted"].sum():
            yield (
                "One picture, two classes.",
                f"{twice} images of {name} stand, pixel for pixel, in the folders of two "
                "classes: no network can be right on both. Their names stand below.",
            )
        for role, what in (("train", "no training image"), ("test", "no test image")):
            empty = rows.loc[(rows["role"] == role) & (rows["images"] == 0), "class"]
            if none := some(map(cut, empty)):
                yield "Classes without images.", f"{name}: {what} of {none}."
    for name, rows in table.groupby("data_set", sort=False):
        images = int(rows["test_images"].iloc[0])
        if images < FEW and rows["quantity"].iloc[0] == ACCURACY:
            wide = ((rows["high"] - rows["low"]) / 2).max()
            yield (
                "Few test images.",
                f"{name} has {images} test images. One of them more or less moves an accuracy by "
                f"{100 / images:.0f} points, and each accuracy here is known to about "
                f"±{100 * wide:.0f} points. For ±5 points it takes about 400 test images. Put them "
                "into a folder test/ beside train/, or raise data.shares.test.",
            )

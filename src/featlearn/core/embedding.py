"""Pictures as ``data:`` URIs and maths as MathML, for a page that loads nothing."""

from __future__ import annotations

import base64
import io
import re
from pathlib import Path

from latex2mathml.converter import convert
from markupsafe import Markup
from PIL import Image

from featlearn.core.symbols import signs, tagged

_FORMULA_OR_TAG = re.compile(r"(\$[^$<>\n]+\$|<[^>]*>)")
#: What a page shows as it stands.
_CODE = re.compile(r"(<(code|pre)\b.*?</\2>)", re.DOTALL)


def picture(svg: Path) -> tuple[str, tuple[int, int] | None]:
    """A figure as a URI, and its size in pixels where its PNG is there: a page keeps room for it.

    It is the SVG, or its PNG as lossless WebP if that is there and takes less room. The same pixels
    give the same bytes. These settings of the encoder take twice the time of its quickest ones
    for a seventh less bytes; its best ones, thirty times as slow, save a twentieth more.
    """
    content, kind, size = svg.read_bytes(), "image/svg+xml", None
    png = svg.with_suffix(".png")
    if png.is_file():
        with Image.open(png) as drawn:
            pixels, out = drawn.convert("RGB"), io.BytesIO()
        size = pixels.size
        pixels.save(out, "WEBP", lossless=True, quality=50, method=4)
        if len(out.getvalue()) < len(content):
            content, kind = out.getvalue(), "image/webp"
    return f"data:{kind};base64,{base64.b64encode(content).decode()}", size


def maths(text: str | Markup) -> Markup:
    """Text or HTML with its maths set; text that is no HTML is escaped first.

    ``$...$`` becomes MathML, and what is written in ASCII what :mod:`featlearn.core.symbols` makes
    of it.
    """
    pieces = _CODE.split(str(Markup.escape(text)))
    # a split by two groups: text, code, name of its tag, text, ...
    return Markup("".join(
        piece if place % 3 else _set(piece)
        for place, piece in enumerate(pieces)
        if place % 3 < 2
    ))  # fmt: skip


def _set(html: str) -> str:
    """HTML without code, its formulas set and between its tags the other maths."""
    pieces = _FORMULA_OR_TAG.split(html)
    return "".join(
        (_mathml(piece[1:-1]) if piece[0] == "$" else piece) if place % 2 else _plain(piece)
        for place, piece in enumerate(pieces)
    )


def _plain(text: str) -> str:
    return tagged(str(Markup.escape(signs(Markup(text).unescape()))))


def _mathml(source: str) -> str:
    return str(convert(Markup(source).unescape()))

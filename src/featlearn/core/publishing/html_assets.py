"""Report and pages: the one Jinja environment, and Markdown and pictures that load nothing."""

from __future__ import annotations

import base64
import hashlib
import io
import math
import re
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from urllib.parse import quote

import jinja2
import yaml
from markdown_it import MarkdownIt
from markdown_it.rules_inline import StateInline
from markupsafe import Markup
from PIL import Image

from featlearn.core.errors import FeatlearnError
from featlearn.core.evidence.claims import KINDS, THEOREM, VERDICTS
from featlearn.core.evidence.stats import figure, number
from featlearn.core.publishing import summary
from featlearn.core.publishing.maths import FORMULA, escaped, maths, plain, without_tags, wrapping

TEMPLATES = Path(__file__).with_name("templates")


@dataclass(frozen=True)
class Page:
    """A Markdown page: the text of its first heading, and the HTML of all that follows."""

    title: str
    body: Markup


def inline(text: str) -> Markup:
    """One sentence of Markdown as HTML, without a paragraph around it."""
    return Markup(_markdown().renderInline(text))


def _markdown() -> MarkdownIt:
    """Without raw HTML and pictures, which could bring a script, or a request to elsewhere."""
    made = MarkdownIt("commonmark", {"html": False}).disable("image")
    made.inline.ruler.before("escape", "formula", _formula)
    made.add_render_rule("formula", lambda _, tokens, at, *__: wrapping(tokens[at].content[1:-1]))
    return made


def _formula(state: StateInline, silent: bool) -> bool:
    """Rule of the parser: a formula is no Markdown."""
    match = FORMULA.match(state.src, state.pos)
    if match and not silent:
        state.push("formula", "", 0).content = match[0]
    state.pos = match.end() if match else state.pos
    return match is not None


def parse_page(text: str, source: str, level: int) -> Page:
    """Markdown as HTML below a heading of this ``level``; FeatlearnError without ``# Title``."""
    markdown = _markdown().enable("table")
    tokens = markdown.parse(text)
    if not tokens or tokens[0].type != "heading_open" or tokens[0].tag != "h1":
        raise FeatlearnError(f"{source}: expected `# Title` on the first line")
    title = "".join(part.content for part in tokens[1].children or [])
    for token in tokens:
        if token.type in ("heading_open", "heading_close"):
            token.tag = f"h{min(6, level - 1 + int(token.tag[1]))}"
    html = markdown.renderer.render(tokens[3:], markdown.options, {})
    # a table scrolls in its own box, which the keyboard must reach; raw text cannot hold a tag. A
    # group and no region: a page of two hundred has no use for two hundred landmarks
    label = Markup.escape(plain(title))
    box = f'<div class="scroll" role="group" tabindex="0" aria-label="{label}">'
    html = html.replace("<table>", f"{box}<table>").replace("</table>", "</table></div>")
    html = re.sub("<th[^>]*></th>", "<td></td>", html)  # a corner without words heads nothing
    html = re.sub(r"(?<=\d) %", "\N{NO-BREAK SPACE}%", html)
    return Page(title, Markup(html))


def alt_text(page: Page) -> str:
    """Alternative text of a figure: its title and the first sentence of its caption."""
    first = re.split(r"(?<=[.?!])\s", without_tags(page.body), maxsplit=1)[0]
    title = plain(page.title)
    return f"{title}{'' if title.endswith(('.', '?', '!')) else '.'} {first}".strip()


def picture(svg: Path) -> tuple[str, tuple[int, int] | None]:
    """A figure as a URI, SVG or lossless WebP, and its size in pixels where its PNG is there."""
    content, kind, size = svg.read_bytes(), "image/svg+xml", None
    png = svg.with_suffix(".png")
    if png.is_file():
        pixels, size = lossless(png, quality=50)
        if len(pixels) < len(content):
            content, kind = pixels, "image/webp"
    return f"data:{kind};base64,{base64.b64encode(content).decode()}", size


def lighter(svg: Path) -> tuple[Path, tuple[int, int] | None]:
    """Of a figure the smaller file, SVG or PNG, and its size in pixels where its PNG is there."""
    png = svg.with_suffix(".png")
    if not png.is_file():
        return svg, None
    with Image.open(png) as drawn:
        return min(svg, png, key=lambda file: file.stat().st_size), drawn.size


def lossless(png: Path, quality: int = 100) -> tuple[bytes, tuple[int, int]]:
    """A picture as WebP with the same pixels, and its size; ``quality`` is that of the search."""
    out = io.BytesIO()
    with Image.open(png) as drawn:
        drawn.convert("RGB").save(out, "WEBP", lossless=True, quality=quality, method=4)
        return out.getvalue(), drawn.size


def script_hash(script: str) -> str:
    """What a content security policy calls an inline script that may run."""
    digest = hashlib.sha256(str(script).encode()).digest()
    return f"sha256-{base64.b64encode(digest).decode()}"


def cell(text: str) -> str:
    """Markdown as it stands in a cell of a table."""
    return text.replace("|", "\\|")


def environment(*folders: Path) -> jinja2.Environment:
    """Templates of :data:`TEMPLATES`, after those of ``folders``: all but Markdown is escaped."""
    made = jinja2.Environment(
        loader=jinja2.FileSystemLoader([*folders, TEMPLATES]),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        autoescape=lambda name: not (name or "").endswith(".md.j2"),
    )
    functions = (number, figure, maths, inline, cell, escaped, plain)
    made.filters.update({one.__name__: one for one in functions})
    as_yaml = partial(yaml.safe_dump, allow_unicode=True)
    made.filters.update(yaml=as_yaml, hash=script_hash, link=quote)
    rows = (
        summary.anchor, summary.answer, summary.band, summary.cells, summary.count,
        summary.failures, summary.measured, summary.places, summary.title,
        summary.verb, summary.verdict, math.isnan,
    )  # fmt: skip
    made.globals.update({one.__name__: one for one in rows})
    made.globals.update(verdicts=VERDICTS, kinds=KINDS, theorem=THEOREM)
    return made

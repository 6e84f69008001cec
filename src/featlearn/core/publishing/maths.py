"""Formulas in texts, ``$\\sigma_0 \\le k^{-1/2}$``: MathML in HTML, signs where there is only text.

Markdown keeps them as they are. All that is outside of dollars is text, and shown as it is.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator
from xml.etree import ElementTree

from latex2mathml.converter import convert
from markupsafe import Markup

from featlearn.core.errors import FeatlearnError

#: LaTeX between dollars, with no space at its ends: two prices in a sentence are no formula.
FORMULA = re.compile(r"\$((?=\S)[^$]*[^$\s])\$(?!\d)")
_MATHML = re.compile(r"<math.*?</math>", re.DOTALL)
#: Where a line may break within a formula.
_BREAK = re.compile("</math><wbr><math[^>]*>")
#: What Markdown would take for its own.
_MARKS = re.compile(r"([\\`*_\[\]|~])")
_NAMESPACE = "http://www.w3.org/1998/Math/MathML"
ElementTree.register_namespace("", _NAMESPACE)
#: Signs of a formula that fits a line on a narrow screen.
SHORT = 24
_RELATIONS = frozenset("=≠<>≤≥≪≫≈∼∝→∈±+−")
#: A sign that is no operation: nothing is before it.
_UNARY = re.compile(r"(^|[(,=≠<>≤≥≈∈] ?)([−+±]) ")
_ACCENTS = {"~": "\u0303", "^": "\u0302", "¯": "\u0304", "_": "\u0304"}
_RAISED = str.maketrans("0123456789+−()", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁽⁾")
_LOWERED = str.maketrans("0123456789+−()", "₀₁₂₃₄₅₆₇₈₉₊₋₍₎")


@functools.cache
def mathml(latex: str) -> Markup:
    """LaTeX as MathML; FeatlearnError if braces do not match, or it holds what is unknown."""
    if not (latex := " ".join(latex.split())).isprintable():
        raise FeatlearnError(f"formula {latex!r}: must have no control characters")
    depth = [0]
    for brace in re.findall(r"(?<!\\)[{}]", latex):
        depth.append(depth[-1] + (1 if brace == "{" else -1))
    try:
        # the one command of ours that the library lacks
        html = convert(re.sub(r"\\arg\b", r"\\operatorname{arg}", latex))
    except Exception as error:  # the library has a class of its own for each fault
        raise FeatlearnError(f"formula ${latex}$: {error!r}") from error
    if depth[-1] or min(depth) < 0:
        raise FeatlearnError(f"formula ${latex}$: braces must match")
    if unknown := re.search(r"\\[A-Za-z]*", html):
        raise FeatlearnError(f"formula ${latex}$: unknown command {unknown[0]}")
    return Markup(html)


def maths(text: str) -> Markup:
    """Text as HTML, its formulas as MathML."""
    parts = FORMULA.split(str(text))
    return Markup("").join(wrapping(part) if n % 2 else part for n, part in enumerate(parts))


def wrapping(latex: str) -> Markup:
    """LaTeX as MathML: where it is long, several formulas, between which a line may break."""
    whole = mathml(latex)
    root = ElementTree.fromstring(whole)
    if len(_in_signs(whole)) <= SHORT:
        return whole
    parts: list[ElementTree.Element] = []
    for node in _flat(root):
        breaks = node.tag.endswith("}mo") and node.text in _RELATIONS and parts and len(parts[-1])
        if breaks:
            node.set("form", "infix")
        if breaks or not parts:
            parts.append(ElementTree.Element(root.tag, root.attrib))
        parts[-1].append(node)
    return Markup("<wbr>".join(ElementTree.tostring(part, "unicode") for part in parts))


def _flat(node: ElementTree.Element) -> Iterator[ElementTree.Element]:
    """What stands on the line of a formula, in brackets too."""
    for child in node:
        yield from _flat(child) if child.tag.endswith("}mrow") else (child,)


def plain(text: str) -> str:
    """Text with its formulas as signs: ``σ₀ ≤ k^(−1/2)``."""
    return FORMULA.sub(lambda match: _in_signs(mathml(match[1])), text)


def without_tags(html: Markup) -> str:
    """HTML as text, its formulas as signs."""
    whole = _BREAK.sub("", html)
    return Markup(_MATHML.sub(lambda match: Markup.escape(_in_signs(match[0])), whole)).striptags()


def escaped(text: str) -> str:
    """Text as Markdown that shows it as it is, also in a cell of a table; formulas stay."""
    parts = FORMULA.split(" ".join(text.split()))
    return "".join(
        f"${part.replace('<', chr(92) + 'lt ')}$"
        if n % 2
        else _MARKS.sub(r"\\\1", part.replace("&", "&amp;").replace("<", "&lt;"))
        for n, part in enumerate(parts)
    )


def _in_signs(html: str) -> str:
    return _UNARY.sub(r"\1\2", " ".join(_signs(ElementTree.fromstring(html)).split()))


def _signs(node: ElementTree.Element) -> str:
    """A node of MathML as text."""
    tag, parts = node.tag.rpartition("}")[2], [_signs(child) for child in node]
    text = "".join(parts) or node.text or ""
    match tag, parts:
        case "msub" | "munder", [base, low]:
            return _behind(base, _set(low, "_", _LOWERED))
        case "msup", [base, high]:
            return _behind(base, _set(high, "^", _RAISED))
        case "msubsup" | "munderover", [base, low, high]:
            return _behind(base, _set(low, "_", _LOWERED) + _set(high, "^", _RAISED))
        case "mover", [base, accent]:
            return base + _ACCENTS.get(accent.strip(), accent)
        case "mfrac", [top, bottom]:
            return f"{_grouped(top)}/{_grouped(bottom)}"
        case "msqrt", _:
            return f"√{_grouped(text)}"
        case "mspace", _:
            return " "
    if tag == "mo" and text in _RELATIONS:
        return f" {text} "
    return f"{text} " if text == "," or (tag in ("mi", "mo") and len(text) > 1) else text


def _set(part: str, mark: str, signs: dict[int, int]) -> str:
    """What stands above or below: in signs of that height where there are some for all of it."""
    tight = part.replace(" ", "")
    raised = tight.translate(signs)
    if not set(raised) & set(tight):
        return raised
    return mark + (tight if tight.isalnum() else _grouped(part))


def _behind(base: str, indices: str) -> str:
    """Indices at what they belong to; the name of a function keeps its space behind them."""
    return base.strip() + indices + " " * base.endswith(" ")


def _grouped(part: str) -> str:
    return part.strip() if len(part.strip()) == 1 or part.strip().isdigit() else f"({part.strip()})"

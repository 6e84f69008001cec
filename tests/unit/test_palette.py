"""One palette and one rule of error bars: held over the figure modules of all papers."""

import ast
import re

import matplotlib.colors
import pytest

from featlearn.core.palette import COLOURS, PALETTE, contrast
from featlearn.core.publish import PACKAGE

PATTERNS = ("*/figures/*.py", "*/analysis/*.py", "own_images/*.py")
MODULES = sorted(file for pattern in PATTERNS for file in PACKAGE.glob(pattern))
HEX = re.compile(r"#(?:[0-9A-Fa-f]{3}){1,2}")
#: What Matplotlib is told and is no colour of a concept.
NEUTRAL = {"white", "black", "none"}
#: Keywords that take a colour.
KEYWORDS = {"color", "c", "colors", "facecolor", "edgecolor", "edgecolors", "facecolors", "ecolor",
            "markerfacecolor", "markeredgecolor", "linecolor"}  # fmt: skip
#: Error bars that are not of :mod:`featlearn.core.statistical`: by hand, of a normal quantile where
#: all others are Student's, or no intervals.
OWN_BARS = re.compile(r"\.errorbar\(|\b1\.96\b|errorbar=\(\"(?:pi|se|sd|ci)\"")
SIZE = re.compile(r"(?:fontsize|labelsize)\"?[=:]\s*([\d.]+)")
#: Modules that have not come over yet; only ever fewer.
NOT_YET = {"fourier/analysis/attention.py"}


def modules(asked):
    """Those figure modules, by name, of whose source something is so."""
    return {str(file.relative_to(PACKAGE)) for file in MODULES if asked(file.read_text())}


def own_colours(source):
    """Colours that a source spells out itself."""
    tree = ast.parse(source)
    found = {
        node.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant)
        and isinstance(node.value, str)
        and HEX.fullmatch(node.value)
    }
    given = (node.value for node in ast.walk(tree)
             if isinstance(node, ast.keyword) and node.arg in KEYWORDS)  # fmt: skip
    for value in given:
        parts = list(ast.walk(value))
        words = {part.value for part in parts if isinstance(part, ast.Constant)}
        # columns of a frame and keys of the palette may have the name of a colour
        keys = {one.value for part in parts if isinstance(part, ast.Subscript)
                for one in ast.walk(part.slice) if isinstance(one, ast.Constant)}  # fmt: skip
        if any(isinstance(part, ast.Name) and part.id == "COLOURS" for part in parts):
            keys |= set(COLOURS)
        found |= {
            word
            for word in words - keys - NEUTRAL
            if isinstance(word, str) and matplotlib.colors.is_color_like(word)
        }
    return found


@pytest.mark.parametrize("colour", sorted({*COLOURS.values(), *PALETTE.values()}))
def test_a_colour_is_seen_on_white(colour):
    assert contrast(colour) >= 3


def test_figures_take_their_colours_from_the_palette():
    assert modules(own_colours) == NOT_YET
    assert own_colours('f(color="#123456"); g(c="tomato"); h(x=["red"])') == {"#123456", "tomato"}


def test_error_bars_are_those_of_one_module():
    assert not modules(OWN_BARS.search)


def test_no_text_is_smaller_than_eight_points():
    assert not modules(lambda source: any(float(size) < 8 for size in SIZE.findall(source)))

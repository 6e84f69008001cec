"""One palette and one rule of error bars: held over the figure modules of all papers."""

import re

import pytest

from featlearn.core.palette import COLOURS, PALETTE, contrast
from featlearn.core.plots import PAGE
from featlearn.core.publish import PACKAGE

PATTERNS = ("*/figures/*.py", "*/analysis/*.py", "own_images/*.py")
MODULES = sorted(file for pattern in PATTERNS for file in PACKAGE.glob(pattern))
#: What no figure module says: a colour of its own; an error bar by hand, of a normal quantile where
#: all others are Student's, or that is no interval; letters below eight points; a wider page.
NOWHERE = {
    "colours": r"""["']#(?:[0-9A-Fa-f]{3}){1,2}["']|\b(?:\w*colors?|c)=["'](?!white|black|none)""",
    "bars": r"""\.errorbar\(|\b1\.96\b|errorbar=\(["'](?:pi|se|sd|ci)["']""",
    "letters": r"""(?:fontsize|labelsize)["']?[=:]\s*[1-7](?:\.\d+)?\b""",
    "width": r"\bcanvas\(\s*(?!min\(PAGE|max\()[^,\n]*\*[^,\n]*,",
}
#: Modules that have not come over yet; only ever fewer.
NOT_YET = {"colours": {"fourier/analysis/attention.py"}}


def modules(asked):
    """Those figure modules, by name, of whose source something is so."""
    return {str(file.relative_to(PACKAGE)) for file in MODULES if asked(file.read_text())}


@pytest.mark.parametrize("colour", sorted({*COLOURS.values(), *PALETTE.values()}))
def test_a_colour_is_seen_on_white(colour):
    assert contrast(colour) >= 3
    assert contrast("#777777") == pytest.approx(4.48, abs=0.01)  # of the guidelines


@pytest.mark.parametrize("rule", NOWHERE)
def test_figure_modules_keep_the_rule(rule):
    assert modules(re.compile(NOWHERE[rule]).search) == NOT_YET.get(rule, set())


def test_no_figure_is_wider_than_the_page():
    width = re.compile(r"\bcanvas\(\s*([\d.]+)")
    assert not modules(lambda source: any(float(one) > PAGE for one in width.findall(source)))

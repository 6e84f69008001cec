"""One palette and one rule of error bars: held over the figure modules of all papers."""

import pytest

from featlearn.core.palette import COLOURS, PALETTE, contrast


@pytest.mark.parametrize("colour", sorted({*COLOURS.values(), *PALETTE.values()}))
def test_a_colour_is_seen_on_white(colour):
    assert contrast(colour) >= 3
    assert contrast("#777777") == pytest.approx(4.48, abs=0.01)  # of the guidelines

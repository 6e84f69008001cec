"""Maths that is written in ASCII, as the report and the pages show it."""

from __future__ import annotations

import pytest

from featlearn.core.embedding import maths
from featlearn.core.front import plain, sentence
from featlearn.core.symbols import signs, tagged


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("|alpha_ij| <= log^(1/4) d / sqrt d", "|α<sub>ij</sub>| ≤ log<sup>1/4</sup> d / √d"),
        ("||M||_F^2 / ||M||_2", "‖M‖<sub>F</sub><sup>2</sup> / ‖M‖<sub>2</sub>"),
        ("<w_2, v_1>**3 of R_1", "⟨w<sub>2</sub>, v<sub>1</sub>⟩<sup>3</sup> of R<sub>1</sub>"),
        ("O~(d**-1/2), and O~ hides", "Õ(d<sup>−1/2</sup>), and Õ hides".replace("Õ", "O\u0303")),
        (
            "Lambda_0^-(2q-2), k**(-1/(q-2))",
            "Λ<sub>0</sub><sup>−(2q−2)</sup>, k<sup>−1/(q−2)</sup>",
        ),
        ("sqrt(2 log d) sqrt(5)", "√(2 log d) √5"),
        ("T_0 = 1e5, at most 2e-05", "T<sub>0</sub> = 10<sup>5</sup>, at most 2·10<sup>−5</sup>"),
        ("1 - logit_y >= 0, -1 to +-2", "1 − logit<sub>y</sub> ≥ 0, −1 to ±2"),
        ("<X^T y, theta*> = |y|^2.", "⟨X<sup>T</sup> y, θ*⟩ = |y|<sup>2</sup>."),
        # what would mean something else without its brackets keeps them
        ("sqrt(2d) + sqrt(np), sqrt(d)^3", "√(2d) + √(np), √(d)<sup>3</sup>"),
        ("|B| max |l - 1/|B||", "|B| max |l − 1/|B||"),
    ],
)
def test_ascii_maths_is_set(text, shown):
    assert tagged(signs(text)) == shown


@pytest.mark.parametrize(
    "text",
    [
        "gradient_features and one_step stay", "GemFilter on Phi 3.5 Mini",
        "phi-3.5-mini-instruct", "for x < 1, y > 2", "**a claim** of **1 run**",
        "`theta_0` and $\\eta_2$",
        "multi-view, two-alpha-one", "a pilot of 2.6-5.7", "an interval, not etal",
    ],
)  # fmt: skip
def test_what_is_no_maths_stays(text):
    assert tagged(signs(text)) == text


def test_the_report_sets_it_between_tags_and_not_in_code():
    html = maths("x_1 < 2 & <b>y_2</b> `no`")
    assert html == "x<sub>1</sub> &lt; 2 &amp; &lt;b&gt;y<sub>2</sub>&lt;/b&gt; `no`"
    page = maths(maths("").__class__('<a href="#claim-x_1">x_1</a> <code>x_1 >= 2</code> $x_1$'))
    assert page.startswith('<a href="#claim-x_1">x<sub>1</sub></a> <code>x_1 >= 2</code> <math')
    box = '<div aria-label="of $x_1$ and y_2">'
    assert maths(maths("").__class__(box)) == box


def test_pages_set_it_and_keep_markdown_and_links_as_they_are():
    assert plain("M*_j <= |a|") == r"M\*<sub>j</sub> ≤ \|a\|"
    assert plain("<w_1, v>") == "⟨w<sub>1</sub>, v⟩"
    link = "[x_1](a/claims.md#claim-x_1)"
    assert sentence(link) == "[x<sub>1</sub>](a/claims.md#claim-x_1)"

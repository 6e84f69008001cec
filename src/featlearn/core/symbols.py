"""Maths that claims write in ASCII, such as ``|alpha_ij| <= d**-1/2``, as a reader expects it.

One way for the report and the pages of a published run. What stands between signs of dollar is a
formula already, what stands between backquotes is code; both are left alone.
"""

from __future__ import annotations

import re
import unicodedata

#: Stand for the tags ``<sub>``, ``</sub>``, ``<sup>``, ``</sup>`` until the text is escaped.
_SUB, _UNSUB, _SUP, _UNSUP = "\ue000", "\ue001", "\ue002", "\ue003"
TAGS = {_SUB: "<sub>", _UNSUB: "</sub>", _SUP: "<sup>", _UNSUP: "</sup>"}
_GREEK = (
    "alpha|beta|gamma|delta|epsilon|eps|zeta|eta|theta|iota|kappa|lambda|mu|nu|xi|pi|varrho|rho|"
    "sigma|tau|phi|chi|psi|omega|Gamma|Delta|Theta|Lambda|Xi|Pi|Sigma|Phi|Psi|Omega"
)
#: What Unicode calls otherwise.
_CALLED = {"eps": "epsilon", "lambda": "lamda", "Lambda": "Lamda"}
_LEFT_ALONE = re.compile(r"(\$[^$]+\$|`+[^`]*`+)")
#: A word of letters with neither a letter nor a hyphen to another word beside it.
_LETTER = re.compile(
    rf"(?<![A-Za-z])(?<![a-z]-)(?![Pp]hi[- ]3)({_GREEK})"  # Phi 3 is a model
    r"(?![A-Za-z]|-[a-z]{2})"
)
_RELATIONS = (("<=", "≤"), (">=", "≥"), ("!=", "≠"), ("+-", "±"), ("->", "→"))
#: Bars of a norm come in pairs; two in a row may also be those of two sizes, as in ``|1/|B||``.
_NORM = re.compile(r"\|\|([^|]{1,60})\|\|")
_ORDER = re.compile(r"(?<!\w)([OΩΘ])~(?=[\s(])")
#: Without spaces inside of the brackets: those of ``x < 1, y > 2`` are no product's.
_PRODUCT = re.compile(r"<((?!\s)[^<>=≤≥]{1,40}, ?[^<>=≤≥]{1,30})(?<!\s)>")
#: A letter or a number alone, raised to nothing: any other root keeps its brackets.
_ROOT_OF_ONE = re.compile(
    r"\bsqrt(?:\(([A-Za-zΑ-ϱ]|\d+)\)(?!\^|\*\*)|\s+([A-Za-zΑ-ϱ0-9])\b(?!\^|\*\*))"
)
_ROOT = re.compile(r"\bsqrt(?=\s?\()")
#: A letter, a bar, a star or the name of a function, and what stands below it.
_BELOW = re.compile(
    r"((?<![A-Za-z0-9_])(?:[A-Za-zΑ-ϱ]|logit|sum|min|max)[*']?|‖)"
    r"_(\{[^{}]*\}|perp|inf|o\b|[A-Za-z0-9Α-ϱ]{1,3}(?:'|,[0-9a-z](?:-[a-z])?)?)(?![A-Za-z0-9_])"
)
_INNER = r"\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\)"
_ABOVE = re.compile(
    rf"(?<=[^\s*])(?:\^|\*\*)({_INNER}|\{{[^{{}}]*\}}|[-−](?:√)?{_INNER}|[-−]√[A-Za-z0-9]"
    rf"|[-−]\d+(?:\.\d+)?(?:/\d+)?|\d+(?:\.\d+)?|O\(1\)|perp|[-−]?[A-Za-zΑ-ϱ*](?![A-Za-z]))"
)
_MINUS = re.compile(r"(?<=\S) - (?=\S)|(?<![\w)-])-(?=[\d.Α-ϱ√∞])|(?<=[([])-(?=\w)|(?<=\s)-(?=\()")
_POWER_OF_TEN = re.compile(r"(?<![\w.])(\d(?:\.\d+)?)e([-−]?)[+0]*(\d+)\b")


def signs(text: str) -> str:
    """ASCII maths as Unicode, with characters that stand for tags, see :func:`tagged`."""
    parts = _LEFT_ALONE.split(text)
    return "".join(part if place % 2 else _signs(part) for place, part in enumerate(parts))


def tagged(text: str) -> str:
    """What :func:`signs` gave, once it is escaped, with tags for what stands below and above."""
    for sign, tag in TAGS.items():
        text = text.replace(sign, tag)
    return text


def _signs(text: str) -> str:
    text = _LETTER.sub(lambda found: _letter(found[1]), text)
    for ascii_sign, sign in _RELATIONS:
        text = text.replace(ascii_sign, sign)
    text = _NORM.sub(r"‖\1‖", text)
    text = _ORDER.sub(lambda found: f"{found[1]}\u0303", text)
    text = _PRODUCT.sub(r"⟨\1⟩", text)
    text = _ROOT.sub("√", _ROOT_OF_ONE.sub(lambda found: f"√{found[1] or found[2]}", text))
    text = _POWER_OF_TEN.sub(_power, text)
    text = _BELOW.sub(lambda found: f"{found[1]}{_SUB}{_bare(found[2])}{_UNSUB}", text)
    text = text.replace(f"sum{_SUB}", f"∑{_SUB}")
    text = _ABOVE.sub(lambda found: f"{_SUP}{_bare(found[1])}{_UNSUP}", text)
    return _MINUS.sub(lambda found: found[0].replace("-", "−"), text)


def _letter(name: str) -> str:
    if name == "varrho":
        return "ϱ"
    size = "CAPITAL" if name[0].isupper() else "SMALL"
    return unicodedata.lookup(f"GREEK {size} LETTER {_CALLED.get(name, name)}")


def _power(found: re.Match[str]) -> str:
    """A number with an exponent, as of ``1e-10``."""
    times = "" if found[1] == "1" else f"{found[1]}·"
    return f"{times}10{_SUP}{found[2].replace('-', '−')}{found[3]}{_UNSUP}"


def _bare(part: str) -> str:
    """What stands above or below, without the brackets that only kept it together."""
    if part[0] + part[-1] in ("()", "{}"):
        part = part[1:-1]
    return part.replace("perp", "⊥").replace("inf", "∞").replace("-", "−")

"""What a picture tells, in words, for those who do not see it: the text instead of a figure."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from markupsafe import Markup

from featlearn.core.claims import VERDICTS
from featlearn.core.digest import count
from featlearn.core.prose import Page, brief

#: Most sentences that tell results, and the characters after which no other one is begun.
SENTENCES, LENGTH = 3, 360
#: A link to a claim, which a text gets with the number of a result.
_RESULT = re.compile(r'<a href="#claim-')
_RAW = re.compile(r"<(table|pre)\b.*?</\1>", re.DOTALL)
_BLOCK = re.compile(r"</(?:p|li|h\d|div)>")
_TAG = re.compile(r"<[^>]*>")
#: Where a sentence ends: not after what is shortened.
_END = re.compile(r"(?<!\bFig\.)(?<!\bFigs\.)(?<!\bEq\.)(?<!\bvs\.)(?<=[.!?])\s+(?=[A-Z0-9])")
#: Stands before the number of a result, while tags go.
_MARK = "\x01"
#: What captions begin their account with.
SEEN = "What to see:"


def sentences(body: Markup) -> list[tuple[str, bool]]:
    """The sentences of a caption as plain text, and whether each tells what was concluded."""
    found = []
    for block in _BLOCK.split(_RAW.sub("", _RESULT.sub(_MARK + "<", str(body)))):
        # formulas as they are written, less the signs of TeX
        text = Markup(_TAG.sub("", block)).unescape().replace("$", "").replace("\\", "")
        for one in _END.split(" ".join(text.split())):
            if one:
                found.append((one.replace(_MARK, ""), _MARK in one))
    return found


def described(name: str, page: Page, claims: Sequence[Mapping[str, Any]]) -> str:
    """Title and result of a figure.

    The result is what its caption concludes. Where it concludes nothing by a claim it is what there
    is to see, with that claim on the numbers shown that is nearest in words; and where the caption
    does not tell that either, how it begins.

    Parameters
    ----------
    name
        Of the figure.
    page
        Its caption, filled in; formulas as TeX.
    claims
        Rows of the ledger that rest on the same numbers.
    """
    said = sentences(page.body)
    told = [sentence for sentence, concludes in said if concludes]
    if not told:
        words = [sentence for sentence, _ in said]
        first = next((n for n, sentence in enumerate(words) if SEEN in sentence), len(words))
        judged = [_claimed(row) for row in _nearest(name, page.title, words, claims)]
        told = [*words[first : first + 2], *judged[: 1 if first < len(words) else 2]]
        told = told or words
    told = [sentence.removeprefix(SEEN).lstrip() for sentence in _few(told)]
    told = [sentence[:1].upper() + sentence[1:] for sentence in told]
    if claims:
        counts = ", ".join(f"{word} {n}" for word in VERDICTS if (n := count(claims, word)))
        told.append(f"Claims on these numbers: {counts}.")
    return " ".join([page.title.rstrip(".") + ".", *told])


def _nearest(
    name: str, title: str, words: Sequence[str], claims: Sequence[Mapping[str, Any]]
) -> list[Mapping[str, Any]]:
    """Claims by how many words they share with the figure; a word of its name or title is two."""
    called, all_words = _words(name, title), _words(name, title, *words)

    def shared(row: Mapping[str, Any]) -> int:
        own = _words(row["claim"].partition("/")[2], row["statement"], row["quantity"])
        return len(own & all_words) + len(own & called)

    return sorted(claims, key=shared, reverse=True)


def _words(*texts: str) -> frozenset[str]:
    """Words of five letters or more: shorter ones say little."""
    return frozenset(re.findall(r"[a-z]{5,}", " ".join(texts).lower()))


def _claimed(row: Mapping[str, Any]) -> str:
    """A claim with what was measured, one sentence."""
    statement = row["statement"].rstrip(".").replace("$", "").replace("\\", "")
    return f"{statement} ({brief(row)}: {row['verdict']})."


def _few(texts: Sequence[str]) -> list[str]:
    """The first ones that are short enough together, and in any case one."""
    kept: list[str] = []
    for text in texts[:SENTENCES]:
        if kept and len(" ".join([*kept, text])) > LENGTH:
            break
        kept.append(text)
    return kept

"""The score of the released needle-in-a-haystack harness. No torch."""

from __future__ import annotations

import string

EXPECTED = "eat a sandwich and sit in Dolores Park on a sunny day."


def set_score(said: str, expected: str = EXPECTED, *, bare: bool = False) -> float:
    """Distinct words of ``expected`` that are said, over its words: at most 11/12 as printed.

    Words are what blanks divide, in lower case, with their punctuation. ``bare``, ours: without it,
    and over the distinct words.
    """
    wanted, found = expected.lower().split(), said.lower().split()
    if bare:
        wanted, found = ([one.strip(string.punctuation) for one in own] for own in (wanted, found))
        wanted = [*dict.fromkeys(wanted)]
    return len({*found} & {*wanted}) / len(wanted)

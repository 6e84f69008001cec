"""The score of the released needle-in-a-haystack harness. No torch."""

from __future__ import annotations

EXPECTED = "eat a sandwich and sit in Dolores Park on a sunny day."


def set_score(said: str, expected: str = EXPECTED) -> float:
    """Distinct words of ``expected`` that are said, over its words: at most 11/12 as printed.

    Words are what blanks divide, in lower case, with their punctuation.
    """
    wanted = expected.lower().split()
    return len({*said.lower().split()} & {*wanted}) / len(wanted)

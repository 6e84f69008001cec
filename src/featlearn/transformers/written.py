"""Text that people wrote, as words: essays in a folder and the sentences of SST-2."""

from __future__ import annotations

import gzip
import hashlib
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np

from featlearn.core.errors import FeatlearnError
from featlearn.core.run.provenance import note_read

WORD = re.compile(r"[a-z0-9]+|[^\w\s]")
#: Of the essays by name, every third is for tests.
THIRD = 3


def words_of(text: str) -> list[str]:
    """Words and marks of punctuation, in lower case."""
    return WORD.findall(text.lower())


def essays(folder: Path) -> tuple[list[str], list[str]]:
    """Essays (``*.txt``) to learn from and, other ones, for tests; FeatlearnError below three."""
    texts = [file.read_text(encoding="utf-8") for file in sorted(folder.glob("*.txt"))]
    if len(texts) < THIRD:
        raise FeatlearnError(f"{folder}: must hold at least {THIRD} essays, got {len(texts)}")
    for_tests = texts[THIRD - 1 :: THIRD]
    learned = [text for place, text in enumerate(texts, 1) if place % THIRD]
    _note("essays", texts)
    return learned, for_tests


def sst2(folder: Path) -> list[tuple[list[str], np.ndarray]]:
    """Sentences and labels (n,) of SST-2's ``train.tsv.gz`` and ``test.tsv``; 1 is positive.

    A phrase of the training that is a sentence of the test is left out. FeatlearnError if a file is
    missing, or a label is not 0 or 1.
    """
    parts = [_table(folder / name) for name in ("train.tsv.gz", "test.tsv")]
    asked = {text for _, text in parts[1]}
    parts[0] = [row for row in parts[0] if row[1] not in asked]
    _note("sst2", [text for part in parts for _, text in part])
    return [([text for _, text in part], np.array([int(label) for label, _ in part]))
            for part in parts]  # fmt: skip


def _table(file: Path) -> list[tuple[str, str]]:
    """Labels and texts below the headings."""
    if not file.is_file():
        raise FeatlearnError(f"sst2: must be a folder with {file.name}, got {file.parent}")
    packed = file.read_bytes()
    text = (gzip.decompress(packed) if file.suffix == ".gz" else packed).decode("utf-8")
    found = [(label, said.strip()) for label, _, said in
             (line.partition("\t") for line in text.splitlines()[1:] if line.strip())]  # fmt: skip
    if wrong := {label for label, _ in found} - {"0", "1"}:
        raise FeatlearnError(f"{file}: label must be 0 or 1, got {min(wrong)!r}")
    return found


def most_frequent(texts: Iterable[Sequence[str]], count: int) -> list[str]:
    """The ``count`` most frequent words, by number, then by name."""
    seen = Counter(word for text in texts for word in text)
    return sorted(seen, key=lambda word: (-seen[word], word))[:count]


def _note(name: str, texts: Sequence[str]) -> None:
    digest = hashlib.sha256("\n".join(texts).encode()).hexdigest()
    note_read(name, "texts", len(texts), digest)

"""Which files of a data set have which role, and what a folder holds. Imports no torch."""

from __future__ import annotations

import hashlib
import json
import os
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from featlearn.core.errors import ConfigError, FeatlearnError
from featlearn.core.run.checks import some
from featlearn.images.config_data import USUAL_NAMES, given_splits, place
from featlearn.images.data.readers.common import listed, shown
from featlearn.images.data.readers.folder import EXTENSIONS

if TYPE_CHECKING:
    from featlearn.images.data.readers.common import Source

#: Endings of pictures that are not read.
UNREAD = (
    ".avif", ".arw", ".cr2", ".cr3", ".dng", ".eps", ".heic", ".heif", ".ico", ".jfif", ".jp2",
    ".jxl", ".nef", ".orf", ".pdf", ".psd", ".raw", ".rw2", ".svg", ".tga",
)  # fmt: skip
#: Names of folders that are parts of a set, and no classes.
PARTS = {name for names in USUAL_NAMES.values() for name in names} | {"eval", "evaluation"}


@dataclass(frozen=True)
class Seen:
    """What lies below one part of a set (all of it, or its ``train/``).

    ``part``: ``all``, or the name of its folder. ``classes``: name of each class folder -> pictures
    in it and below. ``deeper``: name -> folders right below it. ``unread``: pictures of a kind that
    is not read, relative to the part.
    """

    part: str
    classes: Mapping[str, int]
    deeper: Mapping[str, frozenset[str]]
    unread: tuple[str, ...]

    @property
    def pictures(self) -> int:
        return sum(self.classes.values())


def look(data: Mapping[str, Any], *, writes: bool = True) -> list[Seen]:
    """What lies in a folder, part by part. No file is opened.

    ``data``: a group of kind ``folder``. ``writes``: whether results go to the working folder.
    Raises FeatlearnError if a folder may not be read, a link leads back to itself, class folders
    are named as the parts of a set, or the folder holds the one that the run works in.
    """
    opened = as_opened(data)
    wanted = tuple(one.lower() for one in data.get("extensions") or EXTENSIONS)
    follow = bool(data.get("follow_links"))
    root = place(data)
    found = []
    for part in dict.fromkeys(opened["splits"].values()):
        folder = root if part == "all" else root / part
        if not folder.is_dir():
            raise FeatlearnError(
                f"{shown(folder)}: no such folder; expected one folder a class in it"
            )
        if writes and Path.cwd().is_relative_to(folder.resolve()):
            raise FeatlearnError(
                f"{shown(folder)}: holds the folder that this runs in, so that what is made would "
                "be taken for pictures next time; call it from another folder"
            )
        found.append(_part(part, folder, wanted, follow))
        if part == "all" and not data.get("splits"):
            _refuse_parts(folder, found[-1].classes)
    return found


def _part(part: str, folder: Path, wanted: tuple[str, ...], follow: bool) -> Seen:
    classes: dict[str, int] = {}
    deeper: dict[str, frozenset[str]] = {}
    unread: list[str] = []
    for entry in _entries(folder):
        if entry.name.startswith("."):
            continue
        _refuse_loop(Path(entry.path))
        if not entry.is_dir():
            _note(Path(entry.path), folder, unread)
            continue
        count, below = 0, set()
        for base, folders, files in _walk(Path(entry.path), follow):
            if base == entry.path:
                below |= set(folders)
            for name in files:
                if name.startswith("."):
                    continue
                count += name.lower().endswith(wanted)
                _note(Path(base, name), folder, unread)
        name = shown(entry.name)
        if name in classes:
            raise FeatlearnError(
                f"{shown(folder)}: two class folders are shown as {name}; rename one of them"
            )
        classes[name], deeper[name] = count, frozenset(map(shown, below))
    return Seen(part, classes, deeper, tuple(unread))


def _note(path: Path, folder: Path, unread: list[str]) -> None:
    if path.name.lower().endswith(UNREAD):
        unread.append(shown(path.relative_to(folder)))


def _entries(folder: Path) -> list[os.DirEntry[str]]:
    try:
        return sorted(os.scandir(folder), key=lambda entry: entry.name)
    except OSError as error:
        raise _unreadable(folder, error) from error


def _walk(top: Path, follow: bool) -> Iterator[tuple[str, list[str], list[str]]]:
    """As ``os.walk``, but what cannot be read is no empty folder."""

    def unreadable(error: OSError) -> None:
        raise _unreadable(Path(error.filename or top), error) from error

    inside: dict[str, set[tuple[int, int]]] = {}  # folder -> itself and those that it lies in
    for base, folders, files in os.walk(top, onerror=unreadable, followlinks=follow):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in (*folders, *files):
            _refuse_loop(Path(base, name))
        if follow:  # a link to a folder above is entered again and again
            state = Path(base).stat()
            own, above = (state.st_dev, state.st_ino), inside.get(str(Path(base).parent), set())
            if own in above:
                raise FeatlearnError(
                    f"{shown(base)}: a link to a folder that it lies in; it would be read without "
                    "end"
                )
            inside[base] = above | {own}
        yield base, folders, sorted(files)


def _refuse_loop(path: Path) -> None:
    if not path.is_symlink():
        return
    try:
        path.stat()
    except FileNotFoundError:
        pass  # a dead link: the reader leaves it out, and says so
    except OSError as error:
        raise FeatlearnError(
            f"{shown(path)}: a link that leads nowhere ({error.strerror}); remove it"
        ) from error


def _unreadable(path: Path, error: OSError) -> FeatlearnError:
    return FeatlearnError(
        f"{shown(path)}: cannot be read ({error.strerror}); its pictures would be missing without "
        "a word. Allow it (chmod u+rx), or move the folder away"
    )


def _refuse_parts(folder: Path, classes: Iterable[str]) -> None:
    names = list(classes)
    parts = [name for name in names if name.lower() in PARTS]
    if parts and (
        len(parts) == len(names) or {one.lower() for one in parts} & {"train", "training"}
    ):
        raise FeatlearnError(
            f"{shown(folder)}: {', '.join(parts)} would be classes; expected train/ and test/, in "
            "small letters, with a folder a class in each (or, if they are classes, splits: "
            "{train: all} beside path)"
        )


def hints(found: Iterable[Seen]) -> list[str]:
    """What may be other than its owner thinks, a sentence each."""
    told = []
    for seen in found:
        if seen.unread:
            endings = Counter(Path(name).suffix.lower() for name in seen.unread)
            kinds = ", ".join(f"{count} {ending}" for ending, count in sorted(endings.items()))
            told.append(
                f"{len(seen.unread)} pictures are of a kind that is not read ({kinds}): convert "
                f"them, for example to .jpg. Read are {' '.join(EXTENSIONS)}."
            )
        below = list(seen.deeper.values())
        if len(below) > 1 and len(below[0]) > 1 and all(one == below[0] for one in below):
            told.append(
                f"Classes are {some(seen.classes)}; below each of them lie the same folders, "
                f"{some(sorted(below[0]))}. If those are your classes, put them on top."
            )
        whole = seen.part == "all"
        if few := [name for name, count in seen.classes.items() if count < 5]:
            told.append(
                f"Fewer than five pictures{'' if whole else f' in {seen.part}/'}: {some(few)}. "
                + ("Of such a class hardly one is left for the test, or to learn from." if whole
                   else "That is little to learn from, or to test on.")
            )  # fmt: skip
    return told


def as_opened(data: Mapping[str, Any]) -> dict[str, Any]:
    """The ``data`` group as the readers get it: which split has which role is settled.

    The test images are those of the set's test split, else of its validation split, else a share.
    Raises ConfigError if there would be none, or if some were trained on.
    """
    opened = dict(data)
    given = given_splits(opened)
    roles = {"train": given["train"]}
    test = given.get("test", given.get("validation"))
    if test is not None:
        return opened | {"splits": roles | {"test": test}, "shares": {}}
    share = (data.get("shares") or {}).get("test", 0)
    if share <= 0:
        raise ConfigError("shares.test: expected more than 0: the set has no split for testing")
    return opened | {"splits": roles, "shares": {"test": share}}


def sources(data: Mapping[str, Any]) -> dict[str, Source]:
    """A data set's splits by name, no image read; FeatlearnError saying which files go where."""
    from featlearn.images.data.readers import READERS

    try:
        opened = as_opened(data)
        read = READERS[data["kind"]]
        return {split: read(opened, split) for split in dict.fromkeys(opened["splits"].values())}
    except FeatlearnError:
        raise
    # a path may be too long, hold a NUL, name a home that is none, or lie where nobody may look
    except (OSError, ValueError, RuntimeError) as error:
        given = data.get("root") or data.get("path")
        raise ConfigError(f"path: {given!r}; cannot be opened: {error}") from error


def is_file(name: str | os.PathLike[str]) -> bool:
    """Whether there is such a file; False as well for what cannot be a path."""
    try:
        return Path(name).expanduser().is_file()
    except (OSError, ValueError, RuntimeError):
        return False


def listing_digest(opened: Mapping[str, Source], data: Mapping[str, Any]) -> str:
    """A digest of names, sizes and times of change of the files of every split of ``data``."""
    root = place(data)
    listing = [[split, *listed(path, root)] for split, one in opened.items() for path in one.files]
    return hashlib.sha256(json.dumps(listing).encode()).hexdigest()[:16]


def state_of(data: Mapping[str, Any]) -> tuple[str, str]:
    """A digest of the files of a set, empty if they are not there; and the fault that is then told.

    A plan needs no images, and may be looked at before they are there.
    """
    try:
        return listing_digest(sources(data), data), ""
    except FeatlearnError as error:
        return "", str(error)

"""Data sets from their official addresses: resumed, checked, and there whole or not at all."""

from __future__ import annotations

import gzip
import hashlib
import os
import shutil
import time
from http.client import HTTPException
from pathlib import Path
from urllib.error import HTTPError
from urllib.request import Request, urlopen

from featlearn.core.errors import FeatlearnError
from featlearn.images.data.cache import locked
from featlearn.images.data.published import PUBLISHED, Archive, Published

#: Attempts without a new byte, whole files of other content, and seconds before the next attempt.
IDLE, WRONG, PAUSE = 4, 2, 2.0
SECONDS = 60.0
BLOCK = 1 << 16


def missing(own: Published, root: Path) -> list[str]:
    """What a set needs that is not below ``root``."""
    files = dict.fromkeys(file for split in own.splits.values() for file in split)
    return [file for file in files if not (root / file).exists()]


def get(name: str, root: Path) -> None:
    """Download, check and unpack a set, unless it is there; a stopped command goes on.

    Raises FeatlearnError if the set asks for an account, a part of it is in the way, or its files
    cannot be had.
    """
    own = PUBLISHED[name]
    lacking = missing(own, root)
    if not lacking:
        print(f"{name}: is in {root}")
        return
    if not own.archives:
        raise FeatlearnError(
            f"{name}: asks for an account; get it from {own.page} and put it at "
            f"{' and '.join(str(root / file) for file in lacking)}"
        )
    if found := [one for one in own.owns if (root / one).exists()]:
        raise FeatlearnError(
            f"{root / found[0]}: a part of {name}, without {lacking[0]}; move it away to get all"
        )
    root.mkdir(parents=True, exist_ok=True)
    work = root / f".{name}.part"
    unpacked = work / "unpacked"
    with locked(root / f".{name}.lock"):
        if not missing(own, root):  # another command was faster
            return
        shutil.rmtree(unpacked, ignore_errors=True)
        unpacked.mkdir(parents=True)
        for archive in own.archives:
            file = work / archive.address.rpartition("/")[2]
            # far more than it should be is no data set
            download(archive, file, 2_000_000 * own.megabytes)
            unpack(file, unpacked / archive.into)
        for one in own.owns:
            (root / one).parent.mkdir(parents=True, exist_ok=True)
            os.replace(unpacked / one, root / one)
        shutil.rmtree(work)
    print(f"{name}: is in {root}")


def download(archive: Archive, file: Path, most: int) -> None:
    """Bring a file here, of at most ``most`` bytes and with the right MD5; goes on where it was."""
    part = file.with_name(f"{file.name}.part")
    if file.exists():
        return
    idle = wrong = 0
    while True:
        before, told = _size(part), ""
        try:
            _more(archive.address, part, most)
        except (OSError, HTTPException) as error:
            if isinstance(error, HTTPError) and error.code in (401, 403, 404, 410):
                raise FeatlearnError(f"{archive.address}: {error}") from error
            told = str(error) or type(error).__name__
        if not told:
            with open(part, "rb") as content:
                found = hashlib.file_digest(content, "md5").hexdigest()
            if found == archive.md5:
                os.replace(part, file)
                return
            told = f"MD5 must be {archive.md5}, got {found}"
            part.unlink()
            wrong += 1
        idle = 0 if _size(part) > before else idle + 1
        if idle == IDLE or wrong == WRONG:
            raise FeatlearnError(f"{archive.address}: {told}; the same command tries again")
        time.sleep(PAUSE)


def _size(part: Path) -> int:
    return part.stat().st_size if part.exists() else 0


def _more(address: str, part: Path, most: int) -> None:
    """Append what a server still has of a file. Raises OSError if it sends less than it says."""
    # as torchvision does: a bar without tqdm, too
    from torch.utils.model_zoo import tqdm  # type: ignore[attr-defined]

    have = _size(part)
    headers = {"User-Agent": "featlearn"} | ({"Range": f"bytes={have}-"} if have else {})
    try:
        answer = urlopen(Request(address, headers=headers), timeout=SECONDS)
    except HTTPError as error:
        if error.code == 416:  # nothing more
            return
        raise
    with answer, open(part, "ab") as file:
        if have and not answer.headers.get("Content-Range", "").startswith(f"bytes {have}-"):
            have = 0  # it sends the whole
            file.truncate(0)
        length = answer.headers.get("Content-Length")
        whole = have + int(length) if length else None
        name = part.name.removesuffix(".part")
        with tqdm(total=whole, initial=have, unit="B", unit_scale=True, desc=name) as bar:
            while block := answer.read(BLOCK):
                file.write(block)
                have += len(block)
                bar.update(len(block))
                if have > most:
                    raise FeatlearnError(f"{address}: must have at most {most} bytes, got more")
        if whole is not None and have < whole:
            raise OSError(f"cut off after {have} of {whole} bytes")


def unpack(file: Path, folder: Path) -> None:
    """Unpack an archive and those inside of it; a file that is none is copied as it is."""
    folder.mkdir(parents=True, exist_ok=True)
    _unpack(file, folder)
    for inner in sorted(folder.rglob("*.gz")):
        _unpack(inner, folder)
        inner.unlink()


def _unpack(file: Path, folder: Path) -> None:
    if file.name.endswith((".tar", ".tar.gz")):
        # nothing outside of the folder, no devices
        shutil.unpack_archive(file, folder, filter="data")
    elif file.suffix == ".zip":
        shutil.unpack_archive(file, folder)
    elif file.suffix == ".gz":
        with gzip.open(file) as content, open(folder / file.stem, "wb") as out:
            shutil.copyfileobj(content, out)
    else:
        shutil.copyfile(file, folder / file.name)

"""Reading and writing artefacts: identical content gives identical bytes, and no pickle."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from featlearn.core.errors import FeatlearnError

if TYPE_CHECKING:
    import pandas as pd
    import torch

T = TypeVar("T")
PathLike = str | os.PathLike[str]
#: Where the header of a safetensors file says what its tensors are of.
HEADER = "featlearn"


def digest(path: PathLike) -> str:
    """SHA-256 of a file, as 64 hexadecimal digits."""
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def write_atomically(path: PathLike, content: bytes) -> None:
    """Write ``content`` so that ``path`` holds either its old bytes or all of the new ones."""
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    staged = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        with open(staged, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.replace(staged, path)
    finally:
        staged.unlink(missing_ok=True)


def write_parquet(frame: pd.DataFrame, path: PathLike) -> None:
    """Write a tidy frame without its index; FeatlearnError if it has one, or mixed objects."""
    import pandas as pd
    import pyarrow as pa
    import pyarrow.parquet as pq

    if not isinstance(frame.index, pd.RangeIndex):
        raise FeatlearnError(f"{path}: the frame has an index; call reset_index() first")
    try:
        table = pa.Table.from_pandas(frame, preserve_index=False)
    except pa.ArrowException as error:
        raise FeatlearnError(f"{path}: not a tidy frame: {error}") from error
    # pandas' own metadata names the pandas version: drop it, so that an upgrade alone moves no byte
    pq.write_table(table.replace_schema_metadata(None), path, compression="zstd")


def read_parquet(path: PathLike) -> pd.DataFrame:
    """Read a frame; a file that is no Parquet is named in the error."""
    import pandas as pd

    try:
        return pd.read_parquet(path)
    except Exception as error:
        raise FeatlearnError(f"{path}: cannot be read as Parquet: {error}") from error


class Described(dict[str, Any]):
    """Named tensors that say ``about`` what they are, in the header of the file, as JSON."""

    def __init__(self, tensors: Mapping[str, torch.Tensor], **about: Any):
        super().__init__(tensors)
        self.about = about


def write_tensors(tensors: Mapping[str, torch.Tensor], path: PathLike) -> None:
    """Write named tensors (moved to the CPU, made contiguous) as safetensors."""
    from safetensors.torch import save_file

    about = tensors.about if isinstance(tensors, Described) else {}
    save_file(
        {name: tensor.detach().cpu().contiguous() for name, tensor in sorted(tensors.items())},
        os.fspath(path),
        # one key: safetensors writes several in no fixed order
        {HEADER: json.dumps(about, sort_keys=True)} if about else None,
    )


def read_tensors(path: PathLike, device: Any = "cpu") -> Described:
    """Read named tensors from a safetensors file onto ``device``."""
    from safetensors import safe_open

    try:
        with safe_open(os.fspath(path), framework="pt", device=str(device)) as file:
            about = json.loads((file.metadata() or {}).get(HEADER, "{}"))
            names = file.keys()  # it is no mapping
            return Described({name: file.get_tensor(name) for name in names}, **about)
    except Exception as error:
        raise FeatlearnError(f"{path}: cannot be read as safetensors: {error}") from error


def below(prefix: str, tensors: Mapping[str, T]) -> dict[str, T]:
    """Of named tensors those ``prefix/name``, by ``name``."""
    start = f"{prefix}/"
    return {key.removeprefix(start): own for key, own in tensors.items() if key.startswith(start)}


def write_markdown_table(frame: pd.DataFrame, path: PathLike, title: str, notes: str = "") -> None:
    """Write a frame as a Markdown page: title, table, notes."""
    text = f"# {title}\n\n{frame.to_markdown(index=False)}\n"
    Path(path).write_text(text + (f"\n{notes.strip()}\n" if notes else ""), encoding="utf-8")

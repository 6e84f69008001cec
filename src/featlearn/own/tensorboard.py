"""Curves of a run on own pictures as TensorBoard reads them, by PyTorch's own writer.

Written behind a run from its histories: event files hold times and names of machines, so they are
no results and lie beside them.
"""

from __future__ import annotations

import shutil
from pathlib import Path

import pandas as pd

from featlearn.core.errors import FeatlearnError
from featlearn.core.files import read_parquet

#: Columns of a history that are no curves.
ABOUT = (
    "step",
    "epoch",
    "images",
    "data_set",
    "start",
    "method",
    "replicate",
    "fraction",
    "labels",
)


def write(own: Path, logs: Path) -> list[str]:
    """Write the curves of every training below ``own`` (``results/<run>/own``) to ``logs``.

    Returns
    -------
    list of str
        Names of the curves' runs, such as ``flowers/pretraining-0``.

    Raises
    ------
    FeatlearnError
        If TensorBoard is not installed, or there are no histories.
    """
    try:
        from torch.utils.tensorboard import SummaryWriter
    except ImportError as error:
        raise FeatlearnError(
            "TensorBoard is not installed: pip install 'featlearn[tensorboard]'"
        ) from error
    files = sorted((own / "measurements").glob("*/pretraining-*.parquet"))
    files += sorted((own / "measurements").glob("*/finetuning-*.parquet"))
    if not files:
        raise FeatlearnError(f"{own}: no histories of trainings; expected a run that ended well")
    if logs.exists():  # one that stays would give every curve twice
        shutil.rmtree(logs)
    names = []
    for file in files:
        history = read_parquet(file)
        parts = history.groupby("labels", sort=False) if "labels" in history else [("", history)]
        for labels, rows in parts:
            name = f"{file.parent.name}/{file.stem}" + (f"-{labels!s}-labels" if labels else "")
            names.append(name)
            with SummaryWriter(str(logs / name)) as writer:
                _curves(writer, rows)
    return names


def _curves(writer: object, rows: pd.DataFrame) -> None:
    for column in [name for name in rows.columns if name not in ABOUT]:
        for step, value in zip(rows["step"], rows[column], strict=True):
            writer.add_scalar(column, float(value), int(step))  # type: ignore[attr-defined]

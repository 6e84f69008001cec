"""Pre-training on real images in one of several processes: ``python -m`` of a JSON file.

Started by :func:`featlearn.images.together.run_together`; the first process writes the results.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from featlearn.core.devices import prepare
from featlearn.core.lifeline import follow

if TYPE_CHECKING:
    import pandas as pd
    import torch
    from torch import Tensor

    from featlearn.images.loop import Report

MODULE = "featlearn.mrp.images.pretrain_together"


def main(arguments: Mapping[str, Any]) -> None:
    """What each process does; ``arguments`` are those of :func:`train`, with ``results`` and
    ``staging`` (paths of the job), ``weights`` and ``history`` (where they are written), ``device``
    and ``threads``."""
    follow(Path(arguments["results"]), Path(arguments["staging"]))
    device = prepare(arguments["device"], arguments["threads"])
    from featlearn.core.files import write_parquet, write_tensors
    from featlearn.images.distributed import joined

    with joined(device) as (processes, own):
        weights, history = train(arguments, own, tells=processes.first)
        if processes.first:
            write_tensors(weights, arguments["weights"])
            write_parquet(history, arguments["history"])


def train(
    arguments: Mapping[str, Any], device: torch.device, tells: bool = True
) -> tuple[dict[str, Tensor], pd.DataFrame]:
    """Pre-train on one data set; weights of the encoder and history of the training.

    Parameters
    ----------
    arguments
        ``name``, ``settings``, ``cache``, ``seed`` and ``replicate`` of the experiment;
        ``checkpoints`` where no job says where to keep them.
    device
        Of this process.
    tells
        Whether this process tells of the progress of all.
    """
    from featlearn.core.progress import Progress
    from featlearn.images.saved import described
    from featlearn.mrp.images.real import RealExperiment

    name, replicate = arguments["name"], arguments["replicate"]

    def reporter(label: str, steps: int) -> Report:
        return Progress(f"{name}-{replicate} {label}", steps).report

    experiment = RealExperiment(
        name, arguments["settings"], arguments["cache"], arguments["seed"], replicate, device
    )
    kept = arguments.get("checkpoints")
    folder = Path(kept) if kept else None
    encoder, history = experiment.pretrain(folder, reporter if tells else None)
    method = experiment.settings["pretraining"]["objective"]["kind"]
    weights = described(encoder, experiment.augment, method, experiment.origin)
    return weights, history.assign(data_set=name, replicate=replicate)


if __name__ == "__main__":
    main(json.loads(Path(sys.argv[1]).read_text(encoding="utf-8")))

"""Pre-training on real images in one of several processes: ``python -m`` of a JSON file.

Started by :func:`featlearn.images.together.run_together`; the first process writes the results.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

from featlearn.core.job import Job
from featlearn.core.lifeline import follow

if TYPE_CHECKING:
    import torch

    from featlearn.images.loop import Report

MODULE = "featlearn.mrp.images.pretrain_together"


def main(arguments: Mapping[str, Any]) -> None:
    """What each process does; ``arguments`` are those of :func:`train`, with ``results`` and
    ``staging`` (paths of the job), ``device`` and ``threads``."""
    follow(Path(arguments["results"]), Path(arguments["staging"]))
    frame = SimpleNamespace(threads=arguments["threads"], params={})
    device = Job.device(cast(Job, frame), arguments["device"])
    from featlearn.images.distributed import joined

    with joined(device) as (processes, own):
        train(arguments, own, writes=processes.first)


def train(arguments: Mapping[str, Any], device: torch.device, writes: bool = True) -> None:
    """Pre-train on one data set.

    Parameters
    ----------
    arguments
        ``name``, ``settings``, ``cache``, ``seed`` and ``replicate`` of the experiment;
        ``weights``, ``history`` (paths); ``checkpoints`` where no job says where to keep them.
    device
        Of this process.
    writes
        Whether this process tells and writes what all of them trained.
    """
    from featlearn.core.files import write_parquet, write_tensors
    from featlearn.core.progress import Progress
    from featlearn.mrp.images.real import RealExperiment

    name, replicate = arguments["name"], arguments["replicate"]

    def reporter(label: str, steps: int) -> Report:
        return Progress(f"{name}-{replicate} {label}", steps).report

    experiment = RealExperiment(
        name, arguments["settings"], arguments["cache"], arguments["seed"], replicate, device
    )
    kept = arguments.get("checkpoints")
    folder = Path(kept) if kept else None
    encoder, history = experiment.pretrain(folder, reporter if writes else None)
    if writes:
        write_tensors(encoder.state_dict(), arguments["weights"])
        frame = history.assign(data_set=name, replicate=replicate)
        write_parquet(frame, arguments["history"])


if __name__ == "__main__":
    main(json.loads(Path(sys.argv[1]).read_text(encoding="utf-8")))

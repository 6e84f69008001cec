from pathlib import Path
from types import SimpleNamespace

import torch

ROOT = Path(__file__).resolve().parents[2]


def job_of(config, **more):
    """What the function of a rule is called with."""
    usual = {"seed": 0, "rule": "test", "device": torch.device("cpu"), "wildcards": {},
             "tell": lambda words: None}  # fmt: skip
    return SimpleNamespace(config=config, **usual | more)

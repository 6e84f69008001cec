"""What is read off ladders of real pictures, from planted accuracies."""

from itertools import product

import numpy as np
import pandas as pd
import pytest

from featlearn.universality.analysis.real import LADDERS, Real

SETS = {"sets": [{"name": name} for name in "ABC"], "methods": ["moco", "simsiam"]}
CONFIG = {"real": dict.fromkeys(LADDERS, SETS)}


def planted(fall: float, rise: float) -> pd.DataFrame:
    """With every set the target loses ``fall``, and the mean over sets gains ``rise``."""
    rows = []
    for percent, replicate, task in product((1, 5, 10, 20, 100), range(3), range(3)):
        level = 0.4 + percent / 1000 + replicate / 100
        for arm in ("raw input", "random features", "untrained"):
            rows.append((arm, 0, task, percent, replicate, level - 0.1))
        for arm, mixture in product(("moco", "simsiam"), (1, 2, 3)):
            own = -fall if task == 0 else (3 * rise + fall) / 2
            value = level + own * (mixture - 1)
            # the network at its start and pixels are measured with every method
            rows += [(arm, mixture, task, percent, replicate, value)] * 2
    columns = ["arm", "mixture", "task", "percent", "replicate", "value"]
    return pd.DataFrame(rows, columns=columns)


@pytest.fixture
def frames():
    return {
        "cifar10": planted(0.04, 0.02),
        "mnist": planted(0.05, 0.01),
        "fer2013": planted(0.03, 0.03),
    }


def test_the_worst_of_the_ladders_is_read(frames):
    claims = Real(CONFIG)
    for name, frame in frames.items():
        setattr(claims, name, frame)
    assert np.allclose(claims.trade_off("target"), -0.06)
    assert np.allclose(claims.trade_off("average"), 0.02)
    assert np.allclose(claims.learned_not_raw(), 0.1)

"""The units in which alignment with noise is measured. No torch in here."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd


def scales(settings: Mapping[str, Any]) -> pd.DataFrame:
    """The units of Lemma F.6, one row: ``sigma_0`` and ``sigma_0 * gamma * k``.

    Parameters
    ----------
    settings
        The section of an experiment.
    """
    sigma_0 = settings["network"]["sigma_0"]
    gamma_k = settings["data"]["feature_noise"] * settings["data"]["classes"]
    return pd.DataFrame([{"sigma_0": sigma_0, "sigma_0_gamma_k": sigma_0 * gamma_k}])

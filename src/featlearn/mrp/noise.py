"""How far kernels align with the noise of the data: ``max |<w_r, xi_p>|`` by kind of patch."""

from __future__ import annotations

from collections.abc import Iterator

import pandas as pd
import torch
from torch import Tensor

from featlearn.mrp.data import Samples
from featlearn.mrp.experiment import Experiment
from featlearn.mrp.train import correlations

#: Columns of ``noise.parquet``: largest and root-mean-square alignment over kernels and patches.
NOISE_COLUMNS = ("when", "samples", "patches", "replicate", "largest", "rms", "pairs")
#: Patches of the feature that a winner holds most, of other features, and without a feature.
KINDS = ("own", "other", "background")


def alignment(
    w: Tensor, features: Tensor, noise: Tensor, samples: Samples, varrho: float
) -> dict[str, tuple[Tensor, Tensor, Tensor]]:
    """``<w_r, xi_p>`` for all kernels and patches, summarised.

    A winner's ``own`` patches are those of its strongest feature; every other patch with a feature
    is ``other`` to it, and to a kernel that holds none.

    Parameters
    ----------
    w : (R, K, d)
    features : (R, k, L, d)
    noise : (R, N, P, d)
        ``xi_p`` of ``samples``.

    Returns
    -------
    dict
        For each of :data:`KINDS` the largest |alignment|, its root mean square, and the number of
        pairs of kernel and patch, each (R,); 0 where there is no pair.
    """
    correlation = correlations(w, features).flatten(2)
    best, strongest = correlation.max(-1)
    strongest = torch.where(best >= varrho, strongest, -2)  # -2 owns no patch
    found: dict[str, list[tuple[float, float, float]]] = {kind: [] for kind in KINDS}
    for r in range(w.shape[0]):  # one at a time: N * P * K numbers each
        size = (noise[r].flatten(0, 1) @ w[r].T).abs()
        owner = samples.owner[r].flatten()[:, None]
        own = owner == strongest[r][None]
        background = (owner < 0).expand_as(own)
        for kind, chosen in zip(KINDS, (own, ~own & ~background, background), strict=True):
            values = size[chosen].double()
            pairs = max(1, values.numel())
            largest = float(values.max()) if values.numel() else 0.0
            found[kind].append((largest, float((values**2).sum() / pairs) ** 0.5, values.numel()))
    return {
        kind: tuple(torch.tensor(part, dtype=torch.float64) for part in zip(*rows, strict=True))  # type: ignore[misc]
        for kind, rows in found.items()
    }


def noise_frame(experiment: Experiment, w: Tensor) -> pd.DataFrame:
    """Initial kernels and trained ones, ``w``, beside the noise: :data:`NOISE_COLUMNS`."""
    data = {
        "training": [experiment.train_samples(noiseless=clean) for clean in (False, True)],
        "fresh": [
            experiment.test_samples(single_view=False, noiseless=clean) for clean in (False, True)
        ],
    }
    kernels = {"before": experiment.initial_kernels(), "after": w}
    varrho = experiment.activation.varrho
    rows = [
        row
        for when, own in kernels.items()
        for which, (noisy, clean) in data.items()
        for row in noise_rows(when, which, own, experiment.features, noisy, clean, varrho)
    ]
    return pd.DataFrame(rows, columns=NOISE_COLUMNS)


def noise_rows(
    when: str,
    which: str,
    w: Tensor,
    features: Tensor,
    samples: Samples,
    noiseless: Samples,
    varrho: float,
) -> Iterator[tuple[str, str, str, int, float, float, int]]:
    """Rows of :data:`NOISE_COLUMNS`; ``noiseless`` are the same samples without their noise."""
    seen = alignment(w, features, samples.x - noiseless.x, samples, varrho)
    for kind, (largest, rms, pairs) in seen.items():
        for replicate in range(w.shape[0]):
            yield (when, which, kind, replicate, float(largest[replicate]),
                   float(rms[replicate]), int(pairs[replicate]))  # fmt: skip

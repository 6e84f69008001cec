"""The k-NN probe against scikit-learn, and its ties."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from sklearn.neighbors import KNeighborsClassifier
from torch import Tensor

from featlearn.images.neighbours import nearest_neighbours

CLASSES = 5


def bank(images: int, seed: int) -> tuple[Tensor, Tensor]:
    centres = torch.randn(CLASSES, 8, generator=torch.Generator().manual_seed(0))
    stream = torch.Generator().manual_seed(seed)
    labels = torch.randint(CLASSES, (images,), generator=stream)
    return centres[labels] + torch.randn(images, 8, generator=stream), labels


@pytest.mark.parametrize("temperature", [None, 0.07])
def test_the_vote_is_that_of_scikit_learn(temperature):
    x, y = bank(300, 1)
    new, _ = bank(100, 2)

    def votes(distance: np.ndarray) -> np.ndarray:  # scikit-learn's cosine distance is 1 - s
        return np.ones_like(distance) if temperature is None else np.exp(-distance / temperature)

    ours = nearest_neighbours((x, y), new, CLASSES, (1, 5, 20), temperature=temperature, chunk=33)
    for k, found in zip((1, 5, 20), ours, strict=True):
        model = KNeighborsClassifier(k, metric="cosine", weights=votes).fit(x.numpy(), y.numpy())
        shares = model.predict_proba(new.numpy())
        ordered = np.sort(shares, 1)
        clear = ordered[:, -1] - ordered[:, -2] > 1e-5  # of ties scikit-learn's order is its own
        assert clear.sum() > 50
        assert (shares.argmax(1) == found.numpy())[clear].all()


def test_of_equal_neighbours_the_first_count_and_of_equal_classes_the_first():
    x = torch.tensor([[1.0, 0.0], [2.0, 0.0], [3.0, 0.0], [0.0, 1.0]])  # three at similarity 1
    y = torch.tensor([2, 1, 1, 0])
    new = torch.tensor([[5.0, 0.0]])
    found = nearest_neighbours((x, y), new, 3, (1, 2, 3), temperature=None)
    assert found.flatten().tolist() == [2, 1, 1]


def test_too_many_neighbours_are_refused():
    x, y = bank(10, 1)
    with pytest.raises(ValueError, match=r"neighbours: \[20\]; expected from 1 to 10"):
        nearest_neighbours((x, y), x, CLASSES, (20,))

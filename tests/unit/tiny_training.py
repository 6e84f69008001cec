"""A training that takes a fraction of a second, for the tests of the loop."""

import torch
from torch import Tensor, nn

from featlearn.images.train.loop import fit
from featlearn.images.train.objective import Objective

NAME = (0, "images", "tiny", 3)
SETTINGS = {"epochs": 3, "batch_size": 8, "learning_rate": 0.01, "record_every": 2}


def noisy(images: Tensor, draws) -> Tensor:
    """An augmentation that needs random numbers of every image."""
    noise = draws.normal("noise", *images.shape[1:]).to(images.device)
    return images.float() / 255 - 0.5 + 0.1 * noise


def plain(images: Tensor, draws) -> Tensor:
    return images.float() / 255 - 0.5


class TinyEncoder(nn.Module):
    def __init__(self, norm=True):
        super().__init__()
        self.conv1 = nn.Conv2d(3, 6, 3, padding=1)
        self.bn1 = nn.BatchNorm2d(6) if norm is True else nn.Identity()
        self.bn2 = nn.BatchNorm1d(6) if norm == "rows" else nn.Identity()

    def forward(self, images: Tensor) -> Tensor:
        return self.bn2(self.bn1(self.conv1(images)).relu().mean((2, 3)))


class TinyClassifier(Objective):
    """Batch norm, dropout, and a slow copy of the head, as a teacher is."""

    def __init__(self, norm=True, dropout=0.2, seed=0):
        with torch.random.fork_rng():
            torch.manual_seed(seed)
            super().__init__()
            self.encoder = TinyEncoder(norm)
            self.dropout = nn.Dropout(dropout)
            self.head = nn.Linear(6, 3)
            self.teacher = nn.Linear(6, 3).requires_grad_(False)
        self.steps: list[tuple[int, int]] = []

    def forward(self, images, labels, draws):
        scores = self.head(self.dropout(self.encoder(images)))
        loss = nn.functional.cross_entropy(scores, labels)
        return {"loss": loss, "accuracy": (scores.argmax(1) == labels).float().mean()}

    def after_step(self, step, steps):
        self.steps.append((step, steps))
        with torch.no_grad():
            for slow, fast in zip(self.teacher.parameters(), self.head.parameters(), strict=True):
                slow.lerp_(fast, 0.1)


def data(count=29) -> tuple[Tensor, Tensor]:
    stream = torch.Generator().manual_seed(1)
    images = torch.randint(256, (count, 3, 6, 6), dtype=torch.uint8, generator=stream)
    return images, torch.arange(count) % 3


def train(objective=None, count=29, augment=noisy, folder=None, report=None, **changed):
    objective = objective or TinyClassifier()
    settings = {**SETTINGS, **changed}
    history = fit(objective, *data(count), augment, settings, NAME, "cpu", folder, report)
    return history, objective


def same(left: nn.Module, right: nn.Module) -> bool:
    a, b = left.state_dict(), right.state_dict()
    return list(a) == list(b) and all(torch.equal(a[name], b[name]) for name in a)

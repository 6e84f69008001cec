"""NT-Xent, SimCLR, and the attack of adversarial training."""

import math

import pytest
import torch

from featlearn.core.seeds import seeded
from featlearn.images.augment import Augment
from featlearn.images.encoders import build_encoder
from featlearn.images.methods.adversarial import AdversarialSimCLR, Attack
from featlearn.images.methods.simclr import SimCLR, nt_xent, retrieval
from featlearn.images.methods.two_view import untouched
from featlearn.images.rng import Draws
from featlearn.images.train.loop import fit
from unit.test_two_view_methods import BATCH, SIZE, pictures

TRAINING = {"steps": 3, "batch_size": BATCH, "learning_rate": 1e-2, "optimiser": "sgd"}


def build(kind=SimCLR, encoder=None, **options):
    augment = Augment({"preset": "simmim", "mean": [0.5, 0.4, 0.3], "std": [0.2, 0.25, 0.3]})
    projection = {"hidden": 6, "width": 4, "batch_norm": False}
    with seeded(0, "simclr"):
        made = build_encoder(encoder or {"kind": "plain", "width": 3}, SIZE)
        return kind(made, augment, projection=projection, **options)


def by_hand(views, temperature):
    """Equation 1 of SimCLR, anchor by anchor."""
    unit = [[z / z.norm() for z in view] for view in views]
    flat = [(view, row) for view in range(len(views)) for row in range(len(views[0]))]
    losses = []
    for view, row in flat:
        anchor = unit[view][row]
        shares = {
            (other, at): math.exp(float(anchor @ unit[other][at]) / temperature)
            for other, at in flat
            if (other, at) != (view, row)
        }
        positives = [shares[other, row] for other in range(len(views)) if other != view]
        whole = sum(shares.values())
        losses.append(-sum(math.log(one / whole) for one in positives) / len(positives))
    return sum(losses) / len(losses)


@pytest.mark.parametrize("count", [2, 3])
def test_nt_xent_is_that_of_the_paper(count):
    stream = torch.Generator().manual_seed(1)
    views = [torch.randn(5, 4, generator=stream) for _ in range(count)]
    assert float(nt_xent(views, 0.5)) == pytest.approx(by_hand(views, 0.5), rel=1e-5)


def test_pictures_that_are_all_alike_are_found_by_chance():
    same = torch.ones(7, 3)
    assert float(nt_xent([same, same], 0.5)) == pytest.approx(math.log(13))
    assert float(retrieval(torch.eye(4), torch.eye(4).flip(0))) == 0


def test_training_makes_positives_findable():
    objective = build(temperature=0.2)
    stream = torch.Generator().manual_seed(3)
    # a colour each, under noise of which every crop shows another part
    colours = torch.randint(80, 176, (BATCH, 3, 1, 1), generator=stream)
    noise = 80 * torch.randn(BATCH, 3, SIZE, SIZE, generator=stream)
    images = (colours + noise).clamp(0, 255).to(torch.uint8)
    settings = TRAINING | {"steps": 60, "learning_rate": 1e-2, "optimiser": "adamw"}
    history = fit(objective, images, None, untouched, settings, (0, "simclr"))
    assert history["loss"].iloc[-1] < history["loss"].iloc[0] - 0.5
    found = history["retrieval"]
    assert found.iloc[-20:].mean() > found.iloc[:5].mean() + 0.2


def attacked(objective):
    first, second, moved = objective.views(pictures(), Draws((0, "attack"), 0, BATCH))
    return first, second, moved


@pytest.mark.parametrize("random_start", [True, False])
def test_the_attack_raises_the_loss(random_start):
    options = {"radius": 0.06, "step": 0.02, "steps": 5, "random_start": random_start}
    objective = build(AdversarialSimCLR, attack=options).eval()
    first, second, moved = attacked(objective)
    with torch.no_grad():
        before, after = (
            nt_xent([objective.project(one), objective.project(second)], 0.5)
            for one in (first, moved)
        )
    assert float(after) > float(before)


def test_adversarial_training_compares_three_views():
    objective = build(AdversarialSimCLR, regulariser=0.25, attack={"steps": 1})
    views = attacked(objective)
    with torch.no_grad():
        told = objective.pair(*views)
        z = [objective.project(view) for view in views]
    pairs = nt_xent(z[1:], 0.5)
    assert float(told["attacked"]) == pytest.approx(float(pairs), rel=1e-5)
    assert float(told["loss"]) == pytest.approx(float(nt_xent(z, 0.5) + 0.25 * pairs), rel=1e-5)
    fit(objective, pictures(), None, untouched, TRAINING, (0, "adversarial"))


def test_an_attack_on_a_linear_loss_ends_in_the_right_corner():
    slope = torch.tensor([1.0, -2.0, 0.5]).view(1, 3, 1, 1)
    images = torch.zeros(2, 3, 4, 4)
    bounds = torch.full((3, 1, 1), -9.0), torch.full((3, 1, 1), 9.0)
    attack = Attack(radius=0.1, step=0.04, steps=5, random_start=False)
    moved = attack(lambda x: (x * slope).sum(), images, torch.ones(3, 1, 1), bounds)
    torch.testing.assert_close(moved, 0.1 * slope.sign().expand_as(images))

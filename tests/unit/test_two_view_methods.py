"""Methods that compare two views: which images they see, what their losses are, what moves."""

from itertools import product

import pytest
import torch
import torch.nn.functional as F

from featlearn.core.errors import ConfigError
from featlearn.core.seeds import seeded
from featlearn.images.augment import Augment
from featlearn.images.encoders import build_encoder
from featlearn.images.methods.adversarial import AdversarialSiamese, AdversarialSimCLR, box
from featlearn.images.methods.siamese import OutputNorm, Siamese, mean_correlation
from featlearn.images.methods.two_view import untouched
from featlearn.images.rng import Draws
from featlearn.images.train.loop import fit

SIZE, BATCH, WIDTH = 16, 12, 5
TRAINING = {"epochs": 2, "batch_size": BATCH, "learning_rate": 3e-3, "optimiser": "adam"}
CELLS = [
    {"head": head, "output_norm": norm, "momentum": None if place % 3 else 0.9}
    for place, (head, norm) in enumerate(product(("none", "identity", "linear", "mlp"),
                                                 ("batch", "l2")))
]  # fmt: skip


def pictures(count=BATCH):
    stream = torch.Generator().manual_seed(0)
    return torch.randint(256, (count, 3, SIZE, SIZE), dtype=torch.uint8, generator=stream)


def draws(size=BATCH, rows=None):
    return Draws((0, "two-view"), 3, size, rows)


def build(**options):
    augment = Augment({"preset": "simclr"})
    projection = {"hidden": 16, "width": WIDTH}
    with seeded(0, "two-view"):
        encoder = build_encoder({"kind": "small_resnet", "widths": [4, 8]}, SIZE)
        return Siamese(encoder, augment, projection, **options)


def test_views_are_made_in_full_precision_and_row_by_row():
    objective, images = build(), pictures()
    whole = objective.views(images, draws())
    assert not torch.equal(*whole)
    with torch.autocast("cpu", torch.bfloat16):
        half = objective.views(images[4:], draws(rows=slice(4, BATCH)))
    for one, other in zip(whole, half, strict=True):
        assert other.dtype == torch.float32
        torch.testing.assert_close(one[4:], other, rtol=0, atol=0)


@pytest.mark.parametrize("cell", CELLS, ids=lambda cell: "-".join(map(str, cell.values())))
def test_every_cell_trains_through_the_loop(cell):
    objective = build(**cell)
    before = {name: value.clone() for name, value in objective.state_dict().items()}
    history = fit(objective, pictures(2 * BATCH), None, untouched, TRAINING, (0, "cell"))
    linear = cell["head"] in ("identity", "linear")
    assert ("off_diagonal" in history) == linear
    assert history["loss"].between(0, 4).all()
    assert history["correlation"].between(0, 1).all()
    after = objective.state_dict()
    trained = [name for name, _ in objective.named_parameters()]
    # a bias before an l2-normalised output or a norm may stay; everything else moves
    moved = {name for name in trained if not torch.equal(before[name], after[name])}
    assert {name for name in trained if name.endswith("weight")} <= moved
    if linear:
        assert history["off_diagonal"].iloc[-1] > 0


def by_hand(objective, first, second):
    """The loss as section 8 says it, with NumPy-like steps only."""

    def branch(z, head):
        out = head(z)
        if objective.summed:
            return out / out.norm(dim=1, keepdim=True)
        return (out - out.mean(0)) / out.var(0, unbiased=False).sqrt()

    z = [objective.project(view) for view in (first, second)]
    matrix = torch.eye(WIDTH) + objective.head.mixing * (1 - torch.eye(WIDTH))
    losses = []
    for own, other in ((0, 1), (1, 0)):
        o = branch(z[own], lambda rows: rows @ matrix.T)
        t = branch(z[other], lambda rows: rows).detach()
        inner = (o * t).sum(1).mean()
        losses.append(2 - 2 * inner if objective.summed else 2 - 2 * inner / WIDTH)
    return sum(losses) / 2


@pytest.mark.parametrize("norm", ["batch", "l2"])
def test_loss_and_gradient_are_those_of_the_paper(norm):
    objective = build(output_norm=norm)
    if norm == "batch":
        objective.norm.batch.eps = 1e-30  # variances of 1, as the paper has them
    mixing = 0.3 * torch.randn(WIDTH, WIDTH, generator=torch.Generator().manual_seed(0))
    with torch.no_grad():
        objective.head.mixing.copy_(mixing)
    views = objective.views(pictures(), draws())
    losses = (objective.pair(*views)["loss"], by_hand(objective, *views))
    assert losses[0].item() == pytest.approx(losses[1].item(), abs=1e-5)
    gradients = [
        torch.autograd.grad(loss, [*objective.parameters()], allow_unused=True) for loss in losses
    ]
    for own, other in zip(*gradients, strict=True):
        torch.testing.assert_close(own, other, rtol=1e-3, atol=1e-4)
    diagonal = gradients[0][[n for n, _ in objective.named_parameters()].index("head.mixing")]
    assert diagonal.diagonal().abs().max() == 0, "the diagonal of the head is frozen"


def test_stop_gradient_is_what_the_target_has_no_part_in():
    stopped, open_ = build(), build(stop_gradient=False)
    views = stopped.views(pictures(), draws())
    slopes = [
        torch.autograd.grad(one.pair(*views)["loss"], one.projection[-1].weight)[0]
        for one in (stopped, open_)
    ]
    # at the identity both branches are alike: each of them carries half of the whole gradient
    torch.testing.assert_close(slopes[1], 2 * slopes[0], rtol=1e-4, atol=1e-7)


def test_a_target_follows_the_network_and_decay_is_of_all_parameters():
    objective = build(momentum=0.9)
    start = objective.target[1][0].weight.clone()
    with torch.no_grad():
        objective.projection[0].weight.add_(1.0)
    objective.after_step(5, 10)
    torch.testing.assert_close(objective.target[1][0].weight, start + 0.1)
    assert not any(p.requires_grad for p in objective.target.parameters())
    assert {group["weight_decay"] for group in objective.parameter_groups(0.1)} == {0.1}


def test_correlation_and_norm_of_outputs():
    z = torch.randn(40, 3) @ torch.tensor([[1.0, -2.0, 0.0], [0, 0, 1], [0, 0, 0.5]])
    expected = torch.corrcoef(z.T).abs()
    assert float(mean_correlation(z)) == pytest.approx(float(expected.sum() - 3) / 6, abs=1e-5)
    assert float(mean_correlation(torch.ones(9, 4))) == 0
    norm = OutputNorm("batch", 3).eval()
    assert not norm.state_dict(), "no running statistics"
    torch.testing.assert_close(norm(z), F.batch_norm(z, None, None, training=True))


def test_a_moving_average_without_a_stop_is_refused():
    with pytest.raises(ConfigError, match=r"pretraining\.stop_gradient: false"):
        build(momentum=0.9, stop_gradient=False)


def hardened(kind=AdversarialSiamese, **options):
    augment = Augment({"preset": "simclr", "mean": [0.5, 0.4, 0.3], "std": [0.2, 0.25, 0.3]})
    with seeded(0, "two-view"):
        encoder = build_encoder({"kind": "small_resnet", "widths": [4, 8]}, SIZE)
        return kind(encoder, augment, projection={"hidden": 16, "width": WIDTH}, **options)


BYOL = {"head": "mlp", "output_norm": "l2", "momentum": 0.9}


ATTACKED = {AdversarialSimCLR: {}, AdversarialSiamese: BYOL}


@pytest.mark.parametrize("kind", ATTACKED)
def test_views_are_moved_within_the_ball_and_between_black_and_white(kind):
    attack = {"radius": 0.05, "step": 0.03, "steps": 4}
    objective = hardened(kind, attack=attack, **ATTACKED[kind]).eval()
    views = objective.views(pictures(), draws())
    scale, (black, white) = box(objective.augment, views[0].device)
    for view, moved in zip(views, views[2:], strict=False):
        assert 0.049 < float(((moved - view).abs() / scale).max()) <= 0.05 + 1e-6
        assert bool((moved >= black - 1e-5).all() and (moved <= white + 1e-5).all())
        assert not moved.requires_grad


@pytest.mark.parametrize("momentum", [None, 0.9])
def test_both_views_are_moved_away_from_the_target(momentum):
    attack = {"radius": 0.05, "step": 0.02, "steps": 4}
    objective = hardened(attack=attack, **{**BYOL, "momentum": momentum}).eval()
    *plain, first, second = objective.views(pictures(), draws())
    with torch.no_grad():
        still = tuple(map(objective.still, plain))
        kept, lost = (objective.compared(tuple(map(objective.project, views)), still)["loss"]
                      for views in (plain, (first, second)))  # fmt: skip
        paired = objective.pair(*plain, first, second)["loss"]
    assert float(lost) > float(kept)
    assert float(paired) == pytest.approx(float(lost))


@pytest.mark.parametrize("frozen", [False, True])
@pytest.mark.parametrize("kind", ATTACKED)
def test_an_attack_leaves_gradients_statistics_modes_and_the_target_alone(kind, frozen):
    objective = hardened(kind, attack={"steps": 2}, **ATTACKED[kind]).train()
    objective.encoder.train(not frozen)
    kept = {name: value.clone() for name, value in objective.state_dict().items()}
    for parameter in objective.parameters():
        parameter.grad = torch.ones_like(parameter)
    objective.views(pictures(), draws())
    assert all(bool((parameter.grad == 1).all()) for parameter in objective.parameters())
    assert all(torch.equal(value, kept[name]) for name, value in objective.state_dict().items())
    assert objective.projection.training
    assert objective.encoder.training != frozen


def test_without_an_attack_worth_the_name_it_is_the_plain_training():
    """The trained branch sees the moved views, the target the plain ones."""
    plain = hardened(Siamese, **BYOL)
    objective = hardened(attack={"radius": 1e-9, "step": 1e-9, "steps": 1}, **BYOL)
    told = [one(pictures(), None, draws())["loss"] for one in (plain, objective)]
    assert told[0].item() == pytest.approx(told[1].item(), rel=1e-4)
    history = fit(objective, pictures(2 * BATCH), None, untouched, TRAINING, (0, "robust"))
    assert history["loss"].between(0, 4).all()

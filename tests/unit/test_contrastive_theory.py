"""Data, loss, gradient and closed forms of the contrastive package, in float64."""

import itertools
import math

import pandas as pd
import pytest
import torch

from featlearn.contrastive import closed_forms, data, model
from featlearn.contrastive.experiments import identities
from featlearn.core.seeds import Streams

SPEC = data.SparseCoding(atoms=8, dimension=16, activity=2.0)


def streams(replicates=3, name="test"):
    return Streams(0, "contrastive", name, range(replicates))


def gaussian(*shape, seed=0):
    stream = torch.Generator().manual_seed(seed)
    return torch.randn(shape, generator=stream, dtype=torch.float64)


def problem(seed=0, anchors=5, negatives=7, neurons=6, scale=1.0, bias=0.4, own=False):
    drawn = streams(name=f"problem-{seed}")
    atoms = data.draw_dictionary(SPEC, drawn("dictionary")).atoms
    x = data.sample(SPEC, atoms, anchors, drawn("x"))
    plus, other = data.positives(x.x, drawn("masks"), "complementary")
    count = anchors * negatives if own else negatives
    negative = data.sample(SPEC, atoms, count, drawn("negatives"))
    rows = negative.x.unflatten(1, (anchors, negatives)) if own else negative.x
    w = scale * gaussian(3, neurons, 16, seed=seed)
    b = bias * gaussian(3, neurons, seed=seed + 1).abs()
    return model.Batch(plus, other, rows), w, b, (x, negative, atoms)


def autograd(batch, w, b, tau):
    w, b = w.clone().requires_grad_(), b.clone().requires_grad_()
    loss = model.contrastive_loss(model.codes(batch, w, b), tau).sum()
    return [-g for g in torch.autograd.grad(loss, (w, b))]


def error(found, wanted):
    return float((found - wanted).norm() / wanted.norm())


@pytest.mark.parametrize("kind", ["hadamard", "qr", "spiky"])
def test_atoms_and_dense_directions_are_one_orthonormal_basis(kind):
    spec = data.SparseCoding(8, 16, dictionary=kind)
    drawn = data.draw_dictionary(spec, streams()("d"), complement=True)
    basis = torch.cat([drawn.atoms, drawn.complement()], -1)
    assert torch.allclose(basis.mT @ basis, torch.eye(16, dtype=torch.float64), atol=1e-12)
    if kind == "hadamard":
        assert torch.allclose(drawn.atoms.abs(), torch.full_like(drawn.atoms, 1 / 4))
    alone = data.draw_dictionary(spec, streams()("d"))
    assert torch.allclose(alone.atoms, drawn.atoms, atol=1e-12)
    with pytest.raises(ValueError, match="complement=True"):
        alone.complement()


def test_a_spec_says_what_it_expects():
    for options, words in (
        ({"atoms": 2, "dimension": 16}, "atoms: 2; expected at least 3"),
        ({"atoms": 8, "dimension": 4}, "dimension: 4; expected at least"),
        ({"atoms": 8, "dimension": 12}, "power of 2"),
        ({"atoms": 8, "dimension": 16, "activity": 20.0}, "not in"),
    ):
        with pytest.raises(ValueError, match=words):
            data.SparseCoding(**options)


def test_samples_and_weights_have_the_moments_of_the_definition():
    drawn = streams(2)
    atoms = data.draw_dictionary(SPEC, drawn("d")).atoms
    seen = data.sample(SPEC, atoms, 40000, drawn("x"))
    assert torch.allclose(seen.signal(), seen.z @ atoms.mT, atol=1e-12)
    assert set(seen.z.unique().tolist()) == {-1.0, 0.0, 1.0}
    assert (seen.z**2).mean().item() == pytest.approx(SPEC.p, rel=0.03)
    assert abs(seen.z.mean().item()) < 0.005
    assert seen.xi.var().item() == pytest.approx(SPEC.variance, rel=0.02)
    w = model.initial_weights(400, 16, 0.3, streams()("w"))
    assert (w**2).sum(-1).mean().sqrt().item() == pytest.approx(0.3, rel=0.05)


def test_random_masks_are_fair_and_views_complementary():
    masks = data.random_masks(2000, 16, streams()("m"), dtype=torch.float64)
    assert set(masks.unique().tolist()) == {0.0, 1.0}
    assert masks.mean().item() == pytest.approx(0.5, abs=0.01)
    pairs = (masks[0].T @ masks[0]) / 2000
    off = pairs[~torch.eye(16, dtype=torch.bool)]
    assert off.min() > 0.2
    assert off.max() < 0.3
    x = gaussian(3, 4, 16)
    first, second = data.positives(x, streams()("v"), "complementary")
    assert torch.allclose((first + second) / 2, x)
    assert (first * second == 0).all()
    first, second = data.positives(x, streams()("v"), "independent")
    assert (first * second != 0).any()
    assert data.positives(x, streams()("v"), "none")[0] is x


def test_derivatives_of_the_activation_for_either_sign_of_the_threshold():
    u = gaussian(1, 50, 4).requires_grad_()
    b = torch.tensor([[0.3, 0.0, -0.5, 1.0]], dtype=torch.float64, requires_grad=True)
    h = model.encode(u, torch.eye(4, dtype=torch.float64).unsqueeze(0), b)
    du, db = torch.autograd.grad(h.sum(), (u, b))
    assert torch.allclose(du, model.slope(u, b))
    assert torch.allclose(db, model.bias_slope(u, b).sum(1))
    assert model.slope(u, b)[..., 2].max() == 2


@pytest.mark.parametrize("own", [False, True], ids=["shared", "own negatives"])
def test_descent_equals_autograd(own):
    for seed, lower in enumerate((0.0, 0.0, 0.3)):
        batch, w, b, _ = problem(seed, own=own)
        b = b - lower  # some are below zero
        found = model.descent(batch, w, b, 0.7)
        wanted = autograd(batch, w, b, 0.7)
        assert error(found.w, wanted[0]) < 1e-10
        assert error(found.b, wanted[1]) < 1e-10
        if not own and not lower:
            quick = model.weight_descent(batch, w, b, 0.7)
            assert error(quick, wanted[0]) < 1e-10


def test_descent_does_not_cancel_where_the_positive_wins():
    batch, w, b, _ = problem(1, scale=8.0, bias=0.1)
    seen = model.codes(batch, w, b)
    kept = model.negative_weights(seen, 1.0).sum(-1)
    assert kept.min() < 1e-12
    down = model.descent(batch, w, b, 1.0).w
    assert torch.isfinite(down).all()


@pytest.mark.parametrize("rate", [0.02, 0.5])
def test_gradient_descent_has_the_regret_of_lemma_e11(rate):
    """The mean objective, regulariser included, exceeds no fixed comparator's by more than regret.

    The bound holds for any comparator, since every pseudo-objective is convex.
    """
    batch, w, b, _ = problem(3)
    decay, steps, start = 0.1, 30, w
    comparators = [w, torch.zeros_like(w), *(gaussian(*w.shape, seed=200 + s) for s in range(4))]
    excess = [torch.zeros(len(w), dtype=torch.float64) for _ in comparators]
    sizes = torch.zeros(len(w), dtype=torch.float64)
    for _ in range(steps):
        loss = model.contrastive_loss(model.codes(batch, w, b), 1.0)
        own = loss + decay / 2 * w.square().sum((1, 2))
        for total, theta in zip(excess, comparators, strict=True):
            pseudo = model.pseudo_loss(batch, theta, w, b, 1.0)
            total += own - pseudo - decay / 2 * theta.square().sum((1, 2))
        down = model.descent(batch, w, b, 1.0).w - decay * w
        sizes += down.square().sum((1, 2))
        w = w + rate * down
    for total, theta in zip(excess, comparators, strict=True):
        away = (start - theta).square().sum((1, 2))
        assert (total <= away / (2 * rate) + rate / 2 * sizes + 1e-9).all()
    # and it says something: the comparator that stays at the start loses to what was learned
    assert (excess[0] < 0).all()


def test_the_printed_gradient_is_not_the_gradient():
    batch, w, b, _ = problem()
    true = model.descent(batch, w, b, 1.0).w.flatten(1)
    printed = model.descent_as_printed(batch, w, b, 1.0).flatten(1)
    for sign in (1, -1):
        assert ((printed - sign * true).norm(dim=1) > 0.2 * true.norm(dim=1)).all()


def test_the_terms_of_definition_e4_add_up_to_the_gradient_along_the_atoms():
    batch, w, b, (x, negative, atoms) = problem()
    kept = (batch.anchor != 0).to(x.x.dtype)
    terms = model.gradient_terms(
        batch, (x.z, negative.z), 2 * kept * x.xi, w, b, atoms, tau=0.8
    )  # fmt: skip
    wanted = model.descent(batch, w, b, 0.8).w @ atoms
    torch.testing.assert_close(terms.total(), wanted, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("masking", ["complementary", "independent", "none"])
def test_the_pull_of_the_positive_is_its_mean_over_all_masks(masking):
    spec = data.SparseCoding(4, 8, activity=2.0)
    atoms = data.draw_dictionary(spec, streams(2)("d")).atoms
    w = gaussian(2, 3, 8)
    c = closed_forms.covariance(spec, atoms)
    masks = torch.tensor(list(itertools.product((0.0, 1.0), repeat=8))).double()
    first = masks if masking != "none" else torch.full_like(masks, 0.5)
    second = {"complementary": 1 - masks}.get(masking, torch.full_like(masks, 0.5))
    pair = torch.einsum("mi,rij,mj->rij", 2 * first, c, 2 * second) / len(masks)
    applied = closed_forms.apply_pair_operator(spec, atoms, masking, w)
    assert torch.allclose(applied, w @ pair, atol=1e-14)


def test_stage_one_rates_are_eigenvalues_of_the_population_map():
    atoms = data.draw_dictionary(SPEC, streams(1)("d"), complement=True)
    w = torch.cat([atoms.atoms[:, :, :1], atoms.complement()[:, :, :1]], -1).mT
    for masking in ("complementary", "none"):
        step = closed_forms.apply_pair_operator(SPEC, atoms.atoms, masking, w) * (1 - 1 / 65)
        rates = closed_forms.stage_one_rates(SPEC, masking, 64, 0.01)
        assert torch.allclose(step[:, 0] - 0.01 * w[:, 0], rates[0] * w[:, 0])
        assert torch.allclose(step[:, 1] - 0.01 * w[:, 1], rates[1] * w[:, 1])


def test_exact_baselines_and_the_floor_of_the_loss_have_their_values():
    for atoms, linear, bayes in ((16, 0.620, 0.345), (32, 0.600, 0.149), (64, 0.589, 0.028)):
        spec = data.SparseCoding(atoms, 8 * atoms)
        assert closed_forms.linear_error(spec) == pytest.approx(linear, abs=1e-3)
        assert closed_forms.bayes_error(spec) == pytest.approx(bayes, abs=1e-3)
    floor = closed_forms.loss_floor(
        data.SparseCoding(32, 256), 512, 4000, torch.Generator().manual_seed(0)
    )
    assert floor == pytest.approx(2.61, abs=0.15)
    assert floor < math.log(513)


def test_expectations_have_their_closed_forms():
    drawn = streams(2, "sampled")
    frame = pd.concat([
        *identities.growth_rates(drawn, 2), *identities.one_atom(drawn, 4000),
        *identities.noise_alone(drawn, 4000), *identities.sparse_and_dense(drawn, [32], 100),
        *identities.large_coordinates(drawn),
    ])  # fmt: skip
    means = frame.groupby(["check", "setting"])[["measured", "predicted"]].mean()
    ratio = means["measured"] / means["predicted"]
    checks = [
        "rate_signal", "rate_dense", "atom_pull", "dense_pull", "noise_pull", "second_moments",
    ]  # fmt: skip
    for check in checks:
        assert ratio[check].between(0.8, 1.25).all(), check
    assert means["measured"]["masked_noise_pull"].abs().max() < 3e-3
    # the printed pull of noise is that at a threshold of zero
    assert ratio["noise_pull_as_printed"].tolist() == pytest.approx([1, 0.41, 0.18], abs=0.03)
    chances = means["measured"]["large_coordinates"].tolist()
    assert chances == pytest.approx([0.633, 1.014, 1.790, 10.42], rel=2e-3)


def test_one_masked_view_decodes_at_512_atoms_and_not_yet_at_128():
    """Section 4; a coordinate of a view has the sample's noise, and that of the mask as well."""
    found = pd.concat(identities.sparse_and_dense(streams(1), (32, 128, 512), 400))
    rows = found[found["check"] == "decoding_precision"]
    precision = rows.groupby("setting")["measured"].mean()
    for atoms in (128, 512):
        spec = data.SparseCoding(atoms, 8 * atoms)
        silent = (1 - spec.p) * math.erfc(identities.DECODING_THRESHOLD / (2 * spec.sigma))
        assert precision[atoms] == pytest.approx(spec.p / (spec.p + silent), abs=0.06)
    assert precision[32] < precision[128] < 0.8
    assert precision[512] > 0.99


def test_without_augmentation_the_share_in_the_span_grows_as_its_closed_form():
    config = {"atoms": 8, "dimensions": [32, 64], "neurons": 200, "anchors": 2000,
              "negatives": 400, "learning_rate": 0.5, "steps": 6}  # fmt: skip
    streams = Streams(0, "contrastive", "wide-test", (0, 1))
    seen = pd.concat(identities.no_augmentation(streams, config))
    for dimension in config["dimensions"]:
        rates = closed_forms.stage_one_rates(data.SparseCoding(8, dimension), "none", 400, 0.001)
        signal, dense = ((1 + 0.5 * rate) ** 12 for rate in rates)
        odds = 8 / (dimension - 8) * signal / dense
        share = seen[(seen["check"] == "wide_signal_share") & (seen["setting"] == dimension)]
        assert share["measured"].mean() == pytest.approx(odds / (1 + odds), rel=0.08)

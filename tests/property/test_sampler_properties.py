"""What must hold for every draw of mrp, every growth and every descent, whatever the sizes."""

import pytest
import torch
import torch.nn.functional as F
from hypothesis import given
from hypothesis import strategies as st

from featlearn.mrp import blocks
from featlearn.mrp.data import MultiView, Samples
from featlearn.mrp.experiments.growth import predicted_hits
from featlearn.mrp.gradients import classification_descent
from featlearn.mrp.model import Activation, encode
from unit.test_sampler import draw as drawn

FIELDS = ("x", "y", "strong", "active", "total", "strength", "owner")


@st.composite
def distributions(draw) -> MultiView:
    classes = draw(st.integers(2, 4))
    views = draw(st.integers(1, 3))
    room = draw(st.integers(1, 3))
    low, width = draw(st.floats(0.1, 2)), draw(st.floats(0, 1))
    off_low, off_width = draw(st.floats(0, 0.5)), draw(st.floats(0, 0.5))
    return MultiView(
        classes=classes, dimension=classes * views + draw(st.integers(0, 4)),
        patches=classes * views * room + draw(st.integers(0, 5)),
        sparsity=draw(st.floats(0, classes)), q=draw(st.integers(2, 5)), patches_per_feature=room,
        features_per_class=views, single_view_share=draw(st.floats(0, 1)),
        weak_strength=draw(st.floats(0, 1)), feature_noise=draw(st.floats(0, 0.2)),
        noise=draw(st.floats(0, 0.5)), main_strength=(low, low + width),
        off_strength=(off_low, off_low + off_width),
        split=draw(st.sampled_from(["equal", "dirichlet"])),
    )  # fmt: skip


COUNTS, SEEDS = st.integers(1, 12), st.integers(0, 1000)
VIEWS = st.sampled_from([None, True, False])


def weak_features(spec: MultiView, samples: Samples) -> tuple[torch.Tensor, torch.Tensor]:
    """(R, N, k, L) bool, twice: of the own class; of the own class and weak."""
    own = (torch.arange(spec.classes) == samples.y[..., None])[..., None]
    view = torch.arange(spec.features_per_class)
    other = view != samples.strong[..., None, None]
    return own.expand_as(samples.active), own & samples.is_single[..., None, None] & other


@given(distributions(), COUNTS, SEEDS, VIEWS)
def test_features_and_patches_always_fit_together(spec, count, seed, single_view):
    features, samples = drawn(spec, count, seed, single_view=single_view)
    flat = features[0].reshape(spec.features, spec.dimension)
    torch.testing.assert_close(flat @ flat.T, torch.eye(spec.features).double(), rtol=0, atol=1e-12)
    assert torch.isfinite(samples.x).all()
    assert ((samples.y >= 0) & (samples.y < spec.classes)).all()
    assert (samples.strong < spec.features_per_class).all()
    own, _ = weak_features(spec, samples)
    assert samples.active[own].all()
    if spec.sparsity == 0:
        assert not samples.active[~own].any()
    for feature in range(spec.features):
        owned = samples.owner == feature
        active = samples.active.flatten(2)[:, :, feature]
        assert torch.equal(owned.sum(-1), spec.patches_per_feature * active)
        z = torch.where(owned, samples.strength, 0.0)
        torch.testing.assert_close(
            z.sum(-1), samples.total.flatten(2)[:, :, feature], rtol=1e-12, atol=1e-12
        )
        if spec.split == "equal":
            even = samples.total.flatten(2)[:, :, feature, None] / spec.patches_per_feature
            torch.testing.assert_close(z, torch.where(owned, even, 0.0), rtol=1e-12, atol=1e-12)
    assert (samples.strength[samples.owner < 0] == 0).all()
    assert (samples.strength >= 0).all()


@given(distributions(), COUNTS, SEEDS, VIEWS)
def test_strengths_are_always_in_their_ranges(spec, count, seed, single_view):
    _, samples = drawn(spec, count, seed, single_view=single_view)
    own, weak = weak_features(spec, samples)
    scale = spec.patches_per_feature ** (1 - 1 / spec.q)
    ranges = [
        (own & ~weak, spec.main_strength, scale),
        (weak, spec.main_strength, scale * spec.weak_strength),
        (samples.active & ~own, spec.off_strength, 1.0),
        (~samples.active, (0, 0), 1.0),
    ]
    for chosen, (low, high), factor in ranges:
        values = samples.total[chosen]
        assert (values >= low * factor - 1e-12).all()
        assert (values <= high * factor + 1e-12).all()
    if single_view is not None:
        assert (samples.is_single == single_view).all()


@given(distributions(), COUNTS, SEEDS, VIEWS)
def test_a_replicate_never_depends_on_its_batch(spec, count, seed, single_view):
    features, batch = drawn(spec, count, seed, replicates=(4, 0, 2), single_view=single_view)
    lone_features, alone = drawn(spec, count, seed, replicates=(0,), single_view=single_view)
    assert torch.equal(features[1:2], lone_features)
    for name in FIELDS:
        assert torch.equal(getattr(batch, name)[1:2], getattr(alone, name))


@given(distributions(), COUNTS, SEEDS, st.booleans())
def test_forcing_the_view_never_shifts_another_draw(spec, count, seed, single_view):
    _, free = drawn(spec, count, seed)
    _, forced = drawn(spec, count, seed, single_view=single_view)
    for name in ("y", "active", "owner"):
        assert torch.equal(getattr(free, name), getattr(forced, name))
    same = free.is_single == single_view
    assert torch.equal(free.x[same], forced.x[same])


seeds = st.integers(0, 10_000)


def draw(seed, *shape):
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


@given(seed=seeds, kernels=st.integers(4, 8))
def test_with_one_feature_a_kernel_no_feature_arrives_earlier(seed, kernels):
    correlation, growth = 0.02 * draw(seed, 2, kernels, 4), 1 + draw(seed + 1, 2, 4).abs()
    law = (correlation, growth, 0.1, "mae", Activation(4, 0.3), 1.0)
    shared, single = (predicted_hits(*law, exclusive=chosen) for chosen in (False, True))
    assert (single >= shared).all()
    # the very first arrival has its choice of kernels
    torch.testing.assert_close(single.amin(1), shared.amin(1))


ACTIVATIONS = st.builds(Activation, st.integers(2, 6), st.floats(0.05, 2))
SIZES = st.tuples(*(st.integers(1, limit) for limit in (3, 6, 5, 4, 6)))
CACHES = st.sampled_from([1, 3000, 1 << 20])


def normal(stream, *shape):
    return torch.randn(shape, generator=stream, dtype=torch.float64)


def problem(sizes, seed):
    replicates, samples, patches, dimension, kernels = sizes
    stream = torch.Generator().manual_seed(seed)
    x = normal(stream, replicates, samples, patches, dimension)
    return x, 0.5 * normal(stream, replicates, kernels, dimension), stream


@given(SIZES, SEEDS, ACTIVATIONS, st.integers(2, 5), CACHES)
def test_the_classification_descent_is_always_minus_the_gradient(
    sizes, seed, activation, classes, cache
):
    x, w, stream = problem(sizes, seed)
    u = normal(stream, sizes[0], classes, sizes[4])
    y = torch.randint(classes, sizes[:2], generator=stream)
    w.requires_grad_()
    u.requires_grad_()
    scores = encode(x, w, activation.q, activation.varrho) @ u.transpose(1, 2)
    loss = F.cross_entropy(scores.flatten(0, 1), y.flatten()) * sizes[0]
    by_w, by_u = torch.autograd.grad(loss, (w, u))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(blocks, "CACHE_BYTES", cache)
        found = classification_descent(x, y, w.detach(), u.detach(), activation)
    torch.testing.assert_close(found.w, -by_w, rtol=1e-9, atol=1e-11)
    torch.testing.assert_close(found.u, -by_u, rtol=1e-9, atol=1e-11)
    assert found.loss.sum().item() == pytest.approx(loss.item(), rel=1e-10)

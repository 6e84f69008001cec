"""The multi-view distribution: that its draws are what Definition 3.1 says.

Frequencies and moments are held to five standard errors of a fixed seed.
"""

import math
from dataclasses import replace

import pytest
import torch

from featlearn.core.seeds import Streams
from featlearn.mrp.data import MultiView, Samples, orthonormal_features, sample

SIGMAS = 5
SPEC = MultiView(
    classes=4, dimension=30, patches=20, sparsity=1.2, q=3, patches_per_feature=2,
    single_view_share=0.4, feature_noise=0.1, noise=0.3,
)  # fmt: skip
COUNT = 4000


def draw(spec, count, seed=0, replicates=(0,), **options) -> tuple[torch.Tensor, Samples]:
    streams = Streams(seed, "mrp", "sampler-test", replicates)
    features = orthonormal_features(spec, streams("features"))
    options = {"dtype": torch.float64, **options}
    return features, sample(spec, features, count, streams("data"), **options)


@pytest.fixture(scope="module")
def drawn():
    return draw(SPEC, COUNT)


def own(samples: Samples) -> torch.Tensor:
    """(R, N, k) bool: the class of the sample."""
    return torch.arange(samples.active.shape[2]) == samples.y[:, :, None]


def frequency_fits(hits: torch.Tensor, chance: float) -> bool:
    error = math.sqrt(chance * (1 - chance) / hits.numel())
    return abs(hits.double().mean().item() - chance) < SIGMAS * error


def mean_fits(values: torch.Tensor, wanted: float) -> bool:
    error = values.std().item() / math.sqrt(values.numel())
    return abs(values.mean().item() - wanted) < SIGMAS * error


def residual(features: torch.Tensor, samples: Samples) -> torch.Tensor:
    """(R, N, P, d): what a patch holds beside its own feature."""
    replicates, dimension = features.shape[0], features.shape[-1]
    flat = features.reshape(replicates, -1, dimension)
    main = torch.stack([flat[r][samples.owner[r].clamp(min=0)] for r in range(replicates)])
    return samples.x - main * samples.strength[..., None]


FREQUENCIES = {
    **{f"class {k}": (lambda s, k=k: s.y == k, 1 / 4) for k in range(4)},
    "feature of another class": (lambda s: s.active[~own(s)], 1.2 / 4),
    "both of them": (lambda s: s.active[~own(s)].all(-1), (1.2 / 4) ** 2),
    "single view": (lambda s: s.is_single, 0.4),
    "first is strong": (lambda s: s.strong[s.is_single] == 0, 1 / 2),
}


@pytest.mark.parametrize(("hits", "chance"), FREQUENCIES.values(), ids=FREQUENCIES)
def test_classes_features_and_views_are_as_frequent_as_the_definition_says(drawn, hits, chance):
    assert frequency_fits(hits(drawn[1]), chance)


def test_feature_directions_are_spread_over_the_sphere_with_both_signs():
    spec = replace(SPEC, dimension=8)
    streams = Streams(0, "mrp", "sampler-test", range(400))
    first = orthonormal_features(spec, streams("features"))[:, 0, 0]  # (400, 8)
    for axis in range(8):
        assert mean_fits(first[:, axis], 0)
        assert mean_fits(first[:, axis] ** 2, 1 / 8)


@pytest.mark.parametrize(("patches_per_feature", "q"), [(1, 3), (2, 3), (2, 4)])
def test_strengths_are_uniform_in_their_ranges(patches_per_feature, q):
    spec = replace(SPEC, patches_per_feature=patches_per_feature, q=q, weak_strength=0.1)
    samples = draw(spec, COUNT)[1]
    mine = own(samples)[..., None].expand_as(samples.active)
    other = torch.arange(2) != samples.strong[..., None, None]
    is_weak = mine & samples.is_single[..., None, None] & other
    kinds = {"main": mine & ~is_weak, "weak": is_weak, "off": samples.active & ~mine}
    scale = patches_per_feature ** (1 - 1 / q)
    ranges = {"main": (scale, 1.5 * scale), "weak": (0.1 * scale, 0.15 * scale), "off": (0.2, 0.4)}
    for kind, (low, high) in ranges.items():  # to lie in them is a property of any distribution
        values = samples.total[kinds[kind]]
        assert mean_fits(values, (low + high) / 2)
        assert mean_fits((values - (low + high) / 2) ** 2, (high - low) ** 2 / 12)
    assert (samples.total[~samples.active] == 0).all()


@pytest.mark.parametrize("room", [2, 3])
def test_the_dirichlet_split_is_uniform_on_the_simplex(room):
    spec = replace(SPEC, split="dirichlet", patches_per_feature=room, patches=8 * room)
    _, samples = draw(spec, 2000)
    mine = samples.owner[0] == (2 * samples.y[0])[:, None]  # the first feature of the own class
    z = samples.strength[0][mine].view(-1, room)
    shares = z / z.sum(1, keepdim=True)
    variance = (room - 1) / room**2 / (room + 1)
    for patch in range(room):
        assert mean_fits(shares[:, patch], 1 / room)
        assert mean_fits((shares[:, patch] - 1 / room) ** 2, variance)


def test_features_are_placed_uniformly(drawn):
    _, samples = drawn
    present = samples.owner[0] >= 0  # (N, P)
    share = present.double().mean(1)  # differs between samples
    wanted, error = share.sum(), (share * (1 - share)).sum().sqrt()
    for patch in range(20):
        assert abs(present[:, patch].sum() - wanted) < SIGMAS * error
    # a feature's two patches are any two of the twenty: sum and distance of their places
    mine = samples.owner[0] == (2 * samples.y[0])[:, None]
    place = mine.nonzero()[:, 1].view(COUNT, 2).double()
    assert mean_fits(place.sum(1), 19)
    assert mean_fits(place[:, 1] - place[:, 0], 7)  # (P + 1) / 3
    for patch in range(20):
        assert frequency_fits(mine[:, patch], 2 / 20)


def test_without_gaussian_noise_a_patch_is_its_feature_and_bounded_feature_noise():
    spec = replace(SPEC, noise=0.0, feature_noise=0.1)
    features, samples = draw(spec, 300)
    rest = residual(features, samples)[0][samples.owner[0] >= 0]
    flat = features[0].reshape(8, 30)
    alpha = rest @ flat.T
    assert alpha.min() > -1e-12
    assert alpha.max() < 0.1 + 1e-12
    assert mean_fits(alpha, 0.05)
    assert mean_fits((alpha - 0.05) ** 2, 0.1**2 / 12)
    torch.testing.assert_close(rest, alpha @ flat, rtol=0, atol=1e-12)


@pytest.mark.parametrize("place", ["feature", "background"])
def test_the_noise_has_the_moments_of_the_definition(place):
    """Std a coordinate: sigma_p = noise / sqrt(d) beside a feature, gamma k / sqrt(d) elsewhere."""
    features, samples = draw(SPEC, 1500)
    std = (0.3 if place == "feature" else 0.1 * 4) / math.sqrt(30)
    chosen = (samples.owner[0] >= 0) == (place == "feature")
    rest = residual(features, samples)[0][chosen]
    flat = features[0].reshape(8, 30)
    along = rest @ flat.T  # feature noise and Gaussian noise
    across = rest - along @ flat  # Gaussian noise alone, in 22 dimensions
    norms = across.pow(2).sum(1)
    assert mean_fits(norms, 22 * std**2)
    assert mean_fits((norms - 22 * std**2) ** 2, 2 * 22 * std**4)
    assert mean_fits(along, 0.05)
    assert mean_fits((along - 0.05) ** 2, 0.1**2 / 12 + std**2)
    # coordinates and patches are independent
    assert mean_fits((along[:, 0] - 0.05) * (along[:, 1] - 0.05), 0)
    assert mean_fits((along[1:, 0] - 0.05) * (along[:-1, 0] - 0.05), 0)


def test_the_split_does_not_shift_any_other_draw():
    _, equal = draw(replace(SPEC, split="equal"), 50)
    _, dirichlet = draw(replace(SPEC, split="dirichlet"), 50)
    assert torch.equal(equal.total, dirichlet.total)
    assert torch.equal(equal.owner, dirichlet.owner)
    features, _ = draw(SPEC, 1)
    torch.testing.assert_close(
        residual(features, equal), residual(features, dirichlet), rtol=0, atol=1e-12
    )


def test_alpha_and_xi_are_read_off_two_draws_with_features_along_the_axes():
    axes = torch.eye(30, dtype=torch.float64)[:8].reshape(1, 4, 2, 30)
    streams = Streams(0, "mrp", "sampler-test", [0])
    noisy, still = (
        sample(SPEC, axes, 50, streams("data"), noiseless=quiet, dtype=torch.float64)
        for quiet in (False, True)
    )
    alpha = residual(axes, still)
    assert ((alpha[..., :8] >= -1e-12) & (alpha[..., :8] <= 0.1)).all()
    assert not alpha[..., 8:].any()
    xi = noisy.x - still.x
    torch.testing.assert_close(xi[..., 8:], noisy.x[..., 8:], rtol=0, atol=0)
    assert torch.equal(noisy.owner, still.owner)


def test_too_few_patches_are_refused_by_name():
    # 4 classes x 2 features x 2 patches do not fit in 15 when every feature is there
    spec = replace(SPEC, patches=15, sparsity=4)
    with pytest.raises(ValueError, match=r"^patches: 15; .*8 features of 2 patches"):
        draw(spec, 10)
    _, samples = draw(replace(spec, patches=16), 10)  # just enough: no patch is left over
    assert (samples.owner >= 0).all()

"""Eigen-CAM: against singular value decompositions, its symmetries, its signs, hard input."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import scipy.linalg
import torch
from torch import Tensor

from featlearn.images.eigencam import _signs, eigen_cam, heat, token_maps

PHOTOS = Path(__file__).resolve().parents[3] / "shared/data/photos"
#: (channels, height, width): fewer positions than channels, and more
SHAPES = [(64, 5, 4), (6, 9, 7), (12, 3, 4)]


def activations(shape, batch=5, seed=0, dtype=torch.float32) -> Tensor:
    drawn = torch.Generator().manual_seed(seed)
    normal = torch.randn(batch, *shape, generator=drawn, dtype=torch.float64)
    place = torch.randn(batch, 1, *shape[1:], generator=drawn, dtype=torch.float64)
    return torch.relu(normal + 2 * place).to(dtype)


def by_svd(x: Tensor, centred: bool) -> np.ndarray:
    """Maps (B, h, w) of unknown sign, one singular value decomposition an image."""
    maps = []
    for image in x.double().numpy():
        rows = image.reshape(len(image), -1).T
        if centred:
            rows = rows - rows.mean(0)
        maps.append((rows @ np.linalg.svd(rows)[2][0]).reshape(image.shape[1:]))
    return np.stack(maps)


def correlation(a, b) -> float:
    return float(np.corrcoef(np.ravel(a), np.ravel(b))[0, 1])


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("centred", [True, False])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_maps_are_those_of_a_singular_value_decomposition_up_to_sign(shape, centred, dtype):
    x = activations(shape, dtype=dtype)
    cam = eigen_cam(x, centred=centred)
    assert cam.maps.dtype == dtype
    for ours, theirs in zip(cam.maps.numpy(), by_svd(x, centred), strict=True):
        flipped = theirs * np.sign((ours * theirs).sum())
        np.testing.assert_allclose(ours, flipped, atol=2e-4 * np.abs(theirs).max())


@pytest.mark.parametrize("shape", SHAPES)
def test_share_and_gap_are_what_the_singular_values_say(shape):
    x = activations(shape, dtype=torch.float64)
    cam = eigen_cam(x)
    for number, image in enumerate(x.numpy()):
        rows = image.reshape(len(image), -1)
        values = np.linalg.svd(rows - rows.mean(1, keepdims=True), compute_uv=False) ** 2
        assert cam.share[number] == pytest.approx(values[0] / values.sum(), rel=1e-6)
        assert 0 < cam.gap[number] <= 1 - values[1] / values[0] + 1e-9


@pytest.mark.parametrize("shape", SHAPES)
def test_a_planted_direction_is_recovered(shape):
    drawn = torch.Generator().manual_seed(1)
    place = torch.rand(shape[1:], generator=drawn)
    channel = torch.randn(shape[0], generator=drawn)
    planted = channel[:, None, None] * place
    cam = eigen_cam(planted[None], centred=False)
    expected = place * torch.linalg.vector_norm(channel)
    torch.testing.assert_close(cam.maps[0], expected, rtol=1e-4, atol=1e-4)
    assert cam.share[0] == pytest.approx(1, abs=1e-5)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("centred", [True, False])
def test_channels_may_be_permuted_and_rotated_without_moving_a_map(shape, centred):
    x = activations(shape, dtype=torch.float64)
    expected = eigen_cam(x, centred=centred).maps
    drawn = torch.Generator().manual_seed(2)
    order = torch.randperm(shape[0], generator=drawn)
    torch.testing.assert_close(eigen_cam(x[:, order], centred=centred).maps, expected)
    rotation, _ = torch.linalg.qr(
        torch.randn(shape[0], shape[0], generator=drawn, dtype=torch.float64)
    )
    rotated = torch.einsum("dc,bchw->bdhw", rotation, x)
    torch.testing.assert_close(eigen_cam(rotated, centred=centred).maps, expected)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("centred", [True, False])
def test_a_map_moves_with_its_positions_and_grows_with_its_scale(shape, centred):
    x = activations(shape, dtype=torch.float64)
    expected = eigen_cam(x, centred=centred).maps
    turned = eigen_cam(x.flip(3), centred=centred).maps
    torch.testing.assert_close(turned, expected.flip(2))
    torch.testing.assert_close(eigen_cam(3 * x, centred=centred).maps, 3 * expected)


def test_a_centred_map_does_not_see_what_all_positions_share():
    x = activations((64, 5, 4))
    shifted = x + 1e4 * torch.linspace(1, 2, 64)[:, None, None]
    for ours, theirs in zip(eigen_cam(shifted).maps, eigen_cam(x).maps, strict=True):
        assert abs(correlation(ours, theirs)) > 0.9999


# ------------------------------------------------------------------------------- signs


def from_backend(rows: np.ndarray, backend: str) -> np.ndarray:
    """The map of ``rows`` (P, C), with the sign that a library happens to give it."""
    if backend == "numpy":
        return rows @ np.linalg.svd(rows)[2][0]
    if backend == "scipy":
        return rows @ scipy.linalg.svd(rows, lapack_driver="gesvd")[2][0]
    if backend == "torch":
        return rows @ torch.linalg.svd(torch.from_numpy(rows))[2][0].numpy()
    values, vectors = np.linalg.eigh(rows @ rows.T)
    return vectors[:, -1] * np.sqrt(values[-1])


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("centred", [True, False])
def test_the_sign_does_not_depend_on_the_backend(centred, dtype):
    x = activations((12, 5, 4), batch=20, dtype=torch.float64)
    expected = eigen_cam(x, centred=centred).maps.flatten(1)
    for number, image in enumerate(x.numpy()):
        raw = image.reshape(12, -1).T.astype(dtype)
        rows = raw - raw.mean(0) if centred else raw
        energy = torch.from_numpy((raw**2).sum(1))[None]
        for backend in ("numpy", "scipy", "torch", "eigh"):
            for flip in (1, -1):
                theirs = torch.from_numpy(flip * from_backend(rows, backend))[None]
                fixed = theirs * _signs(theirs, energy, centred)
                assert correlation(fixed, expected[number]) > 0.999, (backend, flip)


@pytest.mark.parametrize(
    "heights",
    [
        [1.0, -1, 1, -1],  # nothing but the last rule can tell the two signs apart
        [2.0, 1, 0, -1],
        [0.0, 0, 5, -5],
    ],
)
def test_a_map_that_is_its_own_negative_still_has_one_sign(heights):
    maps = torch.tensor([heights])
    energy = torch.ones(1, 4)
    fixed = maps * _signs(maps, energy, True)
    flipped = -maps * _signs(-maps, energy, True)
    assert torch.equal(fixed, flipped)
    assert fixed[0, fixed[0].abs().argmax()] > 0


def test_a_map_is_hot_where_the_layer_is_active():
    x = torch.rand(1, 32, 6, 6, generator=torch.Generator().manual_seed(0)) * 0.1
    x[:, :, 2, 3] += 3 * torch.rand(32, generator=torch.Generator().manual_seed(1))
    for centred in (True, False):
        maps = eigen_cam(x, centred=centred).maps
        assert maps.flatten().argmax() == 2 * 6 + 3


# ------------------------------------------------------------------------------- hard input


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("bad", [float("nan"), float("inf"), -float("inf")])
def test_an_image_with_activations_that_are_not_finite_has_no_map_and_harms_no_other(shape, bad):
    x = activations(shape)
    expected = eigen_cam(x)
    x[1, 2, 0, 1] = bad
    cam = eigen_cam(x)
    assert cam.found.tolist() == [True, False, True, True, True]
    assert (cam.maps[1] == 0).all()
    torch.testing.assert_close(cam.maps[2:], expected.maps[2:])
    assert cam.maps.isfinite().all()
    assert cam.gap.isfinite().all()
    assert cam.share.isfinite().all()


@pytest.mark.parametrize("shape", SHAPES)
def test_a_layer_that_is_the_same_everywhere_has_no_centred_map(shape):
    x = torch.rand(1, shape[0], 1, 1).expand(1, *shape) + 0.5
    assert not eigen_cam(x).found
    assert not eigen_cam(torch.zeros(1, *shape)).found
    assert eigen_cam(x, centred=False).found


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("scale", [1e-30, 1e-18, 1e18, 1e30])
def test_tiny_and_huge_activations_have_the_same_map(shape, scale):
    x = activations(shape)
    cam = eigen_cam(x * scale)
    assert cam.found.all()
    torch.testing.assert_close(cam.maps / scale, eigen_cam(x).maps, rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize("shape", SHAPES)
def test_where_two_directions_are_equally_strong_the_gap_says_so(shape):
    first, second = torch.zeros(shape), torch.zeros(shape)
    first[0, 0, 0] = second[1, 1, 1] = 1.0
    cam = eigen_cam((first + second)[None], centred=False)
    assert cam.gap[0] < 1e-3
    assert cam.share[0] == pytest.approx(0.5, abs=1e-3)
    # any mixture of the two is right; nothing else is
    assert (cam.maps[0].abs() > 1e-6).sum() <= 2


def test_close_eigenvalues_are_told_apart():
    first, second = torch.zeros(1, 40, 4, 4), torch.zeros(1, 40, 4, 4)
    first[0, 0, 0, 0], second[0, 1, 3, 3] = 1.0, 0.9995
    maps = eigen_cam(first + second, centred=False).maps[0]
    assert maps[0, 0] == pytest.approx(1, abs=1e-3)
    assert abs(maps[3, 3]) < 1e-3


def test_a_strong_position_that_is_an_eigenvector_of_its_own_is_not_taken_for_the_leading_one():
    x = torch.zeros(2, 8, 3, 1)
    x[0, 0, 0], x[0, 1, 1], x[0, 1, 2] = 3**0.5, 2**0.5, 2**0.5
    x[1, 0] = torch.tensor([3.0, 2, 1])[:, None]  # found in a few steps, beside it
    maps = eigen_cam(x, centred=False).maps[..., 0]
    assert torch.allclose(maps[0], torch.tensor([0, 2**0.5, 2**0.5]), atol=1e-5)
    assert torch.allclose(maps[1], torch.tensor([3.0, 2, 1]), atol=1e-5)


def test_reduced_precision_is_accepted_and_other_input_is_not():
    x = activations((64, 5, 4))
    for dtype in (torch.float16, torch.bfloat16):
        maps = eigen_cam(x.to(dtype)).maps
        assert maps.dtype == torch.float32
        assert correlation(maps, eigen_cam(x).maps) > 0.999
    with pytest.raises(ValueError, match="expected floating-point"):
        eigen_cam(torch.zeros(1, 2, 3, 4, dtype=torch.int64))
    with pytest.raises(ValueError, match="expected floating-point"):
        eigen_cam(torch.zeros(2, 3, 4))


# ------------------------------------------------------------------------------- tokens, heat


@pytest.mark.parametrize("leading", [0, 1, 2])
def test_tokens_are_laid_out_row_by_row(leading):
    tokens = torch.arange(2 * (leading + 6) * 3.0).reshape(2, leading + 6, 3)
    maps = token_maps(tokens, (2, 3), leading)
    assert maps.shape == (2, 3, 2, 3)
    assert torch.equal(maps[1, :, 1, 2], tokens[1, leading + 5])
    with pytest.raises(ValueError, match="expected 1 leading ones and 4 x 4"):
        token_maps(tokens, (4, 4))


def test_heat_fills_the_image_and_the_unit_interval():
    maps = torch.tensor([[[-1.0, 2], [0, 4]], [[-1, -2], [-3, -4]]])
    drawn = heat(maps, (8, 6))
    assert drawn.shape == (2, 8, 6)
    assert drawn[0].min() == 0
    assert drawn[0].max() == 1
    assert (drawn[1] == 0).all()


# ------------------------------------------------------------------------------- peers


def photographs() -> Tensor:
    from torchvision.io import ImageReadMode, read_image
    from torchvision.transforms.functional import normalize, resize

    images = [
        normalize(
            resize(read_image(str(file), ImageReadMode.RGB), [160, 160]).float() / 255,
            [0.485, 0.456, 0.406],
            [0.229, 0.224, 0.225],
        )
        for file in sorted(PHOTOS.glob("*.jpg"))
    ]
    return torch.stack(images)


@pytest.mark.skipif(not PHOTOS.is_dir(), reason="needs photographs in ../shared/data/photos")
@pytest.mark.parametrize("name", ["resnet18", "resnet50", "vit_b_16"])
def test_maps_are_those_of_pytorch_grad_cam_up_to_sign(name):
    library = pytest.importorskip("pytorch_grad_cam.utils.svd_on_activations")
    import torchvision

    torch.manual_seed(0)
    size = {"image_size": 160} if name.startswith("vit") else {}
    model = getattr(torchvision.models, name)(weights=None, **size).eval()
    layer = model.encoder.ln if size else model.layer4
    seen = []
    layer.register_forward_hook(lambda _module, _inputs, output: seen.append(output))
    with torch.no_grad():
        model(photographs()[:4])
    maps = token_maps(seen[0], (10, 10)) if size else seen[0]
    theirs = library.get_2d_projection(maps.numpy().copy())
    for ours, other in zip(eigen_cam(maps).maps, theirs, strict=True):
        assert abs(correlation(ours, other)) > 0.999

"""Eigen-CAM (Muhammad & Yeasin 2020): where the strongest direction of a layer's activations lies.

An image's activations are a matrix with one row a position and one column a channel. Its map is the
projection of the rows on the leading right singular vector: an eigenvector of the smaller of the
two Gram matrices, without a singular value decomposition.
"""

from __future__ import annotations

from dataclasses import dataclass

import matplotlib
import torch
import torch.nn.functional as F
from torch import Tensor

#: Steps of the power method between two looks, and most looks: a step costs a tenth of a squaring.
STEPS, LOOKS = 6, 3
#: Largest residual, in roundings of the lead of an eigenvalue, at which a step finds nothing more.
ROUNDING = 8
#: Most squarings of a Gram matrix: 2 ** 10 steps of the power method at the price of ten.
SQUARINGS = 10
#: Largest residual |G u - lambda u| / lambda at which an eigenvector counts as found.
TOLERANCE = 1e-5
#: Where the mean's energy exceeds the rest's by this factor, centring a Gram matrix loses digits.
MEAN_DOMINATES = 1e3
#: An inner product counts as zero below this share of what its factors allow.
UNDECIDED = 1e-5
#: Energy of an image's activations within which float32 neither overflows nor loses digits.
SAFE = (1e-20, 1e20)
#: A constant map has no more variation than this share of its energy: rounding.
CONSTANT = 1e-10


def token_maps(tokens: Tensor, grid: tuple[int, int], leading: int = 1) -> Tensor:
    """Tokens (B, leading + h * w, C) of a vision transformer as maps (B, C, h, w), a view.

    ``grid``: ``(h, w)``, row by row. ``leading``: how many tokens before the patches to drop.
    Raises ValueError if the number of tokens does not fit the grid.
    """
    count = tokens.shape[1]
    if count != leading + grid[0] * grid[1]:
        raise ValueError(
            f"tokens: {count} an image; expected {leading} leading ones and {grid[0]} x {grid[1]} "
            "of the grid"
        )
    patches = tokens[:, leading:].transpose(1, 2)
    return patches.view(*patches.shape[:2], *grid)


@torch.no_grad()
def eigen_cam(activations: Tensor) -> Tensor:
    """Eigen-CAM of a batch of activations: signed projections (B, h, w), float32 or float64.

    Each channel's mean is taken off first, as common implementations do, the paper not. A map is 0
    where the activations are not finite, or the same everywhere. The sign of a singular vector is
    free: here a map is positive where the layer is active, by its inner product with the squared
    norms of the positions less their mean. Where that is zero up to rounding, the sum of the map's
    cubes decides, and last its largest value.

    ``activations``: (B, C, h, w), any floating-point type; computed in float32, or in float64 if
    given so. Raises ValueError if the activations have other axes or types.
    """
    if activations.ndim != 4 or not activations.is_floating_point():
        raise ValueError(
            f"activations: {activations.dtype} of shape {tuple(activations.shape)}; "
            "expected floating-point (batch, channels, height, width)"
        )
    if activations.dtype in (torch.float16, torch.bfloat16):
        activations = activations.float()
    x = activations.flatten(2)
    maps, energy = _cam(x)
    odd = ~((energy > SAFE[0]) & (energy < SAFE[1]))
    if bool(odd.any()):
        maps = _with_odd_images(maps, x, odd)
    return maps.reshape(len(x), *activations.shape[2:])


def heat(maps: Tensor, size: tuple[int, int]) -> Tensor:
    """Maps as heat for an overlay: negative parts cut off, each scaled to [0, 1], resized.

    ``maps``: (B, h, w). ``size``: height and width in pixels. Returns (B, *size); all 0 for a map
    without positive part.
    """
    positive = maps.clamp_min(0)
    low, high = positive.amin((1, 2), keepdim=True), positive.amax((1, 2), keepdim=True)
    spread = (high - low).clamp_min(torch.finfo(maps.dtype).tiny)
    scaled = ((positive - low) / spread)[:, None]
    return F.interpolate(scaled, size=size, mode="bilinear", align_corners=False)[:, 0]


def _cam(x: Tensor) -> tuple[Tensor, Tensor]:
    """Maps (B, P) of activations (B, C, P), and the activations' energy (B,)."""
    gram_of = _by_positions if x.shape[2] <= x.shape[1] else _by_channels
    maps, energy, varies = gram_of(x)
    maps = maps * _signs(maps, energy)[:, None]
    return torch.where(varies[:, None], maps, 0), energy.sum(1)


def _with_odd_images(maps: Tensor, x: Tensor, odd: Tensor) -> Tensor:
    """The same with those images done again whose energy overflows, vanishes or is not a number."""
    chosen = x[odd]
    finite = chosen.isfinite().flatten(1).all(1)
    chosen = chosen.masked_fill(~finite[:, None, None], 0)
    scale = chosen.abs().amax((1, 2)).clamp_min(torch.finfo(x.dtype).tiny)
    again, _ = _cam(chosen / scale[:, None, None])
    again = torch.where(finite[:, None], again * scale[:, None], 0)
    return maps.masked_scatter(odd[:, None].expand_as(maps), again)


#: Maps of unknown sign (B, P), energy (B, P), and whether it varies (B,).
_Parts = tuple[Tensor, Tensor, Tensor]


def _by_positions(x: Tensor) -> _Parts:
    """From the Gram matrix of the positions, (B, P, P); ``x`` is (B, C, P)."""
    gram = x.mT @ x
    energy = gram.diagonal(dim1=1, dim2=2).clone()
    raw = energy.sum(1)
    exact = _trace(_centred_gram(gram)) * MEAN_DOMINATES < raw
    if bool(exact.any()):
        rest = x[exact] - x[exact].mean(2, keepdim=True)
        gram[exact] = rest.mT @ rest
    vectors, values, trace = _leading_eigenvector(gram)
    maps = vectors * values.clamp_min(0).sqrt()[:, None]
    return maps, energy, trace > CONSTANT * raw


def _by_channels(x: Tensor) -> _Parts:
    """From the Gram matrix of the channels, (B, C, C); ``x`` is (B, C, P)."""
    energy = x.square().sum(1)
    rest = x - x.mean(2, keepdim=True)
    gram = rest @ rest.mT
    vectors, _, trace = _leading_eigenvector(gram)
    return _times(vectors, rest), energy, trace > CONSTANT * energy.sum(1)


def _centred_gram(gram: Tensor) -> Tensor:
    """``gram`` made that of the rows less their mean: both means off, the mean of all back on."""
    mean = gram.mean(2, keepdim=True)
    return gram.sub_(mean).sub_(mean.mT).add_(mean.mean(1, keepdim=True))


def _trace(gram: Tensor) -> Tensor:
    return gram.diagonal(dim1=1, dim2=2).sum(1)


def _squares(matrices: Tensor) -> Tensor:
    """Sum of the squares of all entries, (B,): of a symmetric matrix, of its eigenvalues."""
    return torch.linalg.vector_norm(matrices, dim=(1, 2)).square()


def _leading_eigenvector(gram: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Unit eigenvector (B, n), eigenvalue and trace, each (B,). Scales ``gram`` to a trace of 1.

    By the power method where it converges in few steps, else by repeated squaring; where the two
    leading eigenvalues are too close, by an eigensolver in float64.
    """
    tiny, eps = torch.finfo(gram.dtype).tiny, torch.finfo(gram.dtype).eps
    trace = _trace(gram)
    size = trace.clamp_min(tiny)
    unit = gram.div_(size[:, None, None])
    # sum of the squared shares of the directions: 1 where one is left
    squares = _squares(unit)
    vectors = _longest_column(unit)
    for _ in range(LOOKS):
        for _ in range(STEPS):
            vectors = _times(vectors, unit)
        vectors = F.normalize(vectors, dim=1)
        values, residual = _rayleigh(unit, vectors)
        # an eigenvector up to rounding, and its value above the norm of all others: the leading one
        lead = values - (squares - values.square()).clamp_min(0).sqrt()
        missed = ~(residual <= ROUNDING * eps * lead)
        if not bool((missed & (lead > 0)).any()):
            break
    if bool(missed.any()):
        vectors[missed] = _by_squaring(unit[missed], squares[missed])
        values, residual = _rayleigh(unit, vectors)
        unsure = residual > TOLERANCE * values
        if bool(unsure.any()):
            exact_values, exact_vectors = torch.linalg.eigh(unit[unsure].double())
            values[unsure] = exact_values[:, -1].to(gram.dtype)
            vectors[unsure] = exact_vectors[:, :, -1].to(gram.dtype)
    return vectors, values * size, trace


def _by_squaring(unit: Tensor, purity: Tensor) -> Tensor:
    """Leading eigenvectors (B, n) of matrices of trace 1 and ``purity``, by repeated squaring."""
    tiny, eps = torch.finfo(unit.dtype).tiny, torch.finfo(unit.dtype).eps
    power = unit
    for _ in range(SQUARINGS - 1):
        # all others' shares together are below sqrt(eps): the next power has them below eps
        if bool((purity > 1 - eps**0.5).all()):
            break
        power = (power @ power).div_(purity.clamp_min(tiny)[:, None, None])
        purity = _squares(power)
    # all columns are the same direction by now; the last squaring is made for one alone
    return F.normalize(_times(_longest_column(power), power), dim=1)


def _longest_column(power: Tensor) -> Tensor:
    """Of each matrix the column (B, n) that has lost the fewest digits."""
    longest = power.diagonal(dim1=1, dim2=2).argmax(1)
    return power[torch.arange(len(power), device=power.device), longest]


def _times(vectors: Tensor, matrices: Tensor) -> Tensor:
    """Vectors (B, n) by symmetric matrices: from the left, which is five times faster."""
    return (vectors[:, None] @ matrices)[:, 0]


def _rayleigh(unit: Tensor, vectors: Tensor) -> tuple[Tensor, Tensor]:
    """What would be the eigenvalues of ``vectors``, and the norm of what is left, each (B,)."""
    image = _times(vectors, unit)
    values = (vectors * image).sum(1)
    return values, torch.linalg.vector_norm(image - values[:, None] * vectors, dim=1)


def _signs(maps: Tensor, energy: Tensor) -> Tensor:
    """+1 or -1 for each map (B, P), by the rule of :func:`eigen_cam`."""
    sign = torch.zeros_like(maps[:, 0])
    for rule in (energy - energy.mean(1, keepdim=True), maps.square()):
        inner = (maps * rule).sum(1)
        possible = torch.linalg.vector_norm(maps, dim=1) * torch.linalg.vector_norm(rule, dim=1)
        decided = inner.abs() > UNDECIDED * possible
        sign = torch.where((sign == 0) & decided, inner.sign(), sign)
        if bool(sign.all()):
            return sign
    # the first of the largest values up to rounding, so that a tie has one winner everywhere
    size = maps.abs()
    first = (size >= (1 - UNDECIDED) * size.amax(1, keepdim=True)).float().argmax(1, keepdim=True)
    last = torch.where(maps.gather(1, first)[:, 0] < 0, -1.0, 1.0).to(maps.dtype)
    return torch.where(sign == 0, last, sign)


#: Perceptually even, and its order survives grey print: hotter is lighter.
COLOURS = "inferno"
#: Opacity of the hottest heat; the picture's contrast must stay visible below it.
STRENGTH = 0.75
#: Brightness of what is cold: the picture steps back, the heat stands out.
DIM = 0.75
#: Luma of red, green and blue (ITU-R BT.601).
LUMA = (0.299, 0.587, 0.114)


def overlay(images: Tensor, heat: Tensor) -> Tensor:
    """Pictures in grey with their heat in colour, the more opaque the hotter: uint8 (B, 3, H, W).

    ``images``: uint8 (B, 3, H, W). ``heat``: (B, H, W) in [0, 1]; see :func:`heat`. Raises
    ValueError if shapes, types or values do not fit.
    """
    if images.dtype != torch.uint8 or images.ndim != 4 or images.shape[1] != 3:
        raise ValueError(
            f"images: {images.dtype} of shape {tuple(images.shape)}; expected uint8 (B, 3, H, W)"
        )
    if heat.shape != (len(images), *images.shape[2:]):
        raise ValueError(
            f"heat: shape {tuple(heat.shape)}; expected {(len(images), *images.shape[2:])}"
        )
    if not bool(((heat >= 0) & (heat <= 1)).all()):
        raise ValueError("heat: expected numbers in [0, 1]")
    weights = torch.tensor(LUMA, device=images.device)
    grey = torch.einsum("bchw,c->bhw", images.float() / 255, weights)[:, None]
    table = torch.tensor(matplotlib.colormaps[COLOURS](range(256)), dtype=torch.float32)[:, :3]
    place = (heat * 255).round().long()
    coloured = table.to(images.device)[place].permute(0, 3, 1, 2)
    opacity = STRENGTH * heat[:, None]
    blended = (1 - opacity) * DIM * grey + opacity * coloured
    return (blended * 255).round().clamp(0, 255).to(torch.uint8)


# Which parts of an image a heat map points at, counted against the parts that are truly there.

#: From which share of the image's largest heat on a part is hit.
HIT_SHARE = 0.5


@dataclass(frozen=True)
class PartUse:
    """How heat lies on the parts of each image; absent parts hold 0 or False.

    ``hit`` (B, P): mean heat on the part's pixels is at least half of the image's maximum.
    ``share`` (B, P): part of the image's heat that lies on the part's pixels. ``density`` (B, P):
    ``share`` over the part's share of the pixels: 1 for even heat. ``pointed`` (B, P): the hottest
    pixel lies on the part (the pointing game). ``entropy`` (B,): of the heat on the image's parts
    over that of an even split; NaN with fewer than two parts, or no heat on any.
    """

    hit: Tensor
    share: Tensor
    density: Tensor
    pointed: Tensor
    entropy: Tensor

    @property
    def hits(self) -> Tensor:
        """Number of parts hit an image, (B,)."""
        return self.hit.sum(1)


def part_use(heat: Tensor, masks: Tensor) -> PartUse:
    """Count which parts the heat of a batch lies on.

    ``heat``: (B, H, W), not negative. ``masks``: pixels of each part, bool (B, P, H, W); an absent
    part has none. Raises ValueError if shapes do not match or the heat is negative somewhere.
    """
    if masks.ndim != 4 or heat.shape != (len(masks), *masks.shape[2:]):
        raise ValueError(
            f"heat {tuple(heat.shape)} and masks {tuple(masks.shape)}: expected "
            "(batch, height, width) and (batch, parts, height, width)"
        )
    if bool((heat < 0).any()):
        raise ValueError("heat: expected no negative number; see heat")
    flat, parts = heat.flatten(1), masks.flatten(2)
    pixels = parts.sum(2)
    on_part = (parts.to(flat.dtype) @ flat[:, :, None])[:, :, 0]
    highest, total = flat.amax(1, keepdim=True), flat.sum(1, keepdim=True)
    share = on_part / total.clamp_min(torch.finfo(flat.dtype).tiny)
    hottest = flat.argmax(1)[:, None, None].expand(-1, parts.shape[1], 1)
    warm = highest > 0
    return PartUse(hit=(on_part >= HIT_SHARE * highest * pixels) & (pixels > 0) & warm, share=share,
                   density=share * parts.shape[2] / pixels.clamp_min(1),
                   pointed=parts.gather(2, hottest)[:, :, 0] & warm,
                   entropy=_relative_entropy(on_part, pixels > 0))  # fmt: skip


def _relative_entropy(amounts: Tensor, present: Tensor) -> Tensor:
    """Entropy of ``amounts`` (B, P) over those present, relative to an even split."""
    even = present.sum(1).log()
    total = amounts.sum(1, keepdim=True)
    probabilities = amounts / total
    entropy = torch.special.entr(probabilities).sum(1)
    undefined = (present.sum(1) < 2) | (total[:, 0] <= 0)
    return torch.where(undefined, torch.nan, entropy / even)

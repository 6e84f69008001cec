"""Training by full-batch gradient descent, all replicates in one program.

The masked loss enters with its **exact expectation over masks** (the algorithm of the paper,
equation (2)), in closed form. Steps walk through the data in blocks that stay in the processor's
cache: the elementwise half of a step then costs little beside its matrix products.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial

import torch
from torch import Tensor

from featlearn.core.errors import DivergedError
from featlearn.mrp.model import smoothed_relu

#: Working set of a block on a CPU, in bytes: about half of a second-level cache.
CACHE_BYTES = 1 << 20
#: A kernel this large has left every regime that the paper describes.
OVERFLOW = 1e3


@dataclass(frozen=True)
class Activation:
    """Exponent ``q`` and threshold ``varrho`` of the smoothed ReLU."""

    q: int
    varrho: float


class _Scratch:
    """Reused buffers for the pre-activations of one block and what is computed from them."""

    def __init__(self, like: Tensor, rows: int, kernels: int):
        shape = (like.shape[0], rows, kernels)
        self.u, self.s, self.slope, self.extra = (like.new_empty(shape) for _ in range(4))

    def cut(self, rows: int) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        return self.u[:, :rows], self.s[:, :rows], self.slope[:, :rows], self.extra[:, :rows]


def _blocks(rows: int, row_bytes: int, device: torch.device) -> list[slice]:
    """Cut ``rows`` so that a block's working set fits the cache; one block on a GPU."""
    size = rows if device.type != "cpu" else max(1, min(rows, CACHE_BYTES // row_bytes))
    return [slice(start, min(start + size, rows)) for start in range(0, rows, size)]


def _activate(u: Tensor, s: Tensor, slope: Tensor, extra: Tensor, activation: Activation) -> None:
    """``s`` and ``slope`` become smoothed ReLU of ``u`` and its derivative, without new memory."""
    q, varrho = activation.q, activation.varrho
    torch.mul(u, 1 / varrho, out=s)
    s.clamp_(0, 1)
    torch.pow(s, q - 1, out=slope) if q > 4 else _small_power(s, q - 1, slope)
    s.mul_(slope).mul_(varrho / q)
    torch.sub(u, varrho, out=extra)
    s.add_(extra.clamp_min_(0))


def _small_power(base: Tensor, exponent: int, out: Tensor) -> None:
    """``base ** exponent`` by products: several times faster than ``torch.pow``."""
    out.copy_(base)
    for _ in range(exponent - 1):
        out.mul_(base)


# --------------------------------------------------------------------------- mask reconstruction


def mae_loss(x: Tensor, w: Tensor, theta: float, activation: Activation) -> Tensor:
    """Expected MAE-style masked loss a sample (appendix H), averaged over the samples.

    With ``g_p = sum_r w_r R(<w_r, x_p>)`` and decoder scale ``1/theta`` it is
    ``1/2 sum_p [|x_p|^2 - 2 <x_p, g_p> + |g_p|^2 / theta]``.

    Parameters
    ----------
    x : (R, N, P, d)
    w : (R, K, d)
    theta
        Probability that a patch is **kept** (the mask ratio is ``1 - theta``).

    Returns
    -------
    Tensor
        (R,).
    """
    replicates, samples, patches, dimension = x.shape
    rows = x.reshape(replicates, samples * patches, dimension)
    s = smoothed_relu(torch.bmm(rows, w.transpose(1, 2)), activation.q, activation.varrho)
    g = torch.bmm(s, w)
    per_patch = (rows * rows - 2 * rows * g + g * g / theta).sum(-1) / 2
    return per_patch.sum(-1) / samples


def mae_descent(x: Tensor, w: Tensor, theta: float, activation: Activation) -> Tensor:
    """Negative gradient of :func:`mae_loss` with respect to ``w``, exact over masks.

    With ``Delta_p = x_p - g_p / theta`` it is, for kernel r,
    ``mean_n sum_p [ S_rp Delta_p + R'_rp <w_r, Delta_p> x_p ]``. (Fact 2.2 of the paper prints
    another vector, which is not the gradient.)

    The products are arranged so that neither ``g`` nor ``Delta`` is formed: with
    ``Q = U - S (W W^T) / theta`` it equals ``(S + R' Q)^T X - (S^T S) W / theta``.

    Parameters and shapes as in :func:`mae_loss`; returns (R, K, d).
    """
    replicates, samples, patches, dimension = x.shape
    rows = x.reshape(replicates, samples * patches, dimension)
    kernels = w.shape[1]
    blocks = _blocks(rows.shape[1], 4 * replicates * kernels * x.element_size(), x.device)
    scratch = _Scratch(x, blocks[0].stop, kernels)
    transposed = w.transpose(1, 2)
    coupling = torch.bmm(w, transposed).mul_(-1 / theta)
    direct = torch.zeros_like(w)
    overlap = torch.zeros_like(coupling)
    for block in blocks:
        patch = rows[:, block]
        u, s, slope, extra = scratch.cut(patch.shape[1])
        torch.bmm(patch, transposed, out=u)
        _activate(u, s, slope, extra, activation)
        overlap.baddbmm_(s.transpose(1, 2), s)
        u.baddbmm_(s, coupling)
        u.mul_(slope).add_(s)
        direct.baddbmm_(u.transpose(1, 2), patch)
    return direct.baddbmm_(overlap, w, alpha=-1 / theta).div_(samples)


# --------------------------------------------------------------------------- classification


@dataclass
class Descent:
    """Result of one pass: negative gradients, mean cross-entropy and accuracy a replicate."""

    w: Tensor | None
    u: Tensor
    loss: Tensor
    accuracy: Tensor


def classification_descent(
    x: Tensor, y: Tensor, w: Tensor, u: Tensor, activation: Activation
) -> Descent:
    """Negative gradients of the mean cross-entropy of ``softmax(u h(X))`` (equations (14), (15)).

    Parameters
    ----------
    x : (R, N, P, d)
    y : (R, N) int64
    w : (R, K, d)
    u : (R, k, K)

    Returns
    -------
    Descent
        ``w`` (R, K, d), ``u`` (R, k, K), ``loss`` and ``accuracy`` (R,), all before the step.
    """
    replicates, samples, patches, dimension = x.shape
    kernels = w.shape[1]
    transposed = w.transpose(1, 2)
    blocks = _blocks(samples, 4 * replicates * patches * kernels * x.element_size(), x.device)
    scratch = _Scratch(x, blocks[0].stop * patches, kernels)
    down_w, down_u = torch.zeros_like(w), torch.zeros_like(u)
    loss, hits = x.new_zeros(replicates), x.new_zeros(replicates)
    for block in blocks:
        patch = x[:, block].reshape(replicates, -1, dimension)
        pre, s, slope, extra = scratch.cut(patch.shape[1])
        torch.bmm(patch, transposed, out=pre)
        _activate(pre, s, slope, extra, activation)
        h = s.view(replicates, -1, patches, kernels).sum(2)
        residual, block_loss, block_hits = _residual(h, y[:, block], u)
        down_u.baddbmm_(residual.transpose(1, 2), h)
        push = torch.bmm(residual, u)
        slope.view(replicates, -1, patches, kernels).mul_(push.unsqueeze(2))
        down_w.baddbmm_(slope.transpose(1, 2), patch)
        loss += block_loss
        hits += block_hits
    return Descent(down_w / samples, down_u / samples, loss / samples, hits / samples)


def head_descent(h: Tensor, y: Tensor, u: Tensor) -> Descent:
    """The same for a frozen encoder whose outputs ``h`` (R, N, K) are already known."""
    residual, loss, hits = _residual(h, y, u)
    samples = h.shape[1]
    return Descent(
        None, torch.bmm(residual.transpose(1, 2), h) / samples, loss / samples, hits / samples
    )


def _residual(h: Tensor, y: Tensor, u: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """``1{i=y} - softmax_i`` (R, B, k), summed cross-entropy (R,), correct predictions (R,)."""
    log_share = torch.log_softmax(torch.bmm(h, u.transpose(1, 2)), dim=-1)
    picked = log_share.gather(-1, y.unsqueeze(-1)).squeeze(-1)
    hits = (log_share.argmax(-1) == y).to(h.dtype).sum(-1)
    residual = log_share.exp().neg_()
    residual.scatter_add_(-1, y.unsqueeze(-1), torch.ones_like(picked).unsqueeze(-1))
    return residual, -picked.sum(-1), hits


# --------------------------------------------------------------------------- loops


def correlations(w: Tensor, features: Tensor) -> Tensor:
    """``<w_r, v_{i,l}>``: (R, K, d) and (R, k, L, d) to (R, K, k, L)."""
    replicates, classes, views, dimension = features.shape
    flat = features.reshape(replicates, classes * views, dimension)
    return torch.bmm(w, flat.transpose(1, 2)).view(replicates, -1, classes, views)


def capture_strength(w: Tensor, features: Tensor) -> Tensor:
    """``Lambda_{i,l} = max_r [<w_r, v_{i,l}>]^+`` (R, k, L)."""
    return correlations(w, features).amax(1).clamp_min(0)


@dataclass
class Trace:
    """What a loop wrote down: step numbers and, at each, one tensor a name."""

    steps: list[int] = field(default_factory=list)
    values: dict[str, list[Tensor]] = field(default_factory=dict)

    def add(self, step: int, **seen: Tensor) -> None:
        self.steps.append(step)
        for name, tensor in seen.items():
            self.values.setdefault(name, []).append(tensor.detach().cpu().clone())

    def stacked(self, name: str) -> Tensor:
        """(steps, ...) of one name."""
        return torch.stack(self.values[name])


@dataclass
class Pretrained:
    """Outcome of a pre-training.

    Attributes
    ----------
    w : (R, K, d)
        Kernels at each replicate's own end.
    hit : (R, k, L) int64
        First step at which a feature was captured (``Lambda >= varrho``); -1 for never.
    stopped : (R,) int64
        Number of steps each replicate made.
    trace
        ``strength`` (steps, R, k, L): ``Lambda`` over time; a finished replicate keeps its value.
    """

    w: Tensor
    hit: Tensor
    stopped: Tensor
    trace: Trace


Report = Callable[[int, Callable[[], dict[str, str]]], None]


def _silent(_: int, __: Callable[[], dict[str, str]]) -> None:
    pass


def pretrain_mae(
    x: Tensor,
    features: Tensor,
    w: Tensor,
    activation: Activation,
    *,
    theta: float,
    learning_rate: float,
    max_steps: int,
    hit_factor: float = 1.0,
    record_every: int = 20,
    report: Report = _silent,
) -> Pretrained:
    """MAE-style pre-training with the exact expectation over masks. Labels are not used.

    A replicate ends ``hit_factor`` times later than the step at which all features were captured,
    or at ``max_steps``. Finished replicates leave the batch.

    Parameters
    ----------
    x : (R, N, P, d)
    features : (R, k, L, d)
        Only to see what was captured, and to stop.
    w : (R, K, d)
        Kernels at the start; not changed.
    report
        Called after every step with its number and a function that says what is seen.

    Raises
    ------
    DivergedError
        If a kernel leaves the finite numbers or grows beyond ``OVERFLOW``.
    """
    w = w.clone()
    replicates = w.shape[0]
    strength = capture_strength(w, features)
    hit = torch.where(strength >= activation.varrho, 0, -1)
    stopped = torch.full((replicates,), max_steps, dtype=torch.int64, device=w.device)
    trace = Trace()
    trace.add(0, strength=strength)
    running = torch.arange(replicates, device=w.device)
    batch, live, own = x, w, features
    for step in range(1, max_steps + 1):
        live = live + learning_rate * mae_descent(batch, live, theta, activation)
        now = capture_strength(live, own)
        strength[running] = now
        hit[running] = torch.where(
            (hit[running] < 0) & (now >= activation.varrho), step, hit[running]
        )
        if step % record_every == 0:
            _guard(live, step)
            trace.add(step, strength=strength)
        report(step, partial(_seen, hit))
        done = _finished(hit[running], step, hit_factor)
        if done.any() or step == max_steps:
            w[running] = live
            stopped[running[done]] = step
            running = running[~done]
            if running.numel() == 0:
                break
            batch, live, own = x[running], live[~done], features[running]
    if trace.steps[-1] != step:
        trace.add(step, strength=strength)
    _guard(w, step)
    return Pretrained(w, hit, stopped, trace)


def _finished(hit: Tensor, step: int, factor: float) -> Tensor:
    """(R,) bool: all captured, and ``factor`` times as long ago as that took."""
    last = hit.flatten(1).amax(1)
    return (hit.flatten(1) >= 0).all(1) & (step >= factor * last)


def _seen(hit: Tensor) -> dict[str, str]:
    captured = (hit >= 0).flatten(1)
    return {"captured": f"{int(captured.sum())}/{captured.numel()} features"}


def _guard(w: Tensor, step: int) -> None:
    largest = float(w.abs().max())
    if not largest < OVERFLOW:
        raise DivergedError(
            f"step {step}: a kernel entry reached {largest:.3g} (limit {OVERFLOW:g}); "
            "lower the learning rate or stop earlier"
        )


@dataclass
class Classifier:
    """A trained classifier: kernels (R, K, d), head (R, k, K), and the trace of its training."""

    w: Tensor
    u: Tensor
    trace: Trace


def train_classifier(
    x: Tensor,
    y: Tensor,
    w: Tensor,
    u: Tensor,
    activation: Activation,
    *,
    encoder_rate: float,
    head_rate: float,
    steps: int,
    features: Tensor,
    record_every: int = 20,
    report: Report = _silent,
) -> Classifier:
    """Full-batch gradient descent on the cross-entropy, head and encoder at once.

    One loop for all of them: supervised training from scratch is ``head_rate=0`` with a
    fixed-block head, a linear probe is ``encoder_rate=0`` (the encoder then runs once), and
    fine-tuning moves both (equations (14), (15), simultaneous update).

    Parameters
    ----------
    x : (R, N, P, d)
    y : (R, N) int64
    w : (R, K, d), u : (R, k, K)
        Start; not changed.
    encoder_rate, head_rate
        The paper's ``eta_1`` and ``eta_2``.
    features : (R, k, L, d)
        Only to write down ``Lambda`` over time.
    """
    w, u = w.clone(), u.clone()
    frozen = _encode_blocked(x, w, activation) if encoder_rate == 0 else None
    trace = Trace()
    for step in range(steps + 1):
        if frozen is not None:
            down = head_descent(frozen, y, u)
        else:
            down = classification_descent(x, y, w, u, activation)
        if step % record_every == 0 or step == steps:
            _guard(w, step)
            trace.add(
                step,
                loss=down.loss,
                accuracy=down.accuracy,
                strength=capture_strength(w, features),
            )
        report(step, partial(_loss_words, down.loss))
        if step == steps:
            break
        if head_rate:
            u += head_rate * down.u
        if down.w is not None:
            w += encoder_rate * down.w
    return Classifier(w, u, trace)


def _loss_words(loss: Tensor) -> dict[str, str]:
    return {"loss": f"{float(loss.mean()):.4f}"}


def _encode_blocked(x: Tensor, w: Tensor, activation: Activation) -> Tensor:
    """Encoder outputs (R, N, K), block by block so that memory does not grow with N x P x K."""
    return torch.cat(list(encoded(x, w, activation)), dim=1)


def encoded(x: Tensor, w: Tensor, activation: Activation) -> Iterator[Tensor]:
    """Encoder outputs of consecutive blocks of samples, (R, B, K) each."""
    replicates, samples, patches, dimension = x.shape
    row_bytes = 4 * replicates * patches * w.shape[1] * x.element_size()
    for block in _blocks(samples, row_bytes, x.device):
        rows = x[:, block].reshape(replicates, -1, dimension)
        pre = torch.bmm(rows, w.transpose(1, 2))
        s = smoothed_relu(pre, activation.q, activation.varrho)
        yield s.view(replicates, -1, patches, w.shape[1]).sum(2)

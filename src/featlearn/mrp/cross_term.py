"""Why teacher-student kernels mix features: the cross term, and the runaway that follows.

The student's error ``Phi_r(X)`` is one number a sample. A kernel that holds ``v`` and sees a sample
with ``v`` and ``v'`` applies the whole of it to the patches of ``v'`` too, so that its push along
``v'`` is that of ``v'`` itself plus ``Phi`` from the patches of ``v``: the *cross term*, which
Claim E.4(b) leaves out. Once two features that occur together sit in one kernel, each feeds the
other.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from featlearn.mrp.data import Samples
from featlearn.mrp.gradients import TeacherFactor, teacher_student_descent
from featlearn.mrp.model import Activation, smoothed_relu, smoothed_relu_slope
from featlearn.mrp.train import OVERFLOW, Trace, correlations


@dataclass(frozen=True)
class Push:
    """The negative gradient along each feature, from that feature's own patches, in two parts.

    Attributes
    ----------
    own : (R, K, k * L)
        Through the error that those patches cause themselves, and the mask variance.
    cross : (R, K, k * L)
        Through the error that all other patches cause.
    """

    own: Tensor
    cross: Tensor


def pushes(
    x: Tensor,
    owner: Tensor,
    features: Tensor,
    w: Tensor,
    activation: Activation,
    *,
    theta: float,
    tau: float,
) -> Push:
    """Take the push along each feature apart.

    Parameters
    ----------
    x : (R, N, P, d)
    owner : (R, N, P)
        Flat index of the feature on each patch, -1 for none; see ``Samples``.
    features : (R, k, L, d)
    w : (R, K, d)
    """
    replicates, samples, patches, dimension = x.shape
    flat = features.reshape(replicates, -1, dimension)
    rows = x.reshape(replicates, samples * patches, dimension)
    shape = (replicates, samples, patches, -1)
    u = torch.bmm(rows, w.transpose(1, 2))
    q, varrho = activation.q, activation.varrho
    s = smoothed_relu(u, q, varrho).view(shape)
    slope = smoothed_relu_slope(u, q, varrho).view(shape)
    error = smoothed_relu(tau * u, q, varrho).view(shape) - s
    along = torch.bmm(rows, flat.transpose(1, 2)).view(shape)  # <x_p, v>
    on = torch.nn.functional.one_hot(owner + 1, flat.shape[1] + 1)[..., 1:].to(x.dtype)

    def per_feature(of_patch: Tensor, weight: Tensor) -> Tensor:  # sums over P_v: (R, N, K, k L)
        return torch.einsum("rnpk,rnpv->rnkv", of_patch, weight)

    from_own = per_feature(error, on)
    reach = per_feature(slope, on * along)
    variance = (1 / theta - 1) * per_feature(s * slope, on * along)
    from_others = error.sum(2).unsqueeze(-1) - from_own
    return Push((from_own * reach - variance).mean(1), (from_others * reach).mean(1))


def follow(
    samples: Samples,
    features: Tensor,
    w: Tensor,
    activation: Activation,
    factor: TeacherFactor,
    *,
    learning_rate: float,
    steps: int,
) -> Trace:
    """Train few kernels by teacher-student descent and write down every step.

    Kernels do not interact, so a kernel followed alone takes the path that it takes among all.

    Parameters
    ----------
    w : (R, K, d)
        Kernels at the start. A replicate of which a kernel passes ``OVERFLOW`` stands still.

    Returns
    -------
    Trace
        ``correlation``, ``own``, ``cross``, each (steps + 1, R, K, k * L).
    """
    theta = factor.theta
    assert isinstance(theta, float)
    trace = Trace()
    for step in range(steps + 1):
        tau = factor(step)
        assert isinstance(tau, float)
        push = pushes(samples.x, samples.owner, features, w, activation, theta=theta, tau=tau)
        here = correlations(w, features).flatten(2)
        trace.add(step, correlation=here, own=push.own, cross=push.cross)
        following = w + learning_rate * teacher_student_descent(
            samples.x, w, theta, activation, tau=tau
        )
        within = following.abs().amax((1, 2), keepdim=True) < OVERFLOW
        if not within.any():
            break
        w = torch.where(within, following, w)
    return trace


def runaway_rate(
    samples: Samples, correlation: Tensor, theta: float, patches_per_feature: int
) -> Tensor:
    """Rate at which kernels with several features grow: ``d log |a| / d (eta t)``.

    Once every feature ``v`` with ``a_v = <w, v> > 0`` responds linearly and ``delta_t`` is small,
    teacher factor and mask variance cancel on the patches of the same feature (equal split), and
    what is left is ``d a_v / dt = (1/theta - 1) / C_p * sum_{v' != v} E[Z_v Z_v'] a_v'``: linear,
    with no brake. A kernel with a single feature does not grow this way.

    Parameters
    ----------
    samples
        R replicates.
    correlation : (..., R, k * L)
        ``a`` of one kernel a replicate.

    Returns
    -------
    Tensor
        (..., R).
    """
    z = samples.total.flatten(2).to(correlation)
    together = z.transpose(1, 2) @ z / z.shape[1]
    together = together - torch.diag_embed(together.diagonal(dim1=1, dim2=2))
    a = correlation.clamp_min(0)
    push = torch.einsum("...rv,rvu->...ru", a, together)
    factor = (1 / theta - 1) / patches_per_feature
    return factor * (a * push).sum(-1) / (a * a).sum(-1)

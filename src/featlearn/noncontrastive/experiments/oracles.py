"""Closed forms, printed ones too, against brute force in float64; the roles of section 5.3."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import pandas as pd
import torch
from torch import Tensor

from featlearn.core.evidence.frames import tidy
from featlearn.core.seeds import Streams, draws
from featlearn.core.training.losses import relative_error
from featlearn.noncontrastive import closed_forms as forms
from featlearn.noncontrastive import model
from featlearn.noncontrastive.data import PatchData, sample, views
from featlearn.noncontrastive.population import Law, Objective, State, descent, loss, state_of

if TYPE_CHECKING:
    from featlearn.core.run.job import Job
    from featlearn.core.run.outputs import Results

#: The states of section 5.3: neuron 1 has the strong feature, neuron 2 has none, little noise left.
#: Ranges of ``|B_11|``, of the other products and of ``R_j``.
ROLES_STRONG, ROLES_SMALL, ROLES_RESIDUAL = (1.0, 1.4), (0.1, 0.2), (0.05, 0.15)
#: What may be switched off: the objective and StopGrad.
ROLES: dict[str, tuple[Objective, bool]] = {
    "batch normalisation, StopGrad": ("batch", True),
    "batch normalisation, no StopGrad": ("batch", False),
    "no normalisation, StopGrad": ("inner-product", True),
    "neither": ("inner-product", False),
}


def measure(job: Job) -> Results:
    """Set the closed forms against brute force on random instances; section 5.3 in numbers."""
    config, roles = job.config, job.config["roles"]
    streams = Streams(job.seed, "noncontrastive", "oracles", range(config["replicates"]))
    pushes = role_frames(PatchData.from_config(roles["data"]), roles, streams)
    return {"instances": instances(config, streams), "roles": pd.concat(pushes, ignore_index=True)}


def random_state(
    spec: PatchData, neurons: int, std: float, streams: Sequence[torch.Generator]
) -> tuple[Tensor, Tensor]:
    """Gaussian neurons (R, m, d) with entries of ``std`` and a head (R, m, m), float64."""
    w = draws(torch.randn, streams, neurons, spec.dimension, dtype=torch.float64)
    e = draws(torch.randn, streams, neurons, neurons, dtype=torch.float64)
    off = 1 - torch.eye(neurons, dtype=torch.float64)
    return std * w, 0.3 * e * off


def by_autograd(state: State, law: Law, *, stop_gradient: bool = True) -> tuple[Tensor, ...]:
    """Negative gradients of (A.1) by B, by G (as the mixing matrix) and by E."""
    parts = [part.clone().requires_grad_() for part in (state.b, state.g, state.e)]
    live = State(*parts)
    value = loss(live, law, None if stop_gradient else live)
    down = torch.autograd.grad(-value.sum(), parts)
    off = 1 - torch.eye(state.neurons, dtype=torch.float64)
    return down[0], down[1] + down[1].transpose(-1, -2), down[2] * off


def gradient_errors(spec: PatchData, streams: Streams, std: float) -> dict[str, Tensor]:
    """Closed forms against automatic differentiation, for two and for four neurons."""
    law, result = Law.of(spec), {}
    for neurons in (2, 4):
        state = state_of(*random_state(spec, neurons, std, streams(f"state-{neurons}")))
        for stop in (True, False):
            down = descent(state, law, stop_gradient=stop)
            wanted = by_autograd(state, law, stop_gradient=stop)
            parts = (down.b, down.mixing, down.e)
            errors = [relative_error(f, w) for f, w in zip(parts, wanted, strict=True)]
            name = f"gradient_{neurons}" + ("" if stop else "_live_target")
            result[name] = torch.stack(errors).amax(0)
    return result


def named_errors(spec: PatchData, streams: Streams, std: float) -> dict[str, Tensor]:
    """The appendix's terms, corrected and as printed, against the gradient.

    ``printed_signal`` and ``printed_noise`` are ratios to the truth; the others relative errors.
    ``printed_radial`` is ``sum_j <grad_{w_j} L, w_j>`` of the printed gradient, which Lemma B.8(a)
    says is zero, over the size of its terms; ``radial`` is the same of the true one.
    """
    law = Law.of(spec)
    state = state_of(*random_state(spec, 2, std, streams("state-2")))
    view_noise = spec.noise_patches / 2
    named = forms.terms(state, law, view_noise)
    as_printed = forms.terms(state, law, view_noise, xi_as_printed=True)
    down = descent(state, law)
    power = torch.full_like(state.b[:, 0, 0], spec.noise_power)
    head = forms.head_entries(down.e)
    corrected = [
        relative_error(forms.feature_descent(named), down.b),
        relative_error(forms.noise_mixing(named, state, power), down.mixing),
        relative_error(forms.head_descent(named, state), head),
    ]
    printed_b = forms.feature_descent(named, forms.AS_PRINTED)
    printed_c = forms.noise_mixing(named, state, power, forms.AS_PRINTED)
    printed_e = forms.head_descent(as_printed, state, forms.AS_PRINTED)
    return {
        "named_terms": torch.stack(corrected).amax(0),
        "printed_signal": (printed_b / down.b).flatten(1).mean(1),
        "printed_noise": (printed_c / down.mixing).flatten(1).mean(1),
        "printed_head": relative_error(printed_e, head),
        "printed_xi": relative_error(as_printed.xi, named.xi),
        "radial": _radial(state, down.b, down.mixing),
        "printed_radial": _radial(state, printed_b, printed_c),
    }


def _radial(state: State, by_b: Tensor, mixing: Tensor) -> Tensor:
    """``|sum_j <grad_{w_j} L, w_j>|`` over the sum of the sizes of its two parts."""
    signal = (by_b * state.b).sum((1, 2))
    noise = (mixing * state.g).sum((1, 2))
    return (signal + noise).abs() / (signal.abs() + noise.abs())


def batch_identities(spec: PatchData, streams: Streams, samples: int) -> dict[str, Tensor]:
    """Identities 7.0.1, 7.0.2 and 7.0.4, which hold on every single batch: largest violation."""
    w, e = random_state(spec, 2, 0.5, streams("batch-state"))
    x = sample(spec, samples, streams("batch"), torch.float64).x
    first = views(spec.patches, samples, streams("batch-views"), torch.float64)
    w, e = w.requires_grad_(), e.requires_grad_()
    f, g = model.encode_views(x, first, w)
    by_w, by_e = torch.autograd.grad(model.loss(f, g, e).sum(), (w, e))
    radial = (by_w * w).sum(-1)
    exchange = (e * by_e).sum(-1) - (e * by_e).sum(-2)
    f, g = model.encode_views(x, first, w)
    (frozen,) = torch.autograd.grad(model.loss(f, g, torch.zeros_like(e)).sum(), w)
    return {
        "batch_radial": radial.sum(-1).abs().detach(),
        "batch_exchange": (radial + 3 * exchange).abs().amax(1).detach(),
        "batch_frozen": (frozen * w).sum(-1).abs().amax(1).detach(),
    }


def monte_carlo(laws: Mapping[str, PatchData], streams: Streams, samples: int) -> dict[str, Tensor]:
    """Loss of a large batch of Algorithm 1 over the population loss, by data law.

    ``printed_view_noise`` uses ``C_2`` as printed. Neurons as long as at the start.
    """
    result = {}
    for name, spec in laws.items():
        w, e = random_state(spec, 2, spec.dimension**-0.5, streams("monte-carlo-state"))
        x = sample(spec, samples, streams(f"monte-carlo-{name}"), torch.float64).x
        first = views(spec.patches, samples, streams(f"monte-carlo-views-{name}"), torch.float64)
        # a signal that matters: the mean of a cubic function of it has light tails
        w[..., :2] *= 2
        f, g = model.encode_views(x, first, w)
        drawn, law = model.loss(f, g, e), Law.of(spec)
        result[f"monte_carlo_{name}"] = drawn / loss(state_of(w, e), law) - 1
        if name == "gaussian":
            printed = loss(state_of(w, e), forms.printed_view_noise(law))
            result["printed_view_noise"] = drawn / printed - 1
    return result


def instances(config: Mapping[str, Any], streams: Streams) -> pd.DataFrame:
    """All checks: quantity, replicate, value."""
    spec = PatchData.from_config(config["data"])
    laws = {
        "gaussian": spec,
        "sphere": PatchData.from_config({**config["data"], "noise": "sphere"}),
        "both": PatchData.from_config({**config["data"], "presence": "both"}),
        "frequent": PatchData.from_config({**config["data"], "strong_share": 0.8}),
    }
    std = config["neuron_std"]
    checks = {
        **gradient_errors(spec, streams, std),
        **named_errors(spec, streams, std),
        **batch_identities(spec, streams, config["batch_samples"]),
        **monte_carlo(laws, streams, config["samples"]),
    }
    values = torch.stack([*checks.values()])
    return tidy({"quantity": [*checks], "replicate": range(values.shape[1])}, value=values)


def role_states(count: int, streams: Sequence[torch.Generator]) -> tuple[Tensor, Tensor]:
    """Products (R * count, 2, 2) and Gram matrices of noise as section 5.3 has them, else random.

    Signs are random, sizes uniform in their ranges, and the noise of the neurons is orthogonal.
    """

    def between(drawn: Tensor, low: float, high: float) -> Tensor:
        return low + (high - low) * drawn

    def draw(*shape: int) -> Tensor:
        return draws(torch.rand, streams, count, *shape, dtype=torch.float64).flatten(0, 1)

    b = between(draw(2, 2), *ROLES_SMALL)
    b[:, 0, 0] = between(draw(), *ROLES_STRONG)
    signs = torch.where(draw(2, 2) < 0.5, -1.0, 1.0)
    return b * signs, torch.diag_embed(between(draw(2), *ROLES_RESIDUAL))


def role_frames(
    spec: PatchData, roles: Mapping[str, Any], streams: Streams
) -> Iterator[pd.DataFrame]:
    """Section 5.3: push of neuron 2 along both features, for ``E_21`` at zero and at work.

    ``E_21`` has the sign of ``B_11 B_21``, as it has along the flow. A push is positive where it
    makes a product larger. Columns variant, e21, replicate, state, strong, weak.
    """
    count = roles["states"]
    b, g = role_states(count, streams("roles"))
    law = Law.of(spec).expand(len(b))
    sign = (b[:, 0, 0] * b[:, 1, 0]).sign()
    for variant, (objective, stop) in ROLES.items():
        for entry in roles["e21"]:
            e = torch.zeros_like(b)
            e[:, 1, 0] = entry * sign
            push = descent(State(b, g, e), law, objective, stop_gradient=stop).b[:, 1]
            strong, weak = (push * b[:, 1].sign()).view(-1, count, 2).unbind(-1)
            axes: dict[str, Any] = {
                "variant": [variant],
                "e21": [float(entry)],
                "replicate": range(len(strong)),
            }
            yield tidy(axes | {"state": range(count)}, strong=strong, weak=weak)

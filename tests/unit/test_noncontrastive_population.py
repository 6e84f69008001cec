"""Closed forms of the paper on prediction heads, against autograd and brute force."""

import pytest
import torch

from featlearn.core.seeds import Streams
from featlearn.noncontrastive import closed_forms as forms
from featlearn.noncontrastive import model, population
from featlearn.noncontrastive.data import PatchData, sample, view_moments, views

SPEC = PatchData(12, 16, 4, (3.0, 2.0), 0.7)
LAW = population.Law.of(SPEC)
C2 = 6.0


def tensor(*rows):
    return torch.tensor(rows, dtype=torch.float64)


GOLDEN = population.State(
    tensor([0.5, 0.25], [-0.35, 0.45]), tensor([0.4, 0.1], [0.1, 0.3]), tensor([0, 0.3], [-0.4, 0])
)
#: Computed by hand from the definitions, with separate code.
GOLDEN_TERMS = {
    "mixed_noise": (0.12527853765, 0.0549891426),
    "u": (23.0360856403, 16.5280727931),
    "q": (0.188804781907, 0.457505419432),
    "phi": (0.00170765432717, 0.00680867990965),
    "h": (22.7525743843, 1.0351824819, 15.4215743931, 1.4364332556),
    "cross": (8.42906076862, 0.739999848, -13.7916867375, -1.2107928),
    "gain": (0.0644338986366, 0.00388535321015, -0.0599150741915, 0.198405705235),
    "borrowed": (0.0489102646462, -0.0244945315105, 0.00947178309958, 0.00377656332027),
    "loss": (0.0933805045422, 0.00120832459464, -0.106491733618, 0.0946778997838),
    "sigma": (0.167517277806, 0.000704304950698, 0.189742508869, 0.0323542586607),
    "xi": (0.044501299333, 0.177433510928),
    "delta": (-0.00802397460816, 0.000187148095817, -0.0140427696871, 0.000327528155967),
}


def test_the_golden_vector():
    assert population.loss(GOLDEN, LAW).item() == pytest.approx(0.742333612036, abs=1e-12)
    named = forms.terms(GOLDEN, LAW, C2)
    assert named.cross_noise.item() == pytest.approx(0.013411986, abs=1e-9)
    for name, wanted in GOLDEN_TERMS.items():
        found = getattr(named, name).flatten().tolist()
        assert found == pytest.approx(wanted, rel=1e-10), name
    down = population.descent(GOLDEN, LAW)
    wanted = (0.0598909762219, -0.065452508685, 0.168145327579, 0.322513106315)
    assert down.b.flatten().tolist() == pytest.approx(wanted, rel=1e-10)
    assert down.e[0, 1].item() == pytest.approx(-0.0258480205953, rel=1e-10)
    assert down.e[1, 0].item() == pytest.approx(0.0643131177431, rel=1e-10)
    turned = down.mixing @ GOLDEN.g
    moved = turned + turned.mT
    wanted = (-0.134989767391, -0.0240129544076, -0.0647350208669)
    assert moved[[0, 0, 1], [0, 1, 1]].tolist() == pytest.approx(wanted, rel=1e-10)


def test_view_constants_of_the_sheet():
    for patches, own, c0, c1, c2 in (
        (8, 4, 1.714285714, 2.285714286, 2), (16, 4, 1.6, 2.4, 6),
        (16, 6, 4.0, 5.0, 5), (32, 8, 7.225806452, 8.774193548, 12),
    ):  # fmt: skip
        moments = view_moments(PatchData(10, patches, own, (2.0, 1.0)))
        found = (moments.both / 2, moments.square / 2, moments.noise)
        assert found == pytest.approx((c0, c1, c2), rel=1e-9)
    law = population.Law.of(PatchData(10, 32, 8, (2.0, 1.0)))
    assert population.optimum(law, 2).item() == pytest.approx(0.352941176, rel=1e-8)


@pytest.mark.parametrize("stop_gradient", [True, False])
def test_unnormalised_objectives(stop_gradient):
    w, e = torch.randn(5, 3, 6).double(), torch.randn(5, 3, 3).double()
    head = torch.eye(3).double()
    state = population.state_of(0.6 * w, 0.4 * e)

    def value(live, held, kind):
        cubes, off = live.b**3, head + live.e
        second = (cubes * LAW.square) @ cubes.mT + LAW.noise * population.noise_moments(live.g)
        kept = held.b**3
        agreement = (kept * LAW.both * (off @ cubes)).sum()
        if kind == "inner-product":
            return agreement
        variance = (
            (kept * LAW.square) @ kept.mT + LAW.noise * population.noise_moments(held.g)
        ).diagonal(dim1=-2, dim2=-1)
        return agreement - (off @ second * off).sum() / 2 - variance.sum() / 2

    for kind in ("inner-product", "squared"):
        parts = [part.clone().requires_grad_() for part in (state.b, state.g, state.e)]
        live = population.State(*parts)
        held = population.State(*(part.detach() for part in parts)) if stop_gradient else live
        wanted = torch.autograd.grad(value(live, held, kind), parts, allow_unused=True)
        down = population.descent(state, LAW, kind, stop_gradient=stop_gradient)
        torch.testing.assert_close(down.b, wanted[0])
        if wanted[1] is not None:
            torch.testing.assert_close(down.mixing, wanted[1] + wanted[1].mT)
        torch.testing.assert_close(down.e, wanted[2] * (1 - head))


def batch(variant_neurons=2, samples=64, spec=SPEC):
    streams = Streams(0, "noncontrastive", "test", range(2))
    x = sample(spec, samples, streams("samples"), torch.float64).x
    first = views(spec.patches, samples, streams("views"), torch.float64)
    stream = torch.Generator().manual_seed(3)
    w = torch.randn(2, variant_neurons, spec.dimension, generator=stream, dtype=torch.float64)
    e = torch.randn(2, variant_neurons, variant_neurons, generator=stream, dtype=torch.float64)
    off = 1 - torch.eye(variant_neurons, dtype=torch.float64)
    return x, first, w, 0.3 * e * off


def test_views_are_halves_and_their_loss_is_two_minus_the_inner_product():
    x, first, w, e = batch()
    assert (first.sum(-1) == SPEC.patches // 2).all()
    f, g = model.encode_views(x, first, w)
    torch.testing.assert_close(f, model.encode(x * first.unsqueeze(-1), w))
    torch.testing.assert_close(g, model.encode(x * (1 - first.unsqueeze(-1)), w))
    online = model.normalise(model.with_head(f, e), "batch")
    inner = (online * model.normalise(g, "batch")).sum(-1).mean(-1)
    torch.testing.assert_close(model.loss(f, g, e), 2 - inner)


LAWS = {
    "gaussian": SPEC,
    "sphere": PatchData(12, 16, 4, (3.0, 2.0), 0.7, noise="sphere"),
    "frequent": PatchData(12, 16, 4, (2.5, 2.5), 0.7, strong_share=0.8),
    "both": PatchData(12, 16, 4, (2.0, 1.5), 0.7, presence="both"),
}


@pytest.mark.parametrize("name", LAWS)
def test_neurons_correlate_over_samples_as_in_the_closed_form(name):
    spec = LAWS[name]
    stream = torch.Generator().manual_seed(5)
    w = 0.35 * torch.randn(2, spec.dimension, generator=stream, dtype=torch.float64)
    streams = Streams(1, "noncontrastive", f"law-{name}", range(4))
    x = sample(spec, 20000, streams("samples"), torch.float64).x
    whole = model.correlation(model.encode(x, w).flatten(0, 1))
    closed = population.feature_correlation(
        population.state_of(w, torch.zeros(2, 2, dtype=torch.float64)), spec
    )
    assert (whole - closed).abs().max() < 0.02


def test_both_noise_laws_have_their_sixth_moment():
    for spec in (LAWS["gaussian"], LAWS["sphere"]):
        stream = Streams(2, "noncontrastive", "moment", range(1))("samples")
        x = sample(spec, 40000, stream, torch.float64)
        noise = x.x[x.owner < 0]
        assert (noise[:, :2] == 0).all()
        sixth = (noise[:, 5] ** 6).mean().item()
        assert sixth == pytest.approx(15 * spec.noise_power, rel=0.05)


def test_a_sample_is_what_it_says_alone_and_in_company():
    stream = Streams(3, "noncontrastive", "sample", range(3))
    for spec, shown in ((SPEC, 4), (LAWS["both"], 8)):
        drawn = sample(spec, 50, stream("samples"))
        assert ((drawn.owner >= 0).sum(-1) == shown).all()
        for feature in range(2):
            own = drawn.owner == feature
            assert (own.any(-1) == drawn.present[..., feature]).all()
            values = drawn.x[..., feature]
            expected = spec.strengths[feature] * drawn.sign[..., feature : feature + 1]
            assert torch.equal(values, torch.where(own, expected, 0.0))
        assert (drawn.x[drawn.owner >= 0][:, 2:] == 0).all()
    spec = SPEC
    together = sample(spec, 8, Streams(0, "noncontrastive", "alone", range(4))("samples"))
    alone = sample(spec, 8, Streams(0, "noncontrastive", "alone", [2])("samples"))
    assert torch.equal(together.x[2], alone.x[0])
    assert torch.equal(together.owner[2], alone.owner[0])


@pytest.mark.parametrize(
    ("change", "word"),
    [({"patches": 7}, "even"), ({"feature_patches": 20}, "room"), ({"dimension": 2}, "more than")],
)
def test_impossible_data_are_refused(change, word):
    with pytest.raises(ValueError, match=word):
        PatchData(
            **{"dimension": 12, "patches": 16, "feature_patches": 4, **change}, strengths=(2, 1)
        )

"""Teacher-student kernels: purity counts, the cross term, the runaway, noise alignment."""

import pytest
import torch

from featlearn.core.seeds import Streams
from featlearn.mrp.data import MultiView, Samples, orthonormal_features, sample
from featlearn.mrp.experiments.runaway import at_step, follow, pushes, runaway_rate
from featlearn.mrp.gradients import teacher_factor, teacher_student_descent
from featlearn.mrp.kernels import KINDS, Capture, alignment
from featlearn.mrp.model import Activation, correlations, initial_kernels

ACTIVATION = Activation(3, 0.3)
SPEC = MultiView(classes=4, dimension=20, patches=8, sparsity=1, q=3)


@pytest.fixture(scope="module")
def problem():
    streams = Streams(0, "mrp", "teacher-test", range(2))
    features = orthonormal_features(SPEC, streams("features"))
    samples = sample(SPEC, features, 60, streams("data"), dtype=torch.float64)
    return samples, features.double(), initial_kernels(12, 20, 0.08, streams("init")).double()


def held_by_hand() -> Capture:
    """One replicate, three classes of two features; five kernels."""
    c = torch.full((1, 5, 3, 2), 0.01)
    c[0, 0, 0, 0] = 0.5  # pure
    c[0, 1, 0] = 0.4  # both features of class 0
    c[0, 2, 1, 0] = c[0, 2, 2, 1] = 0.3  # exactly at the threshold: of two classes
    c[0, 3, 1] = 0.6  # both of class 1, and one of class 2
    c[0, 3, 2, 0] = 0.35
    c[0, 4, 0, 0] = -0.9  # negative: holds nothing
    return Capture(c, 0.3)


def test_kernels_are_counted_by_what_they_hold():
    counts = {name: value.item() for name, value in held_by_hand().counts().items()}
    assert counts == {
        "winners": 4, "impure": 3, "sibling": 2, "cross": 2, "largest": pytest.approx(0.6),
    }  # fmt: skip
    assert held_by_hand().purity()["impure_share"].item() == pytest.approx(3 / 4)
    nothing = Capture(torch.zeros(2, 3, 2, 2), 0.3)
    assert nothing.purity()["impure_share"].tolist() == [0, 0]
    c = torch.tensor([[[[0.9, 0.2]], [[0.5, -0.6]], [[0.1, 0.05]]]])  # (1, 3 kernels, 1, 2)
    torch.testing.assert_close(Capture(c, 0.3).second_best(), torch.tensor([[[0.5, 0.2]]]))


def test_a_record_is_looked_up_at_each_replicates_own_step():
    history = torch.arange(8).view(4, 2)
    found = at_step(history, [0, 10, 20, 25], torch.tensor([19, 25]))
    assert found.tolist() == [2, 7]


def relu(u):
    """Smoothed ReLU of :data:`ACTIVATION`, written out."""
    return torch.where(u <= 0.3, u.clamp(min=0) ** 3 / (3 * 0.3**2), u - 0.2)


def test_the_parts_of_the_push_add_up_to_the_descent_on_the_features_own_patches(problem):
    samples, features, w = problem
    w = 3 * w  # now some responses are linear
    theta, tau = 0.4, 2.3
    push = pushes(samples.x, samples.owner, features, w, ACTIVATION, theta=theta, tau=tau)
    u = torch.einsum("rnpd,rkd->rnpk", samples.x, w).requires_grad_()
    phi = (relu(tau * u.detach()) - relu(u.detach())).sum(2, keepdim=True)
    slope = torch.autograd.grad(relu(u).sum(), u)[0]
    weight = (phi - (1 / theta - 1) * relu(u.detach())) * slope
    flat = features.flatten(1, 2)
    along = torch.einsum("rnpd,rvd->rnpv", samples.x, flat)
    mine = samples.owner.unsqueeze(-1) == torch.arange(flat.shape[1])
    wanted = torch.einsum("rnpk,rnpv->rkv", weight, along * mine) / samples.x.shape[1]
    torch.testing.assert_close(push.own + push.cross, wanted)
    assert (push.cross.abs() > 1e-8).any()


@pytest.mark.parametrize("q", [2, 3, 4])
def test_without_masks_the_teacher_is_the_student_and_nothing_is_learnt(problem, q):
    samples, _, w = problem
    tau = teacher_factor("constant", 0, 1.0, SPEC.patches_per_feature, q)
    assert not teacher_student_descent(samples.x, w, 1.0, Activation(q, 0.3), tau=tau).any()


@pytest.mark.parametrize("q", [3, 4])
@pytest.mark.parametrize("b", [0.02, 0.08, 0.14])
@pytest.mark.parametrize("a", [0.31, 0.6])
def test_t8_the_cross_push_on_a_sibling_is_positive_and_exceeds_its_own(q, a, b):
    """T8: a z > varrho, 0 < tau b z <= varrho and (tau - 1) a z > varrho / q."""
    varrho, theta, tau, z = 0.3, 0.5, 2.0, 1.0
    assert tau * b * z <= varrho < a * z
    assert (tau - 1) * a * z > varrho / q
    # noise-free: one sample of a class with both features, one kernel a v_1 + b v_2
    v, owner = torch.eye(2, dtype=torch.float64), torch.tensor([[[0, 1]]])
    w = torch.tensor([[[a, b]]], dtype=torch.float64)
    x = (z * v).view(1, 1, 2, 2)
    push = pushes(x, owner, x / z, w, Activation(q, varrho), theta=theta, tau=tau)
    own, cross = push.own[0, 0, 1].item(), push.cross[0, 0, 1].item()
    relu_b = (b * z) ** q / (q * varrho ** (q - 1))
    slope_b = (b * z / varrho) ** (q - 1)
    assert own == pytest.approx((tau**q - 1 - (1 / theta - 1)) * relu_b * slope_b * z)
    assert cross == pytest.approx((tau - 1) * a * z * slope_b * z)  # teacher and student linear
    assert cross > own > 0


def test_a_kernel_followed_alone_takes_the_path_that_it_takes_among_all(problem):
    samples, features, w = problem
    trace = follow(
        samples, features, w[:, 4:5], ACTIVATION, theta=0.5, schedule="main",
        patches_per_feature=1, learning_rate=0.05, steps=12,
    )  # fmt: skip
    for step in range(12):
        tau = teacher_factor("main", step, 0.5, 1, 3)
        w = w + 0.05 * teacher_student_descent(samples.x, w, 0.5, ACTIVATION, tau=tau)
    wanted = correlations(w, features).flatten(2)[:, 4:5]
    torch.testing.assert_close(trace["correlation"][-1], wanted)


def test_a_large_mixed_kernel_grows_at_the_rate_of_the_closed_form_and_a_pure_one_does_not():
    clean = MultiView(classes=3, dimension=6, patches=6, sparsity=0, q=3, feature_noise=0, noise=0)
    stream = Streams(0, "mrp", "rate-test", [0])
    features = orthonormal_features(clean, stream("features"))
    samples = sample(clean, features, 200, stream("data"), dtype=torch.float64)
    mixed = 500 * features[:, 1, 0] + 300 * features[:, 1, 1]
    pure = 500 * features[:, 1, 0]
    w = torch.stack([mixed, pure], dim=1)
    down = correlations(teacher_student_descent(samples.x, w, 0.5, ACTIVATION, tau=2.0), features)
    a = correlations(w, features).flatten(2)
    measured = (a * down.flatten(2)).sum(-1) / (a * a).sum(-1)
    assert runaway_rate(samples, a[:, 0], 0.5, 1).item() == pytest.approx(
        measured[0, 0].item(), rel=1e-2
    )
    assert runaway_rate(samples, a[:, 1], 0.5, 1).item() == pytest.approx(0, abs=1e-12)
    assert measured[0, 1] < 1e-2 * measured[0, 0]


def test_noise_is_sorted_by_whose_patch_it_lies_on():
    features = torch.eye(3, dtype=torch.float64).view(1, 3, 1, 3)
    w = torch.tensor([[[0.5, 0.0, 1.0], [0.0, 0.1, 2.0]]], dtype=torch.float64)[:, :, :3]
    owner = torch.tensor([[[2, 1, -1]]])
    noise = torch.zeros(1, 1, 3, 3, dtype=torch.float64)
    noise[..., 2] = torch.tensor([0.1, -0.2, 0.3])
    blank = torch.zeros(0)
    samples = Samples(noise, blank, blank, blank, blank, blank, owner)
    found = alignment(w, features, noise, samples, varrho=1.5)
    # kernel 1 holds feature 2 (patch 0); kernel 0 holds nothing at this threshold
    assert KINDS == ("own", "other", "background")
    assert found["largest"].flatten().tolist() == pytest.approx([0.2, 0.4, 0.6])
    assert found["pairs"].flatten().tolist() == [1, 3, 2]

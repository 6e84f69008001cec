"""Closed forms of growth, capture and rest, and lottery sets, against the library's own."""

import math

import numpy as np
import pandas as pd
import pytest
import torch

from featlearn.mrp import closed_forms as forms
from featlearn.mrp.analysis.growth import timed
from featlearn.mrp.data import MultiView
from featlearn.mrp.experiments.growth import crossing_steps, grow, predicted_hits, residual_slopes
from featlearn.mrp.gradients import mae_descent, teacher_student_descent
from featlearn.mrp.kernels import lottery_sets, memberships
from featlearn.mrp.model import Activation
from featlearn.mrp.train import Trace
from unit import job_of
from unit.test_sampler import draw

QUIET = MultiView(
    classes=3, dimension=8, patches=12, patches_per_feature=2, sparsity=1, q=3,
    feature_noise=0, noise=0
)  # fmt: skip
REPLICATES = 2


def test_power_sums_are_those_of_a_loop():
    _, samples = draw(QUIET, 30)
    found = forms.power_sums(samples, 6, 2)
    wanted = torch.zeros_like(found)
    for index in np.ndindex(*samples.owner.shape):
        r, n, _ = index
        if samples.owner[index] >= 0:
            wanted[r, n, samples.owner[index]] += samples.strength[index] ** 2
    torch.testing.assert_close(found, wanted)


def one_small_step(framework, q, theta, tau, a=1e-3, varrho=0.3):
    """<descent, v> of kernels ``a v``, one a feature, over ``a**(p+1) / (q varrho**p)``."""
    features, samples = draw(QUIET, 30, replicates=range(REPLICATES))
    activation = Activation(q, varrho)
    v = features.reshape(REPLICATES, 6, -1)
    if framework == "mae":
        # one kernel at a time: the kernels of this framework interact
        down = torch.cat(
            [mae_descent(samples.x, a * v[:, f : f + 1], theta, activation) for f in range(6)], 1
        )
    else:
        down = teacher_student_descent(samples.x, a * v, theta, activation, tau=tau)
    power = forms.growth_power(framework, q)
    return (down * v).sum(-1) * q * varrho**power / a ** (power + 1), samples


@pytest.mark.parametrize("q", [3, 4])
@pytest.mark.parametrize("theta", [0.4, 0.8])
def test_growth_constants_are_the_first_step_of_a_small_kernel(q, theta):
    tau = 1 + (1 - theta) / (2 * theta)
    found, samples = one_small_step("teacher_student", q, theta, tau)
    wanted = forms.teacher_student_growth(samples, 6, q, theta, tau)
    torch.testing.assert_close(found, wanted, rtol=1e-9, atol=0)
    found, samples = one_small_step("mae", q, theta, tau)
    torch.testing.assert_close(found, forms.mae_growth(samples, 6, q), rtol=1e-6, atol=0)


@pytest.mark.parametrize(("framework", "q"), [("teacher_student", 3), ("mae", 4), ("mae", 3)])
def test_hitting_time_is_that_of_the_recursion(framework, q):
    activation, rate, growth = Activation(q, 0.3), 0.5, 3.0
    power = forms.growth_power(framework, q)
    initial, target = 0.04, 0.1
    a, steps = initial, 0.0
    while True:
        following = a + rate * growth * a ** (power + 1) / (q * activation.varrho**power)
        if following >= target:
            steps += (target - a) / (following - a)
            break
        a, steps = following, steps + 1
    found = forms.hitting_time(
        torch.tensor(initial), target, torch.tensor(growth), power, activation, rate
    )
    assert found.item() == pytest.approx(steps, rel=2e-3)


def test_a_kernel_wins_one_feature_if_exclusive():
    # kernel 0 is nearest to both features; it reaches feature 1 first
    correlation = torch.tensor([[[0.05, 0.06], [0.03, 0.02], [-0.09, 0.01]]])
    growth = torch.ones(1, 2, dtype=torch.float64)
    law = (growth, 0.1, "mae", Activation(4, 0.3), 1.0)
    shared = predicted_hits(correlation, *law, exclusive=False)
    single = predicted_hits(correlation, *law, exclusive=True)

    def time(start):
        tensor = torch.tensor(start, dtype=torch.float64)
        return forms.hitting_time(tensor, 0.1, growth[0, 0], 3, Activation(4, 0.3), 1.0).item()

    assert shared[0].tolist() == pytest.approx([time(0.05), time(0.06)], rel=1e-6)
    assert single[0].tolist() == pytest.approx([time(0.03), time(0.06)], rel=1e-6)
    # a feature that no kernel points to is never hit
    for exclusive in (False, True):
        assert predicted_hits(-correlation.abs(), *law, exclusive=exclusive).isinf().all()


def test_crossings_are_interpolated_between_rows():
    trace = Trace()
    for step, values in ((0, (0.0, 0.5, 0.0)), (10, (0.2, 0.6, 0.1)), (20, (0.6, 0.7, 0.2))):
        trace.add(step, strength=torch.tensor(values).view(1, 3, 1))
    found = crossing_steps(trace, 0.4)[0].tolist()
    assert found[0] == pytest.approx(15)
    assert found[1] == 0
    assert math.isnan(found[2])


def test_undisturbed_features_arrive_when_predicted():
    data = {
        "classes": 3, "features_per_class": 1, "dimension": 3, "patches": 1, "sparsity": 0,
        "feature_noise": 0, "noise": 0, "train_samples": 20, "test_samples": 1
    }  # fmt: skip
    settings = {"q": 3, "learning_rate": 1.0, "max_steps": 20_000}
    config = {
        "replicates": 2, "sigma_0": [0.03, 0.04], "theta": 0.5, "target": 0.1,
        "alone": {"data": data, "network": {"kernels_per_class": 5, "varrho": 0.3}},
        "teacher_student": settings, "mae": settings
    }  # fmt: skip
    hits = grow(job_of(config), "teacher_student_alone")
    seen = timed(hits, "teacher_student_alone")  # at most one is there within the first step
    assert len(seen) >= 11
    assert (seen["measured"] / seen["predicted"]).between(0.97, 1.01).all()


def test_the_gradient_at_a_capture_is_that_of_the_closed_form():
    z = 1 + torch.rand(2, 7, generator=torch.Generator().manual_seed(1), dtype=torch.float64) / 2
    frame = residual_slopes(z, 0.6, Activation(3, 0.3), [10]).set_index(["schedule", "replicate"])
    drift = z.mean(1) * (1 / 0.6 - 1) * (1 - 1 / 3) * 0.3
    np.testing.assert_allclose(frame.loc["constant", "slope"], drift, rtol=1e-12)
    np.testing.assert_allclose(frame.loc["main", "offset_slope"], drift, rtol=1e-12)
    for schedule in ("main", "appendix"):
        assert (frame.loc[schedule, "slope"] > frame.loc["constant", "slope"]).all()


def test_what_is_left_of_the_gradient_tends_to_the_offset():
    frame = residual_slopes(
        torch.ones(1, 3, dtype=torch.float64), 0.5, Activation(3, 0.3), [1, 10**9]
    )
    last = frame[frame["capture_step"] == 10**9]
    np.testing.assert_allclose(last["slope"], last["offset_slope"], rtol=5e-3)
    assert last["offset_slope"].iloc[0] == pytest.approx(0.2)


def test_what_was_there_at_the_start_or_was_not_to_come_is_not_timed():
    columns = ["predicted", "ended", "measured", "nearest"]
    rows = [(200, 1000, 180, 200), (300, 100, np.nan, 300), (400, 1000, 0, 400),
            (500, 1000, np.nan, 500), (600, 1000, 600, np.inf)]  # fmt: skip
    frame = pd.DataFrame(rows, columns=columns).assign(case="mae")
    assert timed(frame, "mae").set_index("predicted")["measured"].to_dict() == {200: 180, 500: 1000}


#: One replicate, four kernels, k = 10 classes of one feature; only class 0 and 1 matter.
CORRELATION = torch.full((1, 4, 10, 1), -1.0)
CORRELATION[0, :, 0, 0] = torch.tensor([1.0, 0.9, 0.6, -0.2])
CORRELATION[0, :, 1, 0] = torch.tensor([0.1, 2.0, 1.0, 1.9])


@pytest.mark.parametrize(
    ("constant", "members"),
    [(0.25, [[0, 1], [1, 3]]), (1.0, [[0, 1, 2], [1, 3]])],  # shares 0.891 and 0.566 of the best
)
def test_a_set_holds_the_kernels_near_the_best(constant, members):
    sets = lottery_sets(CORRELATION, constant)
    assert memberships(sets).tolist() == [[sum(k in own for own in members) for k in range(4)]]
    for cls, wanted in enumerate(members):
        assert sets[0, :, cls, 0].nonzero().flatten().tolist() == wanted


def test_a_kernel_without_positive_correlation_is_in_no_set():
    sets = lottery_sets(CORRELATION, 10 * math.log(10))  # so wide that the share is negative
    assert not sets[0, 3, 0, 0]
    assert sets[0, :3, 0, 0].all()
    assert not sets[:, :, 2:].any()

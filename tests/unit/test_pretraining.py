"""The pre-training loop: what is captured, when it stops, what it leaves alone."""

from __future__ import annotations

import math
import re
from pathlib import Path

import pytest
import torch

from featlearn.core.errors import DivergedError
from featlearn.core.seeds import Streams
from featlearn.mrp.data import MultiView, orthonormal_features, sample
from featlearn.mrp.gradients import mae_descent
from featlearn.mrp.model import Activation, initial_kernels
from featlearn.mrp.train import MaskedAutoencoder, capture_strength, correlations
from featlearn.mrp.train import pretrain as run_pretraining

ACTIVATION = Activation(4, 0.3)
#: An easy setting: 4 classes of two features, 24 kernels.
SPEC = MultiView(classes=4, dimension=20, patches=8, sparsity=1, q=4)
REPLICATES = 3


def easy_problem(replicates, dtype=torch.float64):
    streams = Streams(0, "mrp", "easy-test", replicates)
    features = orthonormal_features(SPEC, streams("features"))
    x = sample(SPEC, features, 80, streams("data"), dtype=dtype).x
    w = initial_kernels(24, 20, 0.05, streams("init")).to(dtype)
    return x, features.to(dtype), w


def pretrain(x, features, w, **changes):
    settings = {"learning_rate": 0.5, "max_steps": 1500, "record_every": 20}
    method = MaskedAutoencoder(ACTIVATION, theta=0.5)
    return run_pretraining(
        x, features, w, method, varrho=ACTIVATION.varrho, **{**settings, **changes}
    )


@pytest.fixture(scope="module")
def problem():
    return easy_problem(range(REPLICATES))


@pytest.fixture(scope="module")
def trained(problem):
    return pretrain(*problem, hit_factor=1.5)


def test_correlations_and_capture_strength_are_plain_inner_products():
    stream = torch.Generator().manual_seed(0)
    w = torch.randn(2, 5, 4, generator=stream)
    features = torch.randn(2, 3, 2, 4, generator=stream)
    found = correlations(w, features)
    assert found.shape == (2, 5, 3, 2)
    assert found[1, 4, 2, 0].item() == pytest.approx((w[1, 4] @ features[1, 2, 0]).item(), rel=1e-5)
    wanted = torch.einsum("rkd,rild->rkil", w, features).amax(1).clamp(min=0)
    torch.testing.assert_close(capture_strength(w, features), wanted)
    opposite = -features[:1, :1, :1, :].expand(1, 5, 1, 4).reshape(1, 5, 4)
    assert capture_strength(opposite, features[:1, :1, :1]).item() == 0  # negative counts as none


def test_every_feature_of_the_easy_setting_is_captured(trained, problem):
    assert (capture_strength(trained.w, problem[1]) >= ACTIVATION.varrho).all()
    assert (trained.hit >= 1).all()


def test_a_captured_feature_is_held_near_the_fixed_point(problem):
    """Sheet 9.1 pilots: Lambda .80-.82, off-diagonal below .01."""
    x, features, w = (tensor[:1] for tensor in problem)
    found = pretrain(x, features, w, hit_factor=4)
    strength = capture_strength(found.w, features)
    assert ((strength > 0.7) & (strength < 0.9)).all()


def test_a_replicate_stops_hit_factor_times_later_than_its_last_capture(trained):
    last = trained.hit.flatten(1).amax(1)
    assert trained.stopped.tolist() == [math.ceil(1.5 * int(step)) for step in last]
    assert len(set(trained.stopped.tolist())) == REPLICATES  # so some do end before others


def test_hit_factor_one_stops_at_the_last_capture(problem, trained):
    found = pretrain(*problem, hit_factor=1)
    assert torch.equal(found.hit, trained.hit)
    assert torch.equal(found.stopped, found.hit.flatten(1).amax(1))


def test_a_hit_is_the_first_step_at_or_above_the_threshold(problem, trained):
    x, features, w = (tensor[1:2] for tensor in problem)
    first = torch.full(trained.hit[1:2].shape, -1)
    for step in range(1, int(trained.hit[1].max()) + 1):
        w = w + 0.5 * mae_descent(x, w, 0.5, ACTIVATION)
        reached = capture_strength(w, features) >= ACTIVATION.varrho
        first = torch.where((first < 0) & reached, step, first)
    assert torch.equal(first, trained.hit[1:2])


def test_a_feature_that_is_held_at_the_start_is_hit_at_step_zero(problem):
    x, features, w = (tensor[:1] for tensor in problem)
    w = w.clone()
    w[0, 3] = 0.5 * features[0, 2, 1]
    found = pretrain(x, features, w, max_steps=2)
    assert found.hit[0, 2, 1] == 0
    assert found.hit[0].flatten().tolist().count(0) == 1


def test_a_replicate_that_ends_early_keeps_its_kernels(problem, trained):
    for r in range(REPLICATES):
        alone = pretrain(*(tensor[r : r + 1] for tensor in problem), hit_factor=1.5)
        assert torch.equal(alone.hit[0], trained.hit[r])
        assert alone.stopped[0] == trained.stopped[r]
        torch.testing.assert_close(alone.w[0], trained.w[r], rtol=1e-8, atol=1e-10)


def test_a_replicate_drawn_alone_is_that_of_the_batch(problem, trained):
    alone = pretrain(*easy_problem([2]), hit_factor=1.5)
    assert alone.stopped[0] == trained.stopped[2]
    torch.testing.assert_close(alone.w[0], trained.w[2], rtol=1e-8, atol=1e-10)


def test_the_trace_ends_with_the_kernels_that_are_returned(problem, trained):
    steps, strength = trained.trace.steps, trained.trace.stacked("strength")
    assert steps == sorted(set(steps))
    assert steps[0] == 0
    assert steps[-1] == trained.stopped.max()
    assert all(step % 20 == 0 for step in steps[:-1])
    assert strength.shape == (len(steps), REPLICATES, 4, 2)
    torch.testing.assert_close(strength[0], capture_strength(problem[2], problem[1]))
    torch.testing.assert_close(strength[-1], capture_strength(trained.w, problem[1]))


def test_the_trace_keeps_the_value_of_a_replicate_that_has_ended(trained):
    strength = trained.trace.stacked("strength")
    early = int(trained.stopped.argmin())
    after = [row for row, step in enumerate(trained.trace.steps) if step >= trained.stopped[early]]
    assert len(after) > 2
    for row in after:
        assert torch.equal(strength[row, early], strength[-1, early])


def test_a_run_that_is_cut_off_says_what_it_missed(problem):
    x, features, w = problem
    found = pretrain(x, features, w, max_steps=5)
    assert found.stopped.tolist() == [5] * REPLICATES
    assert (found.hit == -1).any()
    for _ in range(5):
        w = w + 0.5 * mae_descent(x, w, 0.5, ACTIVATION)
    torch.testing.assert_close(found.w, w, rtol=1e-12, atol=1e-14)
    assert found.trace.steps == [0, 5]


def test_pretraining_does_not_change_what_it_was_given(problem):
    kept = [tensor.clone() for tensor in problem]
    pretrain(*problem, max_steps=30)
    for tensor, before in zip(problem, kept, strict=True):
        assert torch.equal(tensor, before)


def test_two_runs_give_the_same_bits(problem):
    first, second = pretrain(*problem, max_steps=60), pretrain(*problem, max_steps=60)
    assert torch.equal(first.w, second.w)
    assert torch.equal(first.trace.stacked("strength"), second.trace.stacked("strength"))


def test_what_is_captured_is_reported_after_every_step(problem):
    said = []
    x, features, w = (tensor[:1] for tensor in problem)
    found = pretrain(x, features, w, report=lambda step, see: said.append((step, see())))
    assert [step for step, _ in said] == list(range(1, int(found.stopped[0]) + 1))
    assert said[-1][1] == {"captured": "8/8 features"}


def test_divergence_is_told_with_the_step_and_a_remedy(problem):
    with pytest.raises(DivergedError, match=r"step \d+: .*lower the learning rate"):
        pretrain(*problem, learning_rate=5, max_steps=200)


def test_divergence_just_before_the_end_is_not_overlooked(problem):
    # fewer steps than record_every: the check of the last kernels is the only one
    with pytest.raises(DivergedError):
        pretrain(*problem, learning_rate=5, max_steps=15, hit_factor=10)


@pytest.mark.parametrize("sigma", [0.02, 0.03])
def test_the_hitting_time_is_that_of_the_closed_form(sigma):
    """Section 4.8: noise-free data of one feature, one kernel along it."""
    q, varrho, rate, z = ACTIVATION.q, ACTIVATION.varrho, 0.5, 1.0
    v = torch.tensor([0.6, 0.0, 0.8], dtype=torch.float64)
    gamma = (1 + q) * z ** (q + 1)
    span = sigma ** -(q - 1) - varrho ** -(q - 1)
    wanted = span * q * varrho ** (q - 1) / ((q - 1) * rate * gamma)
    found = run_pretraining(
        (z * v).view(1, 1, 1, 3),
        v.view(1, 1, 1, 3),
        (sigma * v).view(1, 1, 3),
        MaskedAutoencoder(ACTIVATION, theta=0.5),
        varrho=varrho,
        learning_rate=rate,
        max_steps=20_000,
        record_every=1000,
    )
    assert found.hit.item() == pytest.approx(wanted, rel=0.01)


def test_the_script_of_the_readme_runs_as_printed(capsys):
    readme = (Path(__file__).parents[2] / "README.md").read_text(encoding="utf-8")
    script = re.findall(r"^```python\n(.*?)^```", readme, re.MULTILINE | re.DOTALL)[0]
    names: dict = {}
    exec(compile(script, "README.md", "exec"), names)
    assert capsys.readouterr().out.count("tensor(") == 2
    assert names["held"].captured().float().mean() > 0.5

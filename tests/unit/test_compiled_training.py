"""Compiled passes: the same step as plain ones, alone or in a batch, and what happens without."""

import pytest
import torch

from featlearn.core.training import devices
from featlearn.mrp import fused
from featlearn.mrp.gradients import classification_descent, mae_descent, teacher_student_descent
from featlearn.mrp.model import Activation, fixed_block_head
from featlearn.mrp.train import pretrain, train_classifier


def problem(samples=7, patches=5, dimension=6, kernels=8, replicates=3):
    stream = torch.Generator().manual_seed(1)
    x = torch.randn((replicates, samples, patches, dimension), generator=stream).double()
    w = 0.3 * torch.randn((replicates, kernels, dimension), generator=stream).double()
    y = torch.randint(4, (replicates, samples), generator=stream)
    return x, w, y, fixed_block_head(4, kernels, replicates).double()


@pytest.fixture
def compiling_is(monkeypatch):
    def choose(mode):
        monkeypatch.setattr(devices, "_mode", mode)
        monkeypatch.setattr(devices, "_broken", False)

    return choose


def same(found, expected):
    torch.testing.assert_close(found, expected, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("block_bytes", [1, 5 * 8 * 8 * 3, 1 << 23])
@pytest.mark.parametrize("q", [2, 3, 4])
def test_fused_passes_give_the_gradients_of_the_plain_ones(monkeypatch, q, block_bytes):
    monkeypatch.setattr(fused, "_compiled", lambda function: function)
    monkeypatch.setattr(fused, "BLOCK_BYTES", block_bytes)
    x, w, y, u = problem()
    laid_out, activation = fused.patch_major(x), Activation(q, 0.3)
    theta, tau = torch.tensor([0.3, 0.5, 0.9]), torch.tensor([1.5, 2.0, 1.1])
    for given in ({"tau": tau}, {"tau": 1.4}):
        expected = teacher_student_descent(x, w, theta, activation, **given)
        same(teacher_student_descent(laid_out, w, theta, activation, **given), expected)
    expected = mae_descent(x, w, theta, activation)
    same(mae_descent(laid_out, w, theta, activation), expected)
    found = classification_descent(laid_out, y, w, u, activation)
    expected = classification_descent(x, y, w, u, activation)
    for name in ("w", "u", "loss", "accuracy", "wrong_mass"):
        same(getattr(found, name), getattr(expected, name))


def test_choice_follows_from_mode_and_planned_work_alone(compiling_is):
    for mode, small, large in (
        ("never", False, False),
        ("auto", False, True),
        ("always", True, True),
    ):
        compiling_is(mode)
        assert devices.worth_compiling(devices.WORTH - 1) is small
        assert devices.worth_compiling(devices.WORTH) is large
    with pytest.raises(ValueError, match="expected auto, always or never"):
        devices.configure("on")


def test_without_a_compiler_training_runs_plain_and_says_so_once(compiling_is, monkeypatch, capsys):
    compiling_is("always")

    def no_compiler(function):
        def call(*_):
            raise RuntimeError("no C++ compiler found")

        return call

    monkeypatch.setattr(fused, "_compiled", no_compiler)
    x, *_ = problem()
    for _ in range(2):
        assert fused.prepared(x, 8, 100, Activation(3, 0.3)) is x
    said = capsys.readouterr().err
    assert said.count("uncompiled") == 1
    assert "no C++ compiler found" in said


@pytest.mark.long
def test_compiled_training_is_that_of_plain_code_and_the_same_alone_and_in_a_batch(compiling_is):
    x, w, y, u = problem(samples=40, kernels=20)
    x, w, u = x.float(), w.float() / 3, u.float()
    u = fixed_block_head(4, 20, 3)
    activation = Activation(4, 0.3)
    features = torch.eye(6)[:4].view(1, 4, 1, 6).expand(3, -1, -1, -1)

    def trained(part):
        student, mae = (
            pretrain(
                x[part], features[part], w[part], activation, theta=0.5, schedule=schedule,
                learning_rate=0.01, max_steps=5, may_diverge=True,
            ).w
            for schedule in ("constant", None)
        )  # fmt: skip
        tuned = train_classifier(
            x[part], y[part], w[part], u[part], activation, encoder_rate=0.1, head_rate=0.1,
            steps=5, features=features[part],
        )  # fmt: skip
        return student, mae, tuned.w, tuned.u

    compiling_is("never")
    plain = trained(slice(None))
    compiling_is("always")
    if not devices.compiler_works(lambda: fused.summed(x.new_zeros((2, 3, 32)), 4)):
        pytest.skip("no C++ compiler")
    found = trained(slice(None))
    again = trained(slice(None))
    alone = trained(slice(2, 3))
    for a, b, c, d in zip(found, plain, again, alone, strict=True):
        assert not torch.equal(a, w)
        assert not torch.equal(a, u)
        torch.testing.assert_close(a, b, rtol=1e-4, atol=1e-6)
        assert torch.equal(a, c)
        # up to rounding: a product of one matrix may take another kernel than a batch of them
        torch.testing.assert_close(a[2:], d, rtol=1e-4, atol=1e-6)

"""The printed gradient, and the number of shared kernels."""

import math
from types import SimpleNamespace

import torch

from featlearn.core.seeds import Streams
from featlearn.mrp import oracles
from featlearn.mrp.experiments.oracles import lottery
from featlearn.mrp.model import Activation


def test_the_printed_gradient_is_the_gradient_only_of_parallel_patches():
    streams = Streams(0, "mrp", "oracle-test", range(3))("instance")
    given = oracles.random_instance(
        streams, samples=2, patches=4, dimension=3, kernels=3, kernel_std=0.3
    )
    printed = oracles.printed_against_true(given.x, given.w, given.theta, Activation(3, 0.3))
    assert printed["relative_error"].min() > 0.1
    x, w = oracles.parallel_instance(given)
    parallel = oracles.printed_against_true(x, w, given.theta, Activation(3, 0.3))
    assert parallel["relative_error"].max() < 1e-12


def test_kernels_in_several_lottery_sets_are_counted_replicate_by_replicate():
    job = SimpleNamespace(config={"classes": 5, "kernels_per_class": 6, "replicates": 2}, seed=0)
    shared = lottery(job)["lottery"]["shared_kernels"]
    drawn = torch.stack([
        torch.randn((30, 5, 2), generator=stream)
        for stream in Streams(0, "mrp", "initialisation", range(2))("kernels-5-6")
    ])  # fmt: skip
    near = (drawn > 0) & (drawn >= drawn.amax(1, keepdim=True) * (1 - 0.25 / math.log(5)))
    assert shared.tolist() == (near.sum((2, 3)) > 1).sum(1).tolist()

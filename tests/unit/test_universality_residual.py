"""Residual networks on ladders of pictures: many as one, what they learn, and their fine-tuning."""

from pathlib import Path

import pytest
import torch

from featlearn.core.config import load
from featlearn.core.errors import ConfigError
from featlearn.core.seeds import Streams
from featlearn.universality.finetuning import part_of, with_untrained
from featlearn.universality.methods import METHODS, SimCLR, encode, repeated
from featlearn.universality.residual import Residual

ROOT = Path(__file__).parents[2]
SETTINGS = {"kind": "small_resnet", "widths": [4], "norm": "group", "stem_stride": 2}


def _streams(*replicates: int) -> Streams:
    return Streams(0, "tests", "residual", replicates)


@pytest.mark.parametrize("features", ["map", "mean"])
def test_a_network_among_others_is_what_it_is_alone(features: str) -> None:
    body = Residual(SETTINGS, 9, features)
    many, alone = body.start(5, _streams(0, 1, 2)), body.start(5, _streams(1))
    x = torch.rand(3, 600, 81)  # more than go through together
    both = encode(many, x, body)[1], encode(alone, x[1:2], body)[0]
    torch.testing.assert_close(*both, rtol=1e-4, atol=1e-5)
    plain = {key.removeprefix("encoder."): own[0] for key, own in alone.items()}
    body.net.encoder.to_empty(device="cpu").load_state_dict(plain, strict=False)
    images = x[1, :4].reshape(4, 1, 9, 9).expand(-1, 3, -1, -1)
    whole = body.net.encoder
    own = whole.feature_map(images).flatten(1) if features == "map" else whole(images)
    torch.testing.assert_close(body(alone, x[1:2, :4])[0], own, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("name", sorted(METHODS))
def test_every_method_reaches_all_layers_of_a_residual_network(name: str) -> None:
    body = Residual(SETTINGS, 9, "map")
    weights = repeated(body.start(5, _streams(0, 1)), 2)
    for value in weights.values():
        value.requires_grad_()
    method: SimCLR = METHODS[name](weights, 0.2, _streams(0, 1)("heads"), body)
    loss = method.loss(torch.rand(4, 8, 81), torch.rand(4, 8, 81))
    assert loss.shape == (4,)
    loss[2].backward()
    for key, value in weights.items():
        if name in ("simsiam", "nnclr") and key == "offset":
            continue  # a batch norm takes it away
        assert value.grad is not None
        assert value.grad[2].abs().sum() > 0, key
        assert value.grad[[0, 1, 3]].abs().sum() == 0, key


def test_untrained_networks_come_first() -> None:
    body = Residual(SETTINGS, 9, "map")
    begun = body.start(5, _streams(0, 1))
    state = {
        f"{part}/{key}": value + 1 for part in ("encoder", "slow") for key, value in begun.items()
    }
    state["queue"] = torch.zeros(2, 6, 5)
    both = with_untrained(state, begun, _streams(0, 1)("queue"))
    for key, value in part_of(both, "encoder").items():
        assert torch.equal(value[:2], begun[key])
        assert torch.equal(value[2:], begun[key] + 1)


@pytest.mark.parametrize(("own", "told"), [
    ({"encoder": {"norm": "batch"}}, r"residual\.encoder\.norm.*group"),
    ({"encoder": {"kind": "resnet50"}}, r"residual\.encoder\.kind.*small_resnet"),
    ({"encoder": {"layers": 18}}, r"residual\.encoder.*layers"),
])  # fmt: skip
def test_what_cannot_be_stacked_is_refused_by_its_key(own, told) -> None:
    asked = {"scale": "smoke", "papers": ["universality"], "universality": {"residual": own}}
    with pytest.raises(ConfigError, match=told):
        load(asked, ROOT)

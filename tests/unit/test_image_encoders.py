"""Encoders: their shapes, and that they are the networks they are named after."""

import os
import subprocess
import sys
import textwrap

import pytest
import torch
from torch import nn
from torchvision.models import resnet18, resnet50
from torchvision.models.vision_transformer import VisionTransformer as Reference

from featlearn.core.errors import ConfigError
from featlearn.core.run.provenance import SOURCE_ROOT
from featlearn.core.seeds import seeded
from featlearn.images.encoders import build_encoder
from featlearn.images.encoders.base import Shortcut, sin_cos_positions
from featlearn.images.weights import from_torchvision_vit

SMALL = {"kind": "small_resnet", "widths": [8, 16, 24], "blocks": 2}
VIT = {"kind": "vit", "patch": 4, "width": 24, "depth": 3, "heads": 2}
EVERY = [
    SMALL, SMALL | {"stem_stride": 2, "norm": "group"},
    {"kind": "cifar_resnet", "layers": 8},
    {"kind": "resnet18", "stem": "cifar", "width_multiplier": 0.125},
    {"kind": "resnet50", "width_multiplier": 0.125}, VIT,
    VIT | {"class_token": False, "pooling": "mean", "positions": "sin_cos"},
    VIT | {"positions": "relative"},
    VIT | {"pooling": "mean", "final_norm": "pooled", "layer_scale": 0.1},
    {"kind": "plain", "width": 4}, {"kind": "plain", "width": 4, "norm": "batch"},
    {"kind": "alexnet"}, {"kind": "wide_resnet", "layers": 10, "widen": 1},
]  # fmt: skip


def build(settings, size=32):
    with seeded(0, "encoders"):
        return build_encoder(settings, size)


def pictures(count=2, size=32):
    return torch.randn(count, 3, size, size, generator=torch.Generator().manual_seed(0))


@pytest.mark.parametrize("settings", EVERY)
def test_shapes_are_those_that_the_encoder_names(settings):
    encoder, x = build(settings), pictures()
    rows, columns = encoder.grid(32)
    assert (rows, columns) == (32 // encoder.stride, 32 // encoder.stride)
    stem = encoder.stem(x)
    side = 32 // encoder.stem_stride
    assert stem.shape == (2, encoder.stem_width, side, side)
    assert encoder.feature_map(x).shape == (2, encoder.width, rows, columns)
    assert encoder(x).shape == (2, encoder.width)
    outputs = encoder.block_maps(stem)
    assert len(outputs) == encoder.depth
    assert outputs[-1].shape == (2, encoder.width, rows, columns)
    assert encoder.layer_maps(x).shape == (2, encoder.width, rows, columns)


@pytest.mark.parametrize("settings", EVERY)
def test_channels_last_gives_the_same_features(settings):
    encoder, x = build(settings).eval(), pictures()
    plain = encoder(x)
    last = encoder.to(memory_format=torch.channels_last)
    again = last(x.contiguous(memory_format=torch.channels_last))
    torch.testing.assert_close(again, plain, atol=1e-5, rtol=1e-4)


@pytest.mark.parametrize(("kind", "reference"), [("resnet18", resnet18), ("resnet50", resnet50)])
def test_resnets_are_those_of_torchvision(kind, reference):
    # in float64: fifty layers blow rounding up, and a shortcut may take another kernel
    with seeded(0, "encoders"):
        wanted = reference(num_classes=3).double().eval()
    encoder = build({"kind": kind}).double().eval()
    theirs = {k: v for k, v in wanted.state_dict().items() if not k.startswith("fc.")}
    ours = encoder.state_dict()
    assert list(ours) == list(theirs)
    encoder.load_state_dict(theirs)
    wanted.fc = torch.nn.Identity()
    x = pictures(size=64).double()
    torch.testing.assert_close(encoder(x), wanted(x))


@pytest.mark.parametrize("layout", [torch.contiguous_format, torch.channels_last])
@pytest.mark.parametrize("stride", [1, 2, 3])
def test_a_shortcut_is_the_convolution_with_a_stride(stride, layout):
    stream = torch.Generator().manual_seed(1)
    maps = torch.randn(3, 16, 9, 8, generator=stream).to(memory_format=layout)
    with seeded(0, "shortcut"):
        wanted = nn.Conv2d(16, 24, 1, stride, bias=False)
    with seeded(0, "shortcut"):
        shortcut = Shortcut(16, 24, stride)
    assert torch.equal(shortcut.weight, wanted.weight)
    assert list(shortcut.state_dict()) == ["weight"]
    seen = []
    for module in (shortcut, wanted):
        module.to(memory_format=layout)
        x = maps.clone().requires_grad_()
        out = module(x)
        out.square().sum().backward()
        seen.append((out, x.grad, module.weight.grad))
    for ours, theirs in zip(*seen, strict=True):
        torch.testing.assert_close(ours, theirs, rtol=1e-4, atol=1e-5)
    assert seen[0][1].is_contiguous(memory_format=layout), "the gradient keeps the order"


FEW_CHANNELS = """
    import torch
    from featlearn.images.encoders import build_encoder
    from featlearn.images.encoders.base import Shortcut

    torch.set_num_threads(1)
    torch.manual_seed(0)

    def pictures(*size):
        return torch.randn(size).contiguous(memory_format=torch.channels_last)

    for batch, channels, size in [(32, 4, 32), (32, 4, 64), (1, 4, 32), (8, 1, 16), (32, 12, 32)]:
        shortcut = Shortcut(channels, 8, 2).to(memory_format=torch.channels_last)
        x, back = pictures(batch, channels, size, size), pictures(batch, 8, size // 2, size // 2)
        shortcut(x).backward(back)
        wanted = torch.einsum("bohw,bihw->oi", back, x[:, :, ::2, ::2])
        # a sum of up to 32,768 products around one: their rounding is far below one
        torch.testing.assert_close(shortcut.weight.grad[:, :, 0, 0], wanted, rtol=0, atol=0.01)
    encoder = build_encoder({"kind": "small_resnet", "widths": [4, 8, 12]}, 32)
    encoder.to(memory_format=torch.channels_last)
    for _ in range(5):
        encoder(pictures(32, 3, 32, 32)).sum().backward()
"""


@pytest.mark.long
def test_few_channels_train_without_avx512():
    """In a process of its own, which the fault would end."""
    environment = {**os.environ, "ONEDNN_MAX_CPU_ISA": "AVX2", "PYTHONPATH": str(SOURCE_ROOT)}
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(FEW_CHANNELS)], env=environment, capture_output=True,
        text=True, timeout=300, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("size", [16, 24])
def test_vision_transformer_is_that_of_torchvision(size):
    torch.manual_seed(0)
    reference = Reference(size, 4, 3, 2, 24, 48, num_classes=5).eval()
    torch.nn.init.normal_(reference.class_token)
    encoder = build(VIT | {"mlp_ratio": 2.0}, size).eval()
    weights = from_torchvision_vit(reference.state_dict())
    weights = {k: v for k, v in weights.items() if not k.startswith("head.")}
    encoder.load_state_dict(weights)
    reference.heads = torch.nn.Identity()
    x = pictures(size=size)
    torch.testing.assert_close(encoder(x), reference(x), atol=1e-5, rtol=1e-5)


def test_tokens_are_the_map_with_the_class_token_in_front():
    encoder, x = build(VIT), pictures()
    tokens, features = encoder.tokens(x), encoder.feature_map(x)
    assert tokens.shape == (2, 65, 24)
    assert torch.equal(tokens[:, 1:].transpose(1, 2).reshape(2, 24, 8, 8), features)
    assert torch.equal(encoder(x), tokens[:, 0])
    mean = build(VIT | {"pooling": "mean"})
    torch.testing.assert_close(mean(x), mean.tokens(x)[:, 1:].mean(1))


def test_sine_cosine_positions_are_fixed_and_tell_rows_from_columns():
    encoder = build(VIT | {"positions": "sin_cos"})
    assert "pos_embed" not in dict(encoder.named_parameters())
    assert (encoder.pos_embed[0, 0] == 0).all()
    places = sin_cos_positions((2, 3), 8)
    column, row = places[:, :4], places[:, 4:]
    assert torch.equal(column[0], column[3])
    assert torch.equal(row[0], row[1])
    angle = torch.tensor([2.0, 2.0 / 100])
    torch.testing.assert_close(column[2], torch.cat([angle.sin(), angle.cos()]))


def test_maps_of_a_named_layer():
    encoder, x = build(VIT), pictures()
    maps = encoder.layer_maps(x, "blocks.1")
    torch.testing.assert_close(maps, encoder.block_maps(encoder.stem(x))[1])
    small = build(SMALL).eval()
    assert small.layer_maps(x, "layer1.0").shape == (2, 8, 32, 32)
    with pytest.raises(ConfigError, match=r"layer: 'layer9'; expected one such as 'layer3'"):
        small.layer_maps(x, "layer9")
    encoder.unused = torch.nn.Identity()
    with pytest.raises(ConfigError, match="takes no part"):
        encoder.layer_maps(x, "unused")


@pytest.mark.parametrize(("settings", "message"), [
    ({"kind": "resnet19"}, r"encoder.kind: 'resnet19'; expected one of small_resnet"),
    ({"kind": "resnet18", "stam": "cifar"}, "encoder.stam: unknown option of resnet18; did"),
    ({"kind": "resnet18", "stem": "cfar"}, "'cfar'; expected imagenet, cifar or stl"),
    (VIT | {"patch": 5}, "encoder.patch: 5; expected a divisor"),
    (VIT | {"heads": 5}, "encoder.heads: 5; expected a divisor of the width 24"),
    (VIT | {"class_token": False}, "encoder.pooling: 'class_token'; expected mean"),
    ({"kind": "wide_resnet", "layers": 12}, "encoder.layers: 12; expected 4 more than"),
])  # fmt: skip
def test_impossible_settings_are_named(settings, message):
    with pytest.raises(ConfigError, match=message):
        build(settings)


@pytest.mark.parametrize(("settings", "size"), [
    ({"kind": "vit_tiny"}, 5_524_416),
    ({"kind": "vit_small"}, 21_665_664),
    ({"kind": "vit_base"}, 85_798_656),
    ({"kind": "wide_resnet"}, 11_550_864),
    ({"kind": "resnet18", "stem": "cifar"}, 11_168_832),
    ({"kind": "alexnet"}, 9 * (3 * 64 + 64 * 192 + 192 * 384 + 384 * 256 + 256 * 256) + 1152),
])  # fmt: skip
def test_networks_have_the_size_that_is_known_of_them(settings, size):
    """WRN-34-5 without its classifier; AlexNet's five convolutions, and their biases."""
    with torch.device("meta"):
        encoder = build_encoder(settings, 224)
    assert sum(p.numel() for p in encoder.parameters()) == size


@pytest.mark.parametrize("settings", EVERY[-4:])
def test_named_layers_are_a_convolution_of_the_image_and_what_is_rectified(settings):
    encoder, x = build(settings), pictures()
    assert encoder.get_submodule(encoder.first_layer).weight.shape[1] == 3
    for name in encoder.rectified:
        assert encoder.layer_maps(x, name).max() > 0
    before = encoder.layer_maps(x, encoder.last_layer)
    assert before.min() < 0
    behind = encoder.layer_maps(x, encoder.rectified[-1]).relu()
    torch.testing.assert_close(before.relu(), behind, rtol=0, atol=0)


@pytest.mark.parametrize("norm", ["none", "batch"])
def test_rectifying_after_the_pool_changes_no_answer_and_no_gradient(norm):
    encoder, x = build({"kind": "plain", "width": 4, "norm": norm}), pictures()

    def as_usual(maps):
        for name in ("first", *encoder.names[1:]):
            layer = encoder.get_submodule(name)
            maps = layer.conv(maps)
            maps = (layer.norm(maps) if norm == "batch" else maps).relu()
            maps = layer.pool(maps) if hasattr(layer, "pool") else maps
        return maps.mean((2, 3))

    found = []
    for features in (encoder(x), as_usual(x)):
        gradients = torch.autograd.grad(features.square().sum(), list(encoder.parameters()))
        found.append([features, *gradients])
    for own, usual in zip(*found, strict=True):
        torch.testing.assert_close(own, usual, rtol=0, atol=0)

"""Weights from files: names, sizes, faults, and nothing that could run code."""

import numpy as np
import pytest
import torch
from PIL import Image
from safetensors.torch import save_file
from torchvision.models.vision_transformer import VisionTransformer as Reference

import featlearn
from featlearn.core.errors import FeatlearnError
from featlearn.core.files import Described, write_tensors
from featlearn.core.run.provenance import FIXED_VERSION
from featlearn.core.seeds import seeded
from featlearn.images.augment import Augment
from featlearn.images.config_data import find_weights
from featlearn.images.encoders import SmallResNet, build_encoder
from featlearn.images.encoders.vit import relative_positions
from featlearn.images.methods import build_method
from featlearn.images.pretrained import Borrowed
from featlearn.images.rng import Draws
from featlearn.images.saved import described
from featlearn.images.train.classifier import Classifier
from featlearn.images.train.features import extract
from featlearn.images.weights import load_weights
from unit.test_image_encoders import EVERY

SMALL = {"kind": "small_resnet", "widths": [4, 8]}
VIT = {"kind": "vit", "patch": 4, "width": 16, "depth": 2, "heads": 2}


def build(settings, size=16, seed=0):
    with seeded(seed, "weights"):
        return build_encoder(settings, size)


def clones(state):
    return {name: value.clone() for name, value in state.items()}


def equal(encoder, state):
    return all(torch.equal(value, state[name]) for name, value in encoder.state_dict().items())


@pytest.fixture
def path(tmp_path):
    return tmp_path / "weights.safetensors"


@pytest.mark.parametrize("settings", [SMALL, VIT])
@pytest.mark.parametrize("prefix", ["", "module.encoder.", "backbone."])
def test_weights_come_back_whatever_stands_in_front(path, settings, prefix):
    state = build(settings, seed=1).state_dict()
    save_file({prefix + name: value for name, value in clones(state).items()}, path)
    encoder = build(settings)
    assert not equal(encoder, state)
    assert load_weights(encoder, path) == {}
    assert equal(encoder, state)
    for content in (state, {"epoch": 3, "state_dict": state}):
        torch.save(content, path.with_suffix(".pth"))
        load_weights(encoder := build(settings), path.with_suffix(".pth"))
        assert equal(encoder, state)


@pytest.mark.parametrize("settings", [SMALL, VIT])
@pytest.mark.parametrize(
    ("own", "slow"), [("encoder_q", "encoder_k"), ("base_encoder", "momentum_encoder")]
)
def test_of_moco_the_encoder_is_read_and_not_its_average(tmp_path, settings, own, slow):
    state, other = (build(settings, seed=seed).state_dict() for seed in (1, 2))
    head = {"0.weight": torch.zeros(4, 4), "2.bias": torch.zeros(4)}
    every = {f"module.{own}.{name}": value for name, value in state.items()}
    every |= {f"module.{slow}.{name}": value for name, value in other.items()}
    for kind in ("fc", "head"):
        every |= {f"module.{own}.{kind}.{name}": value for name, value in head.items()}
    every |= {"module.queue": torch.zeros(3), "module.predictor.0.weight": torch.zeros(2)}
    torch.save({"epoch": 3, "state_dict": every}, tmp_path / "moco.pth.tar")
    encoder = build(settings)
    load_weights(encoder, tmp_path / "moco.pth.tar")
    assert equal(encoder, state)


def _as_clip(weights):
    """Of timm's names the layout of OpenAI's files: the tower below ``visual.``."""
    swaps = (("patch_embed.proj", "conv1"), ("pos_embed", "positional_embedding"),
             ("blocks.", "transformer.resblocks."), ("norm_pre", "ln_pre"), ("norm1", "ln_1"),
             ("norm2", "ln_2"), ("norm.", "ln_post."), ("qkv.", "in_proj_"),
             ("attn.proj", "attn.out_proj"), ("mlp.fc1", "mlp.c_fc"), ("mlp.fc2", "mlp.c_proj"),
             ("cls_token", "class_embedding"))  # fmt: skip
    found = {"visual.proj": torch.zeros(4, 3), "token_embedding.weight": torch.zeros(2, 2)}
    for name, value in weights.items():
        for old, new in swaps:
            name = name.replace(old, new)
        own = {"positional_embedding": value[0], "class_embedding": value.flatten()}
        found[f"visual.{name}"] = own.get(name, value).contiguous()
    return found


def _as_swin(weights):
    """Of timm's names the layout of Microsoft's files, within UniCL's: a stage ends by merging."""
    found = {"logit_scale": torch.zeros(1), "image_encoder.head.weight": torch.zeros(2, 2)}
    for name, value in weights.items():
        words = name.split(".")
        if words[2:3] == ["downsample"]:
            words[1] = str(int(words[1]) - 1)
        found["image_encoder." + ".".join(words)] = value
    return found


@pytest.mark.parametrize(
    ("name", "size", "layout"),
    [("vit_xsmall_patch16_clip_224", 32, _as_clip), ("swin_tiny_patch4_window7_224", 56, _as_swin)],
)
def test_networks_of_timm_read_their_makers_files(path, name, size, layout):
    pytest.importorskip("timm")
    encoders = []
    for seed in (1, 0):
        with seeded(seed, "weights"):
            encoders.append(Borrowed(f"timm:{name}", size).eval())
    wanted, encoder = encoders
    save_file(layout(clones(wanted.core.state_dict())), path)
    load_weights(encoder, path)
    images = torch.rand(2, 3, size, size)
    with torch.no_grad():
        assert torch.equal(encoder(images), wanted(images))
    save_file({name: value for name, value in layout(wanted.core.state_dict()).items()
               if "resblocks.1" not in name and "layers.1" not in name}, path)  # fmt: skip
    with pytest.raises(FeatlearnError, match=r"does not fit Borrowed:\n  missing: "):
        load_weights(encoder, path)


@pytest.mark.parametrize("kind", ["simmim", "data2vec"])
def test_the_encoder_of_a_pretraining_is_taken_and_the_rest_left(path, kind):
    with seeded(1, "weights"):
        method = build_method(
            {"kind": kind, "mask_size": 4} | ({"top_blocks": 1} if kind == "data2vec" else {}),
            build_encoder(VIT, 16),
        )
    with torch.no_grad():
        for parameter in method.encoder.parameters():
            parameter.add_(1)  # apart from its teacher
    save_file(clones(method.state_dict()), path)
    encoder = build(VIT)
    load_weights(encoder, path)
    assert equal(encoder, method.encoder.state_dict())


def test_torchvision_vision_transformer(path):
    reference = Reference(16, 4, 2, 2, 16, 64, num_classes=5).eval()
    torch.nn.init.normal_(reference.class_token)
    torch.nn.init.normal_(reference.heads.head.weight)
    save_file(clones(reference.state_dict()), path)
    encoder = build(VIT).eval()
    head = load_weights(encoder, path)
    x = torch.randn(3, 3, 16, 16)
    scores = torch.nn.functional.linear(encoder(x), head["weight"], head["bias"])
    torch.testing.assert_close(scores, reference(x), atol=1e-5, rtol=1e-5)


def test_beit_names(path):
    settings = VIT | {"positions": "relative", "layer_scale": 0.1}
    state = clones(build(settings, seed=1).state_dict())
    beit = {}
    for name, value in state.items():
        if name.endswith("qkv.bias"):
            value[16:32] = 0
            beit[name.replace("qkv", "q")[: -len(".bias")] + "_bias"] = value[:16].clone()
            beit[name.replace("qkv", "v")[: -len(".bias")] + "_bias"] = value[32:].clone()
        else:
            beit[name.replace("ls1.gamma", "gamma_1").replace("ls2.gamma", "gamma_2")] = value
    beit["blocks.0.attn.relative_position_index"] = relative_positions((4, 4), 1)
    save_file(beit, path)
    encoder = build(settings)
    load_weights(encoder, path)
    assert equal(encoder, state)


def test_relative_positions_are_kinds_of_distance():
    rows, columns = 3, 4
    kinds = relative_positions((rows, columns), 1)
    places = [(r, c) for r in range(rows) for c in range(columns)]
    seen = {}
    for i, (r, c) in enumerate(places):
        for j, (s, d) in enumerate(places):
            kind = int(kinds[1 + i, 1 + j])
            assert seen.setdefault(kind, (r - s, c - d)) == (r - s, c - d)
    assert sorted(seen) == list(range(5 * 7))
    assert seen[0] == (-2, -3)
    assert (kinds[0, 1:] == 35).all()
    assert (kinds[1:, 0] == 36).all()
    assert kinds[0, 0] == 37
    assert torch.equal(relative_positions((rows, columns), 0), kinds[1:, 1:])


def test_positions_are_interpolated_for_another_image_size(path):
    state = clones(build(VIT, 16, seed=1).state_dict())
    smooth = torch.linspace(0, 1, 4)
    state["pos_embed"][0, 1:] = smooth.repeat_interleave(4)[:, None]  # rises from row to row
    save_file(state, path)
    encoder = build(VIT, (32, 16))
    load_weights(encoder, path)
    positions = encoder.pos_embed.detach()
    assert positions.shape == (1, 33, 16)
    assert torch.equal(positions[:, :1], state["pos_embed"][:, :1])
    maps = positions[0, 1:, 0].view(8, 4)
    torch.testing.assert_close(maps, maps[:, :1].expand(-1, 4), atol=1e-5, rtol=0)
    assert (maps[1:, 0] > maps[:-1, 0]).all()
    without = build(VIT | {"class_token": False, "pooling": "mean"}, 32)
    load_weights(without, path)
    assert without.pos_embed.shape == (1, 64, 16)


def test_missing_unexpected_and_misshapen_names_are_all_told_and_nothing_is_changed(path):
    state = clones(build(SMALL, seed=1).state_dict())
    del state["bn1.bias"]
    state["layer7.weight"] = torch.zeros(2)
    state["conv1.weight"] = torch.zeros(4, 3, 7, 7)
    save_file(state, path)
    encoder = build(SMALL)
    before = clones(encoder.state_dict())
    with pytest.raises(FeatlearnError) as caught:
        load_weights(encoder, path)
    for name in ("weights.safetensors", "bn1.bias", "layer7.weight", "conv1.weight (4x3x7x7"):
        assert name in str(caught.value)
    assert equal(encoder, before)


def test_names_may_differ_where_that_is_said(path):
    state = build(VIT, seed=1).state_dict()
    save_file(clones(state), path)
    encoder = build(VIT | {"pooling": "mean", "final_norm": "pooled"})
    with pytest.raises(FeatlearnError, match=r"missing: fc_norm.weight, fc_norm.bias"):
        load_weights(encoder, path)
    load_weights(encoder, path, may_differ=["norm.*", "fc_norm.*"])
    found = encoder.state_dict()
    assert state.keys() - found.keys() == {"norm.weight", "norm.bias"}
    assert all(torch.equal(value, state[name]) for name, value in found.items() if name in state)


def test_files_of_a_name_are_found_in_the_folder_and_in_the_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("TORCH_HOME", str(tmp_path))
    cached = tmp_path / "hub" / "checkpoints" / "resnet50-0676ba61.pth"
    cached.parent.mkdir(parents=True)
    cached.touch()
    assert find_weights("torchvision:ResNet50_Weights.IMAGENET1K_V1") == cached
    own = tmp_path / "deit_tiny.safetensors"
    own.touch()
    assert find_weights("timm:deit_tiny", tmp_path) == own


NORMAL = Augment({"preset": "none", "mean": [0.5, 0.4, 0.3], "std": [0.2, 0.3, 0.4]})
TINY = {"kind": "small_resnet", "widths": [4, 8], "stem_stride": 2}


def pixels(count=3, size=32):
    values = torch.Generator().manual_seed(0)
    return torch.randint(256, (count, 3, size, size), generator=values, dtype=torch.uint8)


@pytest.mark.parametrize("settings", EVERY[::3])
def test_an_encoder_comes_back_with_its_features(settings, tmp_path):
    made = build(settings, 32)
    write_tensors(described(made, NORMAL, "simmim", {}), tmp_path / "w.safetensors")
    again = featlearn.load(tmp_path / "w.safetensors")
    assert again.about["encoder"]["kind"] == settings["kind"]
    expected = extract(made, pixels(), NORMAL)
    torch.testing.assert_close(again.features(pixels()), expected, rtol=1e-3, atol=1e-4)
    with pytest.raises(FeatlearnError, match="trained by simmim has no classes"):
        again(pixels())


@pytest.mark.parametrize("several", [False, True])
def test_a_classifier_comes_back_with_its_classes_and_looks_at_files(several, tmp_path):
    made = Classifier(build(TINY, 32), 3, several=several)
    torch.nn.init.normal_(made.head.weight, std=0.5)
    weights = described(made, NORMAL, "fine-tuned", {}, ["cat", "dog", "owl"])
    write_tensors(weights, tmp_path / "w.safetensors")
    again = featlearn.load(tmp_path / "w.safetensors")
    assert again.classes == ("cat", "dog", "owl")
    assert not again.training
    scores = made.eval().scores(NORMAL(pixels(), Draws(("x",), 0, 3)))
    expected = scores.sigmoid() if several else scores.softmax(1)
    torch.testing.assert_close(again(pixels()), expected.detach(), rtol=1e-5, atol=1e-6)
    wide = np.zeros((32, 56, 3), np.uint8)
    wide[:, 12:44] = np.asarray(pixels(1)[0].permute(1, 2, 0))
    Image.fromarray(wide).save(tmp_path / "wide.png")
    Image.fromarray(wide[:, 12:44]).save(tmp_path / "square.png")
    found = again([tmp_path / "wide.png", tmp_path / "square.png"])
    torch.testing.assert_close(found[0], found[1])


def test_weights_of_another_encoder_are_refused_though_every_tensor_fits(tmp_path):
    write_tensors(described(build(TINY, 32), NORMAL, "x", {}), tmp_path / "w.safetensors")
    other = build(TINY | {"stem_stride": 1}, 32)
    before = [value.clone() for value in other.state_dict().values()]
    with pytest.raises(FeatlearnError, match="stem_stride 2 in the file, 1 here"):
        load_weights(other, tmp_path / "w.safetensors")
    assert all(map(torch.equal, before, other.state_dict().values()))
    load_weights(build(TINY, 32), tmp_path / "w.safetensors")
    by_hand = SmallResNet(widths=[4, 8], stem_stride=2)  # says nothing of itself
    load_weights(by_hand, tmp_path / "w.safetensors")


def test_what_says_nothing_or_lies_is_not_loaded(tmp_path):
    made = build(TINY, 32)
    write_tensors(made.state_dict(), tmp_path / "bare.safetensors")
    with pytest.raises(FeatlearnError, match="does not say which network it is of"):
        featlearn.load(tmp_path / "bare.safetensors")
    about = described(made, NORMAL, "x", {}).about
    assert about["version"] == FIXED_VERSION  # a release alone changes no bytes
    tensors = {name: value for name, value in made.state_dict().items() if "bn1" not in name}
    write_tensors(Described(tensors, **about), tmp_path / "cut.safetensors")
    with pytest.raises(FeatlearnError, match="are not those of its header"):
        featlearn.load(tmp_path / "cut.safetensors")
    (tmp_path / "torn.safetensors").write_bytes((tmp_path / "bare.safetensors").read_bytes()[:99])
    with pytest.raises(FeatlearnError, match="cannot be read"):
        featlearn.load(tmp_path / "torn.safetensors")

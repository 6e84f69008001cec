"""Weights from elsewhere for an encoder. Nothing is downloaded, and no pickle is unpacked."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from featlearn.core.errors import FeatlearnError
from featlearn.core.files import Described, read_tensors
from featlearn.core.run.checks import some
from featlearn.images.config_data import find_weights
from featlearn.images.encoders.base import Encoder
from featlearn.images.encoders.vit import VisionTransformer

Weights = dict[str, Tensor]

#: Groups of a checkpoint that hold the network, in the order in which they are looked for.
GROUPS = ("model_ema", "model", "state_dict", "module")
#: What may stand in front of the encoder's names.
PREFIXES = (
    *("", "encoder.", "module.", "module.encoder.", "model.", "model.encoder.", "backbone."),
    # MoCo's encoder, beside its momentum encoder, with one process and with several; UniCL's
    *("encoder_q.", "module.encoder_q.", "base_encoder.", "module.base_encoder."),
    *("image_encoder.", "module.image_encoder."),
)
HEADS = ("fc.", "head.", "heads.head.", "classifier.")


def load_weights(
    encoder: Encoder, source: str | Path, folder: str | Path | None = None,
    may_differ: Sequence[str] = (),
) -> Weights:  # fmt: skip
    """Fill an encoder with weights; returns ``weight`` and ``bias`` of the file's head, if any.

    Checkpoints of torchvision, timm, DeiT, MAE, MoCo and of our pre-training are understood, and
    for networks of timm what timm itself converts. Positions of a vision transformer for another
    image size are interpolated.

    ``encoder``: is changed. ``source``: a file (``.safetensors``, or a state dict of torch), or a
    name: ``torchvision:`` and a weights enum such as ``ResNet50_Weights.IMAGENET1K_V1``, or
    ``timm:`` and a model. ``folder``: where files of named weights lie, before torch's cache.
    ``may_differ``: names, with ``*``, that the file may lack or have too many, such as
    ``fc_norm.*``. Raises FeatlearnError if there is no such file (it says which belongs where), it
    is damaged or more than tensors, or its weights do not fit.
    """
    file = find_weights(source, folder)
    read = read_weights(file)
    refuse_others(read, encoder, str(file))
    own = encoder.core.state_dict()
    found = _without_prefix(_rename(read) if encoder.core is encoder else dict(read), own)
    found = encoder.understood(found)
    head = {k.rpartition(".")[2]: v for k, v in found.items() if k.startswith(HEADS)}
    found = {k: v for k, v in found.items() if not k.startswith(HEADS)}
    if isinstance(encoder, VisionTransformer):
        _fit_positions(found, encoder)
    found = {k: v for k, v in found.items() if k in own or not _may(k, may_differ)}
    own = {k: v for k, v in own.items() if k in found or not _may(k, may_differ)}
    _refuse_misfits(file, found, own, encoder)
    encoder.core.load_state_dict(found, strict=False)
    return head


def refuse_others(weights: Mapping[str, Tensor], encoder: Encoder, file: str) -> None:
    """Refuse weights that say they are of another encoder: shapes do not tell a stride."""
    theirs = weights.about.get("encoder", {}) if isinstance(weights, Described) else {}
    own = encoder.built.get("encoder", {})
    if not theirs or not own:  # then the tensors alone tell
        return
    other = [f"{name} {theirs.get(name)!r} in the file, {own.get(name)!r} here"
             for name in sorted({*theirs, *own}) if theirs.get(name) != own.get(name)]  # fmt: skip
    if other:
        raise FeatlearnError(f"{file}: weights of another encoder: {'; '.join(other)}")


def _may(name: str, patterns: Sequence[str]) -> bool:
    # batch norms of old checkpoints do not count their batches
    return any(fnmatchcase(name, pattern) for pattern in (*patterns, "*num_batches_tracked"))


def read_weights(file: Path) -> Weights:
    """Tensors of a safetensors file or a state dict; FeatlearnError if damaged or no tensors."""
    if file.suffix == ".safetensors":
        return read_tensors(file)
    try:
        content = torch.load(file, map_location="cpu", weights_only=True)
    except Exception as error:
        raise FeatlearnError(
            f"{file}: not read: it is damaged, or holds more than tensors. Such a file could run "
            "code when it is opened; where you trust it, save its state dict as safetensors"
        ) from error
    for group in GROUPS:
        if isinstance(content, Mapping) and isinstance(content.get(group), Mapping):
            content = content[group]
    if not isinstance(content, Mapping):
        raise FeatlearnError(f"{file}: holds a {type(content).__name__}; expected named tensors")
    tensors = {str(name): value for name, value in content.items() if isinstance(value, Tensor)}
    if not tensors:
        raise FeatlearnError(f"{file}: holds no tensors; expected named ones")
    return tensors


def from_torchvision_vit(weights: Mapping[str, Tensor]) -> Weights:
    """A state dict of torchvision's vision transformer with the names of timm."""
    swaps = ((r"^conv_proj\.", "patch_embed.proj."), (r"^class_token$", "cls_token"),
             (r"^encoder\.pos_embedding$", "pos_embed"),
             (r"^encoder\.layers\.encoder_layer_(\d+)\.", r"blocks.\1."),
             (r"\.ln_(\d)\.", r".norm\1."), (r"\.self_attention\.in_proj_", ".attn.qkv."),
             (r"\.self_attention\.out_proj\.", ".attn.proj."),
             (r"\.mlp\.(?:0|linear_1)\.", ".mlp.fc1."), (r"\.mlp\.(?:3|linear_2)\.", ".mlp.fc2."),
             (r"^encoder\.ln\.", "norm."), (r"^heads\.head\.", "head."))  # fmt: skip
    renamed = {}
    for name, value in weights.items():
        for pattern, replacement in swaps:
            name = re.sub(pattern, replacement, name)
        renamed[name] = value
    return renamed


def from_beit(weights: Mapping[str, Tensor]) -> Weights:
    """A state dict of BEiT or data2vec, whose names for four things differ from timm's ViT."""
    renamed = {}
    for name, value in weights.items():
        if name == "rel_pos_bias.relative_position_bias_table":  # one for all blocks
            for norm in weights:
                if re.fullmatch(r"blocks\.\d+\.norm1\.bias", norm):
                    block = norm.removesuffix("norm1.bias")
                    renamed[f"{block}attn.relative_position_bias_table"] = value
            continue
        if name.endswith(".attn.q_bias"):
            other = weights[name.replace("q_bias", "v_bias")]
            value = torch.cat([value, torch.zeros_like(value), other])  # keys have no bias
            name = name.replace("q_bias", "qkv.bias")
        elif name.endswith((".attn.v_bias", "relative_position_index")):
            continue
        renamed[re.sub(r"\.gamma_(\d)$", r".ls\1.gamma", name)] = value
    return renamed


def _rename(weights: Weights) -> Weights:
    if "encoder.pos_embedding" in weights:
        return from_torchvision_vit(weights)
    if any(name.endswith((".gamma_1", ".attn.q_bias")) for name in weights):
        return from_beit(weights)
    return weights


def _without_prefix(found: Weights, own: Mapping[str, Any]) -> Weights:
    """The weights below the prefix that fits best."""
    matches = {p: sum(p + name in found for name in own) for p in PREFIXES}
    prefix = max(PREFIXES, key=lambda p: matches[p])  # the first of equals
    return {k.removeprefix(prefix): v for k, v in found.items() if k.startswith(prefix)}


def _refuse_misfits(
    file: Path, found: Weights, own: Mapping[str, Tensor], encoder: nn.Module
) -> None:
    misshapen = [f"{name} ({_shape(found[name])} in the file, {_shape(own[name])} in the encoder)"
                 for name in own
                 if name in found and found[name].shape != own[name].shape]  # fmt: skip
    faults = {
        "missing": [name for name in own if name not in found],
        "unexpected": [name for name in found if name not in own],
        "misshapen": misshapen,
    }
    lines = [f"  {kind}: {some(names)}" for kind, names in faults.items() if names]
    if lines:
        raise FeatlearnError(f"{file}: does not fit {type(encoder).__name__}:\n" + "\n".join(lines))


def _shape(tensor: Tensor) -> str:
    return "x".join(map(str, tensor.shape)) or "one number"


def _fit_positions(found: Weights, encoder: VisionTransformer) -> None:
    """Bring ``pos_embed`` to the encoder's grid; fixed positions of another grid are dropped."""
    if "pos_embed" not in found or found["pos_embed"].shape == encoder.pos_embed.shape:
        return
    if not isinstance(encoder.pos_embed, nn.Parameter):
        found["pos_embed"] = encoder.pos_embed
        return
    positions = found["pos_embed"]
    if positions.ndim != 3 or positions.shape[2] != encoder.width:
        return  # will be reported as misshapen
    leading = int("cls_token" in found)
    grid = encoder.grid(encoder.size)
    patches = interpolate_positions(positions[:, leading:], grid)
    first = positions[:, :leading] if leading else positions.new_zeros(1, 1, encoder.width)
    found["pos_embed"] = torch.cat([first, patches], 1) if encoder.leading else patches
    if not encoder.leading:
        found.pop("cls_token", None)


def interpolate_positions(positions: Tensor, grid: tuple[int, int]) -> Tensor:
    """Positions of a square grid (1, N, D) for another grid: (1, h * w, D), bicubic."""
    side = round(positions.shape[1] ** 0.5)
    if side * side != positions.shape[1]:
        raise FeatlearnError(f"{positions.shape[1]} positions; expected those of a square grid")
    maps = positions.float().transpose(1, 2).view(1, -1, side, side)
    resized = F.interpolate(maps, grid, mode="bicubic", antialias=True, align_corners=False)
    return resized.flatten(2).transpose(1, 2).to(positions.dtype)

"""A Llama of the library `transformers` as a :class:`Decoder`: other names, same weights."""

from __future__ import annotations

from collections.abc import Mapping

import torch
from torch import Tensor

from featlearn.transformers.decoder import Shape


def llama_weights(state: Mapping[str, Tensor], shape: Shape) -> dict[str, Tensor]:
    """Of one pretrained network: R = 1.

    ``state``: the ``state_dict`` of a ``LlamaForCausalLM``, whose matrices are (out, in).
    ``shape``: its sizes, with ``norm="rms"`` and ``activation="swiglu"``. Raises KeyError if a
    weight is missing. Raises ValueError if one has another size than ``shape`` says.
    """
    words = state["model.embed_tokens.weight"]
    found = {
        "words": words,
        "final_gain": state["model.norm.weight"],
        "unembed": state.get("lm_head.weight", words).T,  # tied where there is none
    }
    for layer in range(shape.layers):

        def of(name: str, layer: int = layer) -> Tensor:
            return state[f"model.layers.{layer}.{name}.weight"]

        found |= {
            f"{layer}/attention_gain": of("input_layernorm"),
            f"{layer}/qkv": torch.cat([of(f"self_attn.{name}_proj") for name in "qkv"]).T,
            f"{layer}/out": of("self_attn.o_proj").T,
            f"{layer}/mlp_gain": of("post_attention_layernorm"),
            f"{layer}/up": torch.cat([of(f"mlp.{name}_proj") for name in ("gate", "up")]).T,
            f"{layer}/down": of("mlp.down_proj").T,
        }
    for name, size in shape.weights().items():
        if (got := tuple(found[name].shape)) != size:
            raise ValueError(f"weight {name}: {got}; expected {size}")
    return {name: found[name].contiguous()[None] for name in shape.weights()}

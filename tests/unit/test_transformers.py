"""The transformers' room: against PyTorch's own attention and layers, and against Llama."""

import pytest
import torch
import torch.nn.functional as F
from bench.llama import llama_weights
from torch import nn

from featlearn.core.seeds import Streams, generator
from featlearn.core.training.schedules import Schedule
from featlearn.transformers.attention import (
    attention_weights,
    hadamard_attention,
    softmax_attention,
)
from featlearn.transformers.cache import Cache
from featlearn.transformers.decoder import Decoder, Shape, start
from featlearn.transformers.positions import rotary_table, rotated
from featlearn.transformers.train import Recipe, shorten, train

GPT = Shape(words=11, width=12, layers=2, heads=3, head_width=4, hidden=20, length=9)
LLAMA = Shape(words=11, width=12, layers=3, heads=4, key_value_heads=2, head_width=6, hidden=20,
              norm="rms", activation="swiglu")  # fmt: skip


def decoder(shape: Shape, replicates: int = 1) -> Decoder:
    streams = Streams(0, "transformers", "test", range(replicates))("start")
    weights = {name: w.double() for name, w in start(shape, streams).items()}
    # gains and biases that a wrong fold would show
    stir = generator("stir")
    return Decoder(shape, {
        name: w + 0.3 * torch.randn(w.shape[1:], generator=stir, dtype=w.dtype)
        for name, w in weights.items()
    })  # fmt: skip


def tokens(*size: int) -> torch.Tensor:
    return torch.randint(11, size, generator=generator("tokens"))


@pytest.mark.parametrize(("n", "m", "groups"), [(5, 5, 4), (5, 5, 2), (2, 7, 1), (1, 6, 2)])
def test_softmax_attention_is_the_softmax_of_what_is_visible(n, m, groups):
    q, k, v = (torch.randn(2, h, t, 6, generator=generator(h, t, i), dtype=torch.float64)
               for i, (h, t) in enumerate([(4, n), (groups, m), (groups, m)]))  # fmt: skip
    expected = torch.empty_like(q)
    for head in range(4):
        own_k, own_v = k[:, head * groups // 4], v[:, head * groups // 4]
        for row in range(n):
            seen = m - n + row + 1
            scores = torch.einsum("bd,bmd->bm", q[:, head, row], own_k[:, :seen]) / 6**0.5
            expected[:, head, row] = torch.einsum("bm,bmd->bd", scores.softmax(1), own_v[:, :seen])
    assert torch.allclose(softmax_attention(q, k, v), expected, atol=1e-12)
    values = v.repeat_interleave(4 // groups, 1)
    assert torch.allclose(attention_weights(q, k) @ values, expected, atol=1e-12)
    free = F.scaled_dot_product_attention(q, k.repeat_interleave(4 // groups, 1), values, scale=2.0)
    assert torch.allclose(softmax_attention(q, k, v, causal=False, scale=2.0), free, atol=1e-12)


@pytest.mark.parametrize("n", [5, 3, 1])
def test_gradients_of_shared_keys_are_the_sums_over_the_heads_that_share_them(n):
    q, k, v = (torch.randn(2, h, t, 6, generator=generator(h, t, i), dtype=torch.float64)
               .requires_grad_() for i, (h, t) in enumerate([(4, n), (2, 5), (2, 5)]))  # fmt: skip
    weight = torch.randn(2, 4, n, 6, generator=generator("weight"), dtype=torch.float64)
    by_hand = attention_weights(q, k) @ v.repeat_interleave(2, 1)
    expected = torch.autograd.grad(by_hand, (q, k, v), weight)
    found = torch.autograd.grad(softmax_attention(q, k, v), (q, k, v), weight)
    for one, other in zip(found, expected, strict=True):
        assert torch.allclose(one, other, atol=1e-12)


def test_hadamard_attention_multiplies_by_the_mask():
    draw = generator("hadamard")
    z = torch.randn(3, 5, 4, generator=draw, dtype=torch.float64)
    query, value = torch.randn(2, 4, 4, generator=draw, dtype=torch.float64)
    mask = torch.randn(5, 5, generator=draw, dtype=torch.float64)
    scores = torch.einsum("rid,de,rje->rij", z, query, z) * mask
    expected = torch.einsum("rij,rjd,de->rie", scores, z, value)
    assert torch.allclose(hadamard_attention(z, query, value, mask), expected)


def test_rotary_products_depend_on_the_distance_alone():
    q, k = torch.randn(2, 1, 6, generator=generator("rotary"), dtype=torch.float64)
    table = rotary_table(20, 6)
    turned = [rotated(x.expand(20, 6), table) for x in (q, k)]
    scores = turned[0] @ turned[1].T
    assert torch.allclose(scores[3:, 3:], scores[:-3, :-3])
    assert not torch.allclose(scores[3:, 3:], scores[:-3, 3:])


@pytest.mark.parametrize("shape", [GPT, LLAMA], ids=["gpt", "llama"])
def test_replicates_do_not_meet(shape):
    several, seen = decoder(shape, 3), tokens(3, 4, 6)
    found = several(seen)
    for r in range(3):
        own = Decoder(shape, {name: w[r : r + 1] for name, w in several.weights.items()})
        assert torch.allclose(own(seen[r : r + 1])[0], found[r], atol=1e-10)


@pytest.mark.parametrize("shape", [GPT, LLAMA], ids=["gpt", "llama"])
@pytest.mark.parametrize("last", [1, 2])
def test_the_last_tokens_alone_are_as_among_all(shape, last):
    one, seen = decoder(shape, 2), tokens(2, 3, 7)
    assert torch.allclose(one(seen, last=last), one(seen)[:, :, -last:], atol=1e-10)


def test_a_gpt_block_is_that_of_pytorch():
    one = decoder(GPT)
    theirs = nn.TransformerEncoderLayer(
        12, 3, 20, dropout=0.0, batch_first=True, norm_first=True, dtype=torch.float64
    )
    ours = {name.removeprefix("0/"): w[0] for name, w in one.weights.items() if name[:2] == "0/"}
    with torch.no_grad():
        for bias in (theirs.self_attn.in_proj_bias, theirs.self_attn.out_proj.bias,
                     theirs.linear1.bias, theirs.linear2.bias):  # fmt: skip
            bias.zero_()
        pairs = {
            "qkv": theirs.self_attn.in_proj_weight, "out": theirs.self_attn.out_proj.weight,
            "up": theirs.linear1.weight, "down": theirs.linear2.weight,
            "attention_gain": theirs.norm1.weight, "attention_bias": theirs.norm1.bias,
            "mlp_gain": theirs.norm2.weight, "mlp_bias": theirs.norm2.bias,
        }  # fmt: skip
        assert set(pairs) == set(ours)
        for name, weight in pairs.items():
            weight.copy_(ours[name].permute(*reversed(range(weight.ndim))))
    x = torch.randn(1, 3, 7, 12, generator=generator("block"), dtype=torch.float64)
    mask = nn.Transformer.generate_square_subsequent_mask(7, dtype=torch.float64)
    assert torch.allclose(one.block(0, x)[0], theirs(x[0], mask), atol=1e-10)


def test_starts_are_a_stream_each():
    two, three = (start(GPT, Streams(0, "transformers", "start", range(r))("w")) for r in (2, 3))
    for name, w in two.items():
        assert torch.equal(three[name][:2], w)
    assert three["0/up"].std().item() == pytest.approx(12**-0.5, rel=0.15)


@pytest.mark.parametrize(("change", "told"), [
    ({"key_value_heads": 3}, "key_value_heads: 3"), ({"head_width": 5}, "head_width: 5"),
])  # fmt: skip
def test_a_shape_that_cannot_be_is_refused(change, told):
    with pytest.raises(ValueError, match=told):
        Shape(**{**LLAMA.__dict__, **change})
    with pytest.raises(ValueError, match="10 tokens; expected at most 9"):
        decoder(GPT)(tokens(1, 1, 10))


@pytest.mark.parametrize("shape", [GPT, LLAMA], ids=["gpt", "llama"])
@torch.no_grad()
def test_tokens_one_by_one_give_what_all_give_at_once(shape):
    one, seen = decoder(shape), tokens(1, 2, 9)
    cache, whole = Cache(shape.layers), one(seen)
    found = [one(seen[..., :3], cache=cache), one(seen[..., 3:5], cache=cache)]
    found += [one(seen[..., i : i + 1], cache=cache) for i in range(5, 9)]
    assert torch.allclose(torch.cat(found, 2), whole, atol=1e-10)
    assert (cache.position, cache.length()) == (9, 9)


@torch.no_grad()
def test_what_is_kept_of_a_cache_keeps_its_place():
    """With one block, dropping a token from the cache is the same as never looking at it."""
    shape = Shape(**{**LLAMA.__dict__, "layers": 1})
    one, seen = decoder(shape), tokens(1, 2, 8)
    kept = torch.tensor([0, 2, 3, 6])
    cache = Cache(1)
    one(seen[..., :7], cache=cache)
    cache.gather(kept)
    found = one(seen[..., 7:], cache=cache)
    x = one.embed(seen)
    q, k, v = one.project(0, x)
    own = torch.cat([kept, torch.tensor([7])])
    mixed = softmax_attention(q[:, :, -1:], k[:, :, own], v[:, :, own])
    assert torch.allclose(found, one.logits(one.finish(0, x[:, :, -1:], mixed)), atol=1e-10)
    assert (cache.position, cache.length()) == (8, 5)


def test_a_cache_is_gathered_for_each_head_and_layer():
    draw, cache = generator("cache"), Cache(2)
    k, v = torch.randn(2, 3, 2, 5, 4, generator=draw)
    for layer in range(2):
        cache.extend(layer, k, v)
    index = torch.stack([torch.randperm(5, generator=draw)[:3] for _ in range(6)]).view(3, 2, 3)
    cache.gather(index, layer=1)
    assert (cache.length(0), cache.length(1)) == (5, 3)
    for b in range(3):
        for head in range(2):
            own_k, own_v = (part[b, head] for part in cache.keys_and_values(1))
            assert torch.equal(own_k, k[b, head, index[b, head]])
            assert torch.equal(own_v, v[b, head, index[b, head]])


@torch.no_grad()
def test_a_llama_of_the_library_transformers_gives_the_same_logits():
    transformers = pytest.importorskip("transformers")
    config = transformers.LlamaConfig(
        vocab_size=97, hidden_size=64, intermediate_size=112, num_hidden_layers=3,
        num_attention_heads=8, num_key_value_heads=2, head_dim=8, max_position_embeddings=128,
    )  # fmt: skip
    torch.manual_seed(0)
    theirs = transformers.LlamaForCausalLM(config).eval()
    shape = Shape(
        words=97, width=64, layers=3, heads=8, key_value_heads=2, head_width=8, hidden=112,
        norm="rms", activation="swiglu", epsilon=config.rms_norm_eps,
    )  # fmt: skip
    ours = Decoder(shape, llama_weights(theirs.state_dict(), shape))
    seen = torch.randint(97, (1, 2, 50), generator=generator("llama"))
    expected = theirs(seen[0]).logits
    assert torch.allclose(ours(seen)[0], expected, atol=1e-5)
    cache = Cache(3)
    ours(seen[..., :-1], cache=cache)
    assert torch.allclose(ours(seen[..., -1:], cache=cache)[0, :, 0], expected[:, -1], atol=1e-5)
    with pytest.raises(ValueError, match=r"weight 0/up: \(64, 224\); expected \(64, 226\)"):
        llama_weights(theirs.state_dict(), Shape(**{**shape.__dict__, "hidden": 113}))


def copying(replicates: int, steps: int = 60, enough=None, streams=None):
    """Networks that learn to say the token before the last, from batches that they draw."""
    streams = streams or Streams(0, "transformers", "copying", range(replicates))
    draws = streams("batches")
    shape = Shape(words=5, width=16, layers=1, heads=2, head_width=8, hidden=32, length=3)

    def loss(weights, left=slice(None)):
        seen = torch.stack([torch.randint(5, (32, 3), generator=draw) for draw in draws])[left]
        logits = Decoder(shape, weights)(seen, last=1)[:, :, 0]
        return -logits.log_softmax(-1).gather(2, seen[..., 1:2]).mean((1, 2))

    def see(weights, left=None):
        count = replicates if left is None else len(left)
        every = torch.cartesian_prod(*[torch.arange(5)] * 3).expand(count, -1, -1)
        guess = Decoder(shape, weights)(every, last=1)[:, :, 0].argmax(-1)
        return {"accuracy": (guess == every[..., 1]).float().mean(1)}

    recipe = Recipe(Schedule("constant", steps, 1e-2), weight_decay=0.1, look_every=10)
    return train("copying", start(shape, streams("start")), loss, recipe, streams=draws, see=see,
                 enough=enough)  # fmt: skip


def test_a_training_learns_and_a_replicate_more_moves_no_other():
    two, three = copying(2), copying(3)
    assert three[1][-1].seen["accuracy"].min() > 0.95
    assert three[1][0].seen["accuracy"].max() < 0.6
    for name, w in two[0].items():
        assert torch.allclose(w, three[0][name][:2], atol=1e-4)


def test_networks_leave_when_it_is_enough():
    _, looks = copying(2, enough=lambda looks: torch.full((2,), len(looks) == 3))
    assert [look.step for look in looks] == [0, 10, 20]
    _, looks = copying(2, enough=lambda looks: torch.ones(2, dtype=torch.bool))
    assert [look.step for look in looks] == [0]
    # the second of three leaves after the second look, the first after the fourth
    weights, looks = copying(
        3, enough=lambda looks: torch.tensor([len(looks) >= 4, len(looks) >= 2, False])
    )
    assert [look.step for look in looks] == [0, 10, 20, 30, 40, 50, 60]
    there = torch.stack([look.seen["accuracy"] for look in looks]).isfinite()
    assert there.sum(0).tolist() == [4, 2, 7]
    # what those are that left, and that who stays is not moved by it
    for r, steps in enumerate((30, 10, 60)):
        alone, seen = copying(3, steps)
        for name, w in weights.items():
            assert torch.allclose(w[r], alone[name][r], atol=1e-4)
        assert seen[-1].seen["accuracy"][r] == looks[steps // 10].seen["accuracy"][r]


def test_gradients_are_shortened_network_by_network():
    weights = [torch.zeros(2, 3, requires_grad=True), torch.zeros(2, 1, 2, requires_grad=True)]
    weights[0].grad = torch.tensor([[3.0, 0, 0], [0.3, 0, 0]])
    weights[1].grad = torch.tensor([[[0, 4.0]], [[0, 0.4]]])
    shorten(weights, 1)
    assert torch.allclose(weights[0].grad, torch.tensor([[0.6, 0, 0], [0.3, 0, 0]]))
    assert torch.allclose(weights[1].grad, torch.tensor([[[0, 0.8]], [[0, 0.4]]]))

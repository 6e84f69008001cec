"""Attention alone and grokking: looked up against written out, spectra of maps, lessons."""

import math
from functools import partial

import pandas as pd
import pytest
import torch

from featlearn.core.seeds import Streams, generator
from featlearn.fourier import attention
from featlearn.fourier.adder import adder, sum_losses, sums_said
from featlearn.fourier.analysis.grokking import NEVER, Grokking
from featlearn.fourier.data import tuples
from featlearn.fourier.experiments.grokking import passages, passed
from featlearn.fourier.grokking import Lesson
from featlearn.transformers.decoder import Decoder, start
from featlearn.transformers.train import Look

K, P, HEADS, D = 3, 7, 2, 5


def written_out(weights: dict[str, torch.Tensor], r: int, a: torch.Tensor) -> torch.Tensor:
    """The thesis' formula, an input at a time: columns of E are the words of the input."""
    E = weights["words"][r][a].T
    total = torch.zeros(P, dtype=E.dtype)
    for head in range(HEADS):
        own = slice(head * D, (head + 1) * D)
        key, query, value = (weights[name][r][:, own] for name in ("key", "query", "value"))
        scores = E.T @ key @ query.T @ E
        read = value.T @ E @ scores.softmax(0)  # a column for each query
        total += weights["out"][r][own].T @ read.sum(1)
    return total


def test_what_is_looked_up_is_what_the_formula_says():
    begun = attention.start(P, 6, HEADS, D, Streams(0, "fourier", "test", range(2))("start"))
    weights = {name: 3 * weight.double() for name, weight in begun.items()}
    a = torch.randint(P, (2, 4, K), generator=generator("inputs"))
    found = attention.logits(weights, a, D)
    for r in range(2):
        for b in range(4):
            assert torch.allclose(found[r, b], written_out(weights, r, a[r, b]), atol=1e-10)
    assert torch.allclose(attention.logits(weights, a[0], D)[1, 2],
                          written_out(weights, 1, a[0, 2]), atol=1e-10)  # fmt: skip


def grid(p: int = 11) -> tuple[torch.Tensor, torch.Tensor]:
    turns = 2 * math.pi * torch.arange(p, dtype=torch.float64) / p
    return turns[:, None], turns


@pytest.mark.parametrize(("key", "query"), [(3, 4), (-3, 4), (2, 0), (5, 5)])
def test_one_wave_has_all_the_power(key, query):
    i, j = grid()
    seen = attention.waves(torch.cos(key * i + query * j + 0.3))
    assert (seen.key.item(), seen.query.item()) == (abs(key), query)
    assert seen.peak.item() == pytest.approx(1)
    assert seen.pair.item() == pytest.approx(1)


def test_products_are_waves_and_power_goes_by_squares():
    i, j = grid()
    seen = attention.waves(torch.cos(3 * i + 1) * torch.cos(4 * j + 2))
    assert (seen.key.item(), seen.query.item()) == (3, 4)
    assert seen.peak.item() == pytest.approx(0.5)
    assert seen.pair.item() == pytest.approx(1)
    of_queries = 5 * torch.cos(2 * j) + 7
    seen = attention.waves(torch.cos(3 * i + 4 * j) + of_queries)
    assert seen.pair.item() == pytest.approx(1)
    assert (seen.key.item(), seen.query.item()) == (3, 4)
    waves = attention.waves(2 * torch.cos(3 * i + 4 * j) + torch.cos(i) + torch.cos(2 * i - j))
    assert waves.power.sum().item() == pytest.approx(1)
    assert waves.peak.item() == pytest.approx(4 / 6)
    assert waves.power[1, 0].item() == pytest.approx(1 / 6)


@pytest.mark.parametrize(("queries", "rule"), [((4, 1), True), ((5, 3), True), ((4, 2), False)])
def test_two_query_frequencies_that_make_the_keys(queries, rule):
    i, j = grid()
    one, other = (torch.cos(query * j + 1) for query in queries)
    noise = 0.1 * torch.cos(i) * torch.cos(j)
    seen = attention.waves(torch.cos(3 * i) * (one + other) + noise)
    assert [seen.best.item(), seen.two.item()] == pytest.approx([2 / 2.01] * 2)
    assert seen.pair.item() == pytest.approx(1 / 2.01)
    assert bool(seen.rule) == rule


def lesson(kind: str, asked: torch.Tensor | None = None) -> Lesson:
    streams = Streams(0, "fourier", "lesson", range(3))("split")
    return Lesson.draw(kind, 3, 5, 0.5, streams, asked)


def test_parts_of_a_lesson():
    own = lesson("tuples")
    train, test, known, new = own.parts.unbind(1)
    assert torch.equal(train, own.taught)
    assert torch.equal(train, ~test)
    assert torch.equal(known | new, test)
    a = tuples(torch.arange(125), 3, 5).tolist()
    for r in range(3):
        taught = {tuple(sorted(one)) for one, there in zip(a, train[r], strict=True) if there}
        for one, is_known, is_new in zip(a, known[r], new[r], strict=True):
            if is_known or is_new:
                assert bool(is_known) == (tuple(sorted(one)) in taught)


def test_batches_hold_training_inputs_alone_and_go_on_with_their_streams():
    own = lesson("tuples")
    streams = Streams(0, "fourier", "lesson", range(3))("batches")
    batches = own.batches(200, streams)
    first = next(batches)
    numbers = (first * torch.tensor([25, 5, 1])).sum(-1)
    assert own.taught.gather(1, numbers).all()
    kept = [one.get_state() for one in streams]
    second = next(batches)
    for one, state in zip(streams, kept, strict=True):
        one.set_state(state)
    assert torch.equal(next(own.batches(200, streams)), second)


def test_accuracies_of_one_who_knows_the_known(monkeypatch):
    monkeypatch.setattr("featlearn.fourier.grokking.AT_ONCE", 100)  # several blocks
    asked = torch.arange(0, 125, 2)
    own = lesson("tuples", asked)

    def answer(a):
        numbers = (a * torch.tensor([25, 5, 1])).sum(-1)
        at = torch.searchsorted(asked, numbers)
        right = (own.parts[:, 0] | own.parts[:, 2])[:, at]
        said = torch.where(right, a.sum(-1) % 5, (a.sum(-1) + 1) % 5)
        return torch.nn.functional.one_hot(said, 5)

    seen = own.accuracies(answer)
    assert seen["train"].tolist() == seen["known"].tolist() == [1, 1, 1]
    assert seen["new"].tolist() == [0, 0, 0]
    share = own.parts[:, 2].sum(1) / own.parts[:, 1].sum(1)
    assert torch.allclose(seen["test"], share)


def test_the_adder_reads_the_inputs_and_the_sign():
    shape = adder(2, 5, width=8, layers=1, heads=2, head_width=4, hidden=8)
    weights = start(shape, Streams(0, "fourier", "adder", range(2))("start"))
    a = torch.randint(5, (2, 6, 2), generator=generator("adder"))
    found = sums_said(shape, weights, a)
    assert found.shape == (2, 6, 5)
    expected = torch.stack([
        torch.nn.functional.cross_entropy(found[r], a[r].sum(-1) % 5) for r in range(2)
    ])  # fmt: skip
    assert torch.allclose(sum_losses(shape, weights, a), expected, atol=1e-6)
    # a network with positions tells orders apart
    assert not torch.allclose(found, sums_said(shape, weights, a.flip(-1)), atol=1e-3)


@pytest.mark.parametrize(("k", "p", "count", "layers"), [
    (2, 5, 25, 2), (3, 3, 12, 1), (3, 3, 27, 3), (4, 3, 5, 3),
])  # fmt: skip
def test_prefixes_that_are_computed_once_change_no_sum(k: int, p: int, count: int, layers: int):
    shape = adder(k, p, width=8, layers=layers, heads=2, head_width=4, hidden=8)
    weights = start(shape, Streams(0, "fourier", "adder", range(2))("start"))
    weights = {name: (w + 0.1).double().requires_grad_() for name, w in weights.items()}
    a = torch.randint(p, (2, count, k), generator=generator("prefixes"))
    tokens = torch.cat([a, torch.full((2, count, 1), p)], -1)
    plain = Decoder(shape, weights)(tokens, last=1)[:, :, 0]
    found = sums_said(shape, weights, a)
    assert torch.allclose(found, plain, atol=1e-12)
    toward = torch.randn_like(plain)
    slopes = [torch.autograd.grad((one * toward).sum(), list(weights.values()), allow_unused=True)
              for one in (found, plain)]  # fmt: skip
    for own, other in zip(*slopes, strict=True):
        assert torch.allclose(own, other, atol=1e-12)
    # the same inputs for all
    assert torch.allclose(sums_said(shape, weights, a[0])[0], plain[0], atol=1e-12)


def test_who_has_passed_does_so_for_good():
    nan = math.nan
    looks = [
        Look(0, {"train": torch.tensor([1, 0.5, 1]), "test": torch.tensor([0.0, 0, 0])}),
        Look(50, {"train": torch.tensor([0.5, 1, 1]), "test": torch.tensor([0.96, 0.94, 0])}),
        Look(100, {"train": torch.tensor([nan, 1, 1]), "test": torch.tensor([nan, 0.5, 0.9])}),
    ]
    both = partial(passed, ("train", "test"))
    assert both(looks[:1]).tolist() == [False, False, False]
    assert both(looks).tolist() == both(looks[:2]).tolist() == [True, False, False]
    # without a part there is no answer, however long
    assert not passed(["new"], [Look(0, {"new": torch.tensor([nan])})])


def test_passages_are_first_steps_or_censored():
    rows = [
        ("m", "s", replicate, step, part, value)
        for replicate, train, test in ((0, [0, 1, 0.5, 1], [0, 0, 0.96, 0.2]),
                                       (1, [0, 0, 0.99, 1], [0, 0, 0.1, 0.94]))
        for part, values in (("train", train), ("test", test))
        for step, value in zip((0, 10, 20, 30), values, strict=True)
    ]  # fmt: skip
    found = passages(pd.DataFrame(rows, columns=["model", "split", "replicate", "step", "part",
                                                 "value"]))  # fmt: skip
    assert found[["replicate", "part", "step", "censored"]].to_numpy().tolist() == [
        [0, "train", 10, False], [0, "test", 20, False],
        [1, "train", 20, False], [1, "test", 30, True],
    ]  # fmt: skip


def frames(answered: dict[str, tuple[int, int, int]], *, never: bool) -> dict[str, pd.DataFrame]:
    found = pd.DataFrame([
        (cell, split, "transformer", 0, part, step, never and part != "train")
        for cell, (test, known, new) in answered.items()
        for split, part, step in (("tuples", "train", 100), ("tuples", "test", test),
                                  ("mixed", "train", 100), ("mixed", "known", known),
                                  ("mixed", "new", new))
    ])  # fmt: skip
    names = ["cell", "split", "model", "replicate", "part", "step", "censored"]
    return {"passages": found.set_axis(names, axis=1)}


def test_what_never_answers_never_helps_a_claim():
    steps = {"two": (800, 400, 800), "three": (100, 200, 1600), "four": (100, 100, 800)}
    measures = {one.claim.split("/")[1]: one.measure for one in Grokking({})}
    for name, ended, never in (
        ("grokking-weakens", -3, NEVER - 3),
        ("grokking-weakens-on-new-sums", 0, 3 - NEVER),
        # permutations that are never answered have the last step
        ("new-sums-later", 3, 3),
    ):
        assert measures[name](frames(steps, never=False)).tolist() == [ended]
        assert measures[name](frames(steps, never=True)).tolist() == [never]

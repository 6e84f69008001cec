"""GemFilter: methods against enumerations and `transformers`, costs against formulas, metrics."""

import pytest
import torch

from featlearn.core.errors import FeatlearnError
from featlearn.core.run.config import load
from featlearn.core.seeds import Streams, generator
from featlearn.gemfilter import config as gemfilter_config
from featlearn.gemfilter import essays
from featlearn.gemfilter.experiments import essays as needles_in_essays
from featlearn.gemfilter.experiments import training
from featlearn.gemfilter.experiments.costs import counted, scaled
from featlearn.gemfilter.generation import Meter, answer, filtered, read
from featlearn.gemfilter.haystack import set_score
from featlearn.gemfilter.longbench import CLASSES, TASKS, score, write
from featlearn.gemfilter.needles import Vocabulary, draw, lesson
from featlearn.gemfilter.networks import OfTransformers, Ours
from featlearn.gemfilter.selection import Method, arms, gemfilter, pooled, row_of
from featlearn.gemfilter.wired import Wired
from featlearn.transformers.decoder import Decoder, Shape, start
from unit import ROOT, job_of

SHAPE = Shape(words=50, width=16, layers=3, heads=4, key_value_heads=2, head_width=6, hidden=20,
              norm="rms", activation="swiglu")  # fmt: skip


def ours(replicates: int = 1) -> Ours:
    streams = Streams(0, "gemfilter", "test", range(replicates))("start")
    return Ours(Decoder(SHAPE, start(SHAPE, streams)))


def network(kind: str):
    if kind == "wired":
        return Wired(50, (0, "test"), 32)
    if kind == "ours":
        return ours()
    transformers = pytest.importorskip("transformers")
    sizes = {"vocab_size": 50, "hidden_size": 24, "intermediate_size": 32, "num_hidden_layers": 3,
             "num_attention_heads": 4, "num_key_value_heads": 2, "max_position_embeddings": 256,
             "pad_token_id": 0, "eos_token_id": 49, "bos_token_id": 1}  # fmt: skip
    torch.manual_seed(0)
    config = getattr(transformers, f"{kind}Config")(**sizes)
    model = getattr(transformers, f"{kind}ForCausalLM")(config).eval().requires_grad_(False)
    return OfTransformers(model)


BACKENDS = ("ours", "wired", "Llama", "Mistral", "Phi3")
EVERY = [
    Method("gemfilter", 40, 1), Method("gemfilter", 40, 1, score="soft", first=1, last=2),
    Method("gemfilter", 40, 1, one_run=True), Method("snapkv", 40, window=8),
    Method("h2o", 40, window=8), Method("sinks", 40), Method("snapkv", 40, window=8, by_group=True),
]  # fmt: skip


@pytest.mark.parametrize("kind", BACKENDS)
def test_what_keeps_everything_is_plain_greedy_generation(kind):
    one = network(kind)
    tokens = torch.randint(2, 49, (2, 30), generator=generator("prompts"))
    plain = answer(one, tokens, Method("full"), 6).tokens
    if isinstance(one, OfTransformers):
        theirs = one.model.generate(tokens, max_new_tokens=6, do_sample=False, eos_token_id=None)
        assert torch.equal(plain, theirs[:, 30:])
    for method in EVERY:
        assert torch.equal(answer(one, tokens, method, 6).tokens, plain)


@pytest.mark.parametrize("kind", BACKENDS)
def test_one_reading_serves_all_methods(kind):
    one = network(kind)
    tokens = torch.randint(2, 49, (2, 40), generator=generator("reading"))
    reading = read(one, tokens, window=8, rows=("middle", "largest"), layer=1, mass=True)
    for method in arms(16, 8, 1, one.layers).values():
        alone = answer(one, tokens, method, 3)
        shared = answer(one, tokens, method, 3, reading=reading)
        assert torch.equal(alone.tokens, shared.tokens)
        for first, second in zip(alone.kept, shared.kept, strict=True):
            assert torch.equal(first, second)


@pytest.mark.parametrize("kernel", [1, 5])
@pytest.mark.parametrize("row", ["last", "middle", "largest"])
def test_selection_is_that_of_an_enumeration(kernel, row):
    draws = generator("enumeration", kernel)
    q, k = torch.randn(2, 4, 23, 6, generator=draws), torch.randn(2, 2, 23, 6, generator=draws)
    found = gemfilter(row_of(q, k, row), k, Method("gemfilter", 7, kernel=kernel, row=row), 1.0)
    for s in range(2):
        sums = [[sum(float(q[s, h, i].double() @ k[s, h // 2, j].double()) for h in range(4))
                 for j in range(23)] for i in range(23)]  # fmt: skip
        norms = [sum(value**2 for value in own) for own in sums]
        at = {"last": 22, "middle": 11, "largest": norms.index(max(norms))}[row]
        half = kernel // 2
        padded = [0.0] * half + sums[at] + [0.0] * half
        means = [sum(padded[j : j + kernel]) / kernel for j in range(23)]
        best = sorted(sorted(range(23), key=lambda j, m=means: (-m[j], j))[:7])
        assert found[s].tolist() == best


def test_pooling_counts_the_zeros_and_ties_go_to_the_earlier():
    scores = torch.zeros(1, 20)
    scores[0, [0, 10]] = 5
    expected = [1.0 if j in (0, 1, 2, 8, 9, 10, 11, 12) else 0.0 for j in range(20)]
    assert pooled(scores, 5)[0].tolist() == expected
    k = torch.ones(1, 1, 6, 2)
    kept = gemfilter(torch.ones(1, 1, 1, 2), k, Method("gemfilter", 3, kernel=1), 1.0)
    assert kept.tolist() == [[0, 1, 2]]


def test_costs_are_those_of_the_formulas():
    one, n, k, t = ours(), 60, 16, 5
    tokens = torch.randint(2, 49, (1, n), generator=generator("costs"))
    pair = 2 * SHAPE.shared * SHAPE.head_width * 4  # bytes of keys and values of a token
    meters = {}
    for method in (Method("full"), Method("snapkv", k, window=8, by_group=True),
                   Method("gemfilter", k, 1)):  # fmt: skip
        meters[method.kind] = meter = Meter()
        answer(one, tokens, method, t, meter=meter, evict=True)
        kept = n if method.kind == "full" else k
        assert meter.cache["generation"] == 3 * pair * (kept + t - 1)
    w = one.bytes_of(0)
    assert [meters[kind].weights["prompt"] for kind in meters] == [3 * w, 3 * w, 2 * w]
    assert meters["full"].cache["prompt"] == 3 * pair * n
    assert meters["snapkv"].cache["prompt"] == pair * n + 2 * pair * k  # the last layer is whole
    assert meters["gemfilter"].cache["prompt"] == pair * n
    # of a layer: its matrices for each token, and two products of attention
    matrices = 2 * sum(w.numel() for name, w in one.decoder.weights.items()
                       if name.startswith("0/") and w.ndim == 3)  # fmt: skip
    attention = 4 * SHAPE.heads * SHAPE.head_width
    whole = matrices * n + attention * n**2
    qkv = 2 * one.decoder.weights["0/qkv"].numel() * n
    last = qkv - 2 * (n - 1) * SHAPE.width * SHAPE.heads * SHAPE.head_width
    assert meters["gemfilter"].flops["prompt"] == pytest.approx(
        whole + last + 2 * SHAPE.shared * SHAPE.head_width * n, rel=1e-9
    )


@pytest.mark.parametrize("layer", [0, 4])
@pytest.mark.parametrize("kind", ["full", "snapkv", "gemfilter"])
def test_costs_of_many_layers_are_on_the_line_through_few(kind, layer):
    sizes = {"words": 50, "width": 16, "layers": 6, "heads": 4, "key_value_heads": 2,
             "head_width": 6, "hidden": 20}  # fmt: skip
    method = Method(kind, 16, layer, window=8, by_group=kind == "snapkv")
    whole = counted(sizes, method, 60, 4)
    assert scaled(sizes, method, 60, 4) == whole
    assert set(whole) >= {"prompt", "generation"}


def test_each_head_of_snapkv_chooses_its_own():
    one = ours()
    tokens = torch.randint(2, 49, (2, 40), generator=generator("sets"))
    kept = answer(one, tokens, Method("snapkv", 16, window=8), 2).kept
    assert [tuple(index.shape) for index in kept] == [(2, 4, 16)] * 3
    assert (kept[0][..., -8:] == torch.arange(32, 40)).all()
    assert filtered(one, tokens, Method("gemfilter", 16, 1)).shape == (2, 16)


@pytest.mark.parametrize(("change", "told"), [
    ({"kept": 8, "window": 8}, "kept: 8"), ({"kernel": 4}, "kernel: 4"),
])  # fmt: skip
def test_a_method_that_cannot_be_is_refused(change, told):
    with pytest.raises(ValueError, match=told):
        Method(**{"kind": "snapkv", "kept": 64, **change})
    with pytest.raises(ValueError, match="layer: 3; expected 0 to 2"):
        answer(ours(), torch.zeros(1, 4, dtype=torch.long), Method("gemfilter", 2, 3), 1)


@pytest.mark.parametrize("depth", [0.0, 0.5, 1.0])
def test_a_needle_is_where_it_is_said_to_be(depth):
    words = Vocabulary(8, 16, 20)
    prompts = draw(words, 60, depth, Streams(0, "gemfilter", "draw", range(5))("prompt"))
    start, end = prompts.span
    assert (prompts.tokens[:, start] == prompts.tokens[:, -1]).all()
    assert torch.equal(prompts.tokens[:, start + 1 : end], prompts.answer)
    assert start == 1 + int(depth * (57 - 5 + 1))
    assert ((prompts.tokens == prompts.tokens[:, -1:]).sum(1) == 2).all()
    with pytest.raises(ValueError, match="length: 20; expected at least 35"):
        draw(words, 20, depth, Streams(0, "gemfilter", "draw", range(1))("prompt"))


def test_a_lesson_asks_for_what_it_told():
    words = Vocabulary(8, 16, 20)
    tokens, targets = lesson(words, 32, 3, Streams(0, "gemfilter", "lesson", range(2))("x"))
    assert tokens.shape == (2, 3, 1 + 32 + 40)
    for row in tokens.flatten(0, 1).tolist():
        for place in targets.tolist()[::3]:
            at = row.index(row[place])
            assert row[at : at + 4] == row[place : place + 4]
            assert row[place - 1] == 1


def test_needles_stand_in_running_words_of_other_essays(tmp_path):
    for k in range(6):
        said = " ".join(f"word{j} the sea, essay{k} berlin." for j in range(130))
        (tmp_path / f"{k}.txt").write_text(said, encoding="utf-8")
    words = Vocabulary(4, 12, 140)
    text = essays.read(tmp_path, words)
    assert len(text.names) == words.size
    read = {text.names[token] for token in text.learned.tolist()}
    assert {"the", "essay0"} <= read
    # essays 2 and 5 are asked: their names are unknown words, as is a city
    asked = {text.names[token] for token in text.asked.tolist()}
    assert not {"essay2", "essay5", "berlin"} & {*asked, *read}
    assert int(text.asked.min()) >= words.first_value
    streams = Streams(0, "gemfilter", "essays", range(3))
    made = draw(words, 60, 0.5, streams("x")).tokens
    tokens = essays.filled(made, words.first_filler, text.asked, streams("y"))
    filler = made >= words.first_filler
    assert torch.equal(tokens[~filler], made[~filler])
    running = text.asked.unfold(0, 60, 1)
    for row, free in zip(tokens, filler, strict=True):
        assert (running[:, free] == row[free]).all(1).any()
    config = load({"scale": "smoke"}, ROOT)["gemfilter"]
    own = config["trained"] | config["essays"] | {
        "folder": str(tmp_path), "vocabulary": {"keys": 4, "values": 12, "fillers": 140},
        "depths": 3, "prompts": 2, "stages": [{"steps": 2, "longest": 16}], "replicates": 2,
    }  # fmt: skip
    found = needles_in_essays.measure(job_of(own))
    scores = found["scores"]
    assert {*scores["n"]} == {*own["lengths"]}
    assert {*scores["replicate"]} == {0, 1}
    assert scores["exact"].between(0, 1).all()
    told = found["texts"]["wanted"].str.split()
    assert told.explode().isin(text.names[6:18]).all()


def test_two_essays_are_too_few(tmp_path):
    for k in range(2):
        (tmp_path / f"{k}.txt").write_text("one", encoding="utf-8")
    with pytest.raises(FeatlearnError, match="at least 3 essays, got 2"):
        essays.read(tmp_path, Vocabulary(4, 12, 140))


def test_a_network_does_not_depend_on_the_others_of_its_job(monkeypatch):
    config = load({"scale": "smoke"}, ROOT)["gemfilter"]["trained"]

    def trained(together):
        monkeypatch.setattr(gemfilter_config, "TOGETHER", together)
        parts = [
            training.measure(job_of(config, wildcards={"group": str(group)}))
            for group in range(len(gemfilter_config.groups(config)))
        ]
        words = torch.cat([part["weights"]["words"] for part in parts])
        return words, sorted({one for part in parts for one in part["curves"]["replicate"]})

    (one, first), (several, second) = trained(5), trained(4)
    assert first == second == [0, 1, 2, 3, 4]
    torch.testing.assert_close(several, one, rtol=0, atol=1e-5)
    assert (one[0] - one[4]).abs().max() > 0.1


@torch.no_grad()
def test_the_hand_wired_network_finds_needles_and_a_wrong_row_does_not():
    words = Vocabulary(32, 64, 414)
    one = Wired(words.size, (1, "test"))
    prompts = draw(words, 256, 0.4, Streams(1, "gemfilter", "wired", range(8))("prompt"))

    def right(arm: str) -> float:
        found = answer(one, prompts.tokens, arms(64, 16, 3, 8)[arm], 3).tokens
        return (found == prompts.answer).all(1).float().mean().item()

    assert min(right("full"), right("snapkv"), right("safe")) >= 0.85
    assert right("gemfilter") >= 0.7
    assert max(right("gemfilter middle row"), right("gemfilter largest row")) <= 0.3


def test_the_scorer_of_needles_ends_at_eleven_twelfths():
    printed = {
        "The best thing to do in San Francisco is eat a sandwich.": 0.250,
        "Eat a sandwich at a deli in the Mission District.": 0.333,
        "Sit in Dolores Park on a sunny day and eat a sandwich.": 0.750,
    }
    for said, value in printed.items():
        assert set_score(said) == pytest.approx(value, abs=5e-4)


def test_metrics_are_those_of_the_benchmark():
    assert score("qasper", "The red, red house", ["a red house"]) == pytest.approx(80)
    assert score("gov_report", "a b c d", ["a x c d"]) == pytest.approx(75)
    assert score("trec", "class1\nclass2", ["class1"], CLASSES) == 100
    assert score("trec", "class1 class2", ["class1"], CLASSES) == 50
    assert score("passage_retrieval_en", "Paragraph 3, or 4", ["Paragraph 3"]) == 50
    assert score("passage_count", "none", ["3"]) == 0
    for task in TASKS:
        text = write(task, 200, generator("write", task))
        assert len(text.tokens) == 200
        assert score(task, text.answers[0], text.answers, CLASSES) == pytest.approx(100)

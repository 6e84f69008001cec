"""Chapter 5: closed forms against autograd, samples and enumeration; counter-examples."""

import gzip
from dataclasses import replace

import numpy as np
import pytest
import torch

from featlearn.core.errors import FeatlearnError
from featlearn.core.seeds import Streams
from featlearn.icl import documents, linear, parity, sentences, texts
from featlearn.icl import regression as theory
from featlearn.transformers.decoder import start

STREAMS = Streams(0, "icl", "test", range(2))
VALUES = theory.eigenvalues(8, 4, 2**-0.5)
EYE = torch.eye(8, dtype=theory.DTYPE)


# the best rank falls with the noise, from 5 to 0
GOLDEN = {  # directions, N, sigma: losses of ranks 0 .. 8
    (1, 20, 0): [4.0, 0.462006, 0.615472, 0.748655, 0.859372, 0.946887, 1.012275, 1.058312,
                 1.088862],
    (2, 1000, 2): [6.828427, 3.747536, 1.763391, 2.430259, 3.093631, 3.752104, 4.403741, 5.045893,
                   5.674978],
    (8, 1000, 0): [12.803301, 9.844809, 7.982740, 6.894509, 6.351429, 6.190989, 6.297166, 6.586419,
                   6.997677],
    (8, 1000, 8): [12.803301, 13.811413, 15.905495, 18.758701, 22.136392, 25.867770, 29.825366,
                   33.909969, 38.039352],
}  # fmt: skip


@pytest.mark.parametrize("given", GOLDEN)
def test_evaluation_losses_are_the_golden_ones(given):
    directions, pretrained, sigma = given
    w = (torch.arange(8) < directions).to(theory.DTYPE)
    found = [float(theory.evaluation(VALUES, w, r, pretrained, 16, sigma).total) for r in range(9)]
    np.testing.assert_allclose(found, GOLDEN[given], rtol=2e-6)
    covariance = VALUES.diag()
    for rank in range(9):  # by moments of any matrix
        a = theory.optimum(VALUES, EYE, rank, pretrained)
        other = theory.evaluation_of(a, covariance, w, 16, sigma)
        assert float(other) == pytest.approx(found[rank], rel=1e-10)


def test_golden_optima_shares_and_gaps():
    wanted = [6.4016504, 4.7488142, 3.6407851, 2.9109021, 2.4403336, 2.1445045, 1.9636893,
              1.8564084, 1.7946126]  # fmt: skip
    found = [float(theory.least_loss(VALUES, r, 20)) for r in range(9)]
    np.testing.assert_allclose(found, wanted, rtol=1e-7)
    shares = theory.shares(VALUES, 20)
    np.testing.assert_allclose(shares[[0, 7]], [0.2066045251, 0.9887323047], rtol=1e-9)
    # Theorem 5.4.3: what rank 6 loses against 2, with the task in the first two directions
    w = (torch.arange(8) < 2).to(theory.DTYPE)
    two, six = (theory.evaluation(VALUES, w, r, 20, 16, 1).total for r in (2, 6))
    more = (VALUES * shares)[2:6].square().sum()
    assert float(six - two) == pytest.approx(float((VALUES[:2].sum() + 1) * more / 16))


def test_the_loss_has_no_slope_at_the_optimum_and_its_least_value():
    basis = theory.rotation(8, STREAMS("basis")[0])
    covariance = basis * VALUES @ basis.T
    best = theory.optimum(VALUES, basis, 8, 20).requires_grad_()
    (slope,) = torch.autograd.grad(theory.loss(best, covariance, 20), best)
    assert slope.abs().max() < 1e-10
    for rank in (0, 3, 8):
        own = theory.optimum(VALUES, basis, rank, 20)
        assert float(theory.loss(own, covariance, 20)) == pytest.approx(
            float(theory.least_loss(VALUES, rank, 20)), rel=1e-10
        )


def test_literal_attention_is_the_reduced_form():
    prompts = theory.draw(VALUES, EYE, 5, 7, STREAMS("prompts"), sigma=0.5)
    a = torch.randn(8, 8, generator=STREAMS("a")[0], dtype=theory.DTYPE)
    value, key_query = torch.zeros(2, 9, 9, dtype=theory.DTYPE)
    value[8, 8], key_query[:8, :8] = 1, a
    literal = linear.attention(prompts.tokens, value, key_query)[..., -1, -1]
    torch.testing.assert_close(literal, linear.reduced(prompts, a))


def test_sampled_losses_are_the_closed_form_and_ranks_stay_in_training():
    w = torch.ones(8, dtype=theory.DTYPE)
    prompts = theory.draw(VALUES, EYE, 20000, 16, STREAMS("many"), w=w, sigma=2)
    a = theory.optimum(VALUES, EYE, 3, 20)
    found = (linear.reduced(prompts, a) - prompts.target).square().mean()
    assert float(found) == pytest.approx(
        float(theory.evaluation(VALUES, w, 3, 20, 16, 2).total), rel=0.05
    )
    recipe = linear.recipe({"steps": 5, "rate": 0.01})
    begun = linear.start([1, 3], 8, STREAMS("start"))
    weights = linear.trained("test", begun, VALUES, EYE, 10, 8, recipe, STREAMS("train"))
    assert torch.linalg.matrix_rank(linear.product(weights)).tolist() == [1, 3, 1, 3]


@pytest.mark.parametrize(("low", "high"), [(1, 2), (1, 3), (2, 4)])
def test_printed_networks_answer_with_hamming_distances(low, high):
    d = 2**high
    tasks = parity.pairs(d)
    for bits in (low, high):
        code = (tasks[:, 0] ^ tasks[:, 1]) & (2**bits - 1)
        wanted = torch.tensor([int(one).bit_count() for one in code], dtype=parity.DTYPE)
        found = parity.margins(parity.printed(bits, d, 0.1), 0.1)
        torch.testing.assert_close(found, wanted[:, None].expand(-1, 4))


@pytest.mark.parametrize("d", [4, 8, 16, 32])
def test_four_heads_zero_loss(d):
    assert float(parity.margins(parity.four(d, 0.2), 0.2).min()) == pytest.approx(1)


def test_lower_norm_than_printed():
    for heads, wanted in ((parity.lower_norm(0.1), 40), (parity.printed(2, 4, 0.1), 48)):
        found = parity.least_norm(heads, 0.1, parity.margins(heads, 0.1))
        assert float(found) == pytest.approx(wanted)


@pytest.mark.parametrize("bits", [1, 3])
def test_printed_networks_are_even_in_their_labels(bits):
    """Flipping all labels turns the read round and changes no answer."""
    drawn = parity.sample(8, (0, 1), 0.2, 16, 50, STREAMS("even")[0])
    heads = parity.printed(bits, 8, 0.2)
    assert parity.answers(heads, drawn.read).abs().max() > 0
    torch.testing.assert_close(
        parity.answers(heads, -drawn.read), parity.answers(heads, drawn.read)
    )


def test_full_matrices_on_all_queries():
    heads, d = parity.printed(2, 4, 0.1), 4
    full = parity.Heads(heads.a, torch.diag_embed(heads.v).flatten(-2))
    found = parity.full_margins(full, 0.1).unflatten(-1, (4, -1))
    torch.testing.assert_close(found, parity.margins(heads, 0.1)[..., None].expand_as(found))
    # a head by the definition, one query at a time
    v = torch.randn(1, d, d, generator=STREAMS("full")[0], dtype=parity.DTYPE)
    one = parity.Heads(torch.ones(1, dtype=parity.DTYPE), v.flatten(1))
    for own, queries, margins in zip(
        parity.pairs(d).tolist(), parity.queries(d), parity.full_margins(one, 0.1), strict=True
    ):
        assert len({tuple(query) for query in queries.tolist()}) == 2**d
        for query, margin in zip(queries, margins, strict=True):
            read = 0.2 * (v[0, own[0]] + v[0, own[1]]) @ query
            wanted = query[own].prod() * read.relu()
            assert float(margin) == pytest.approx(float(wanted))
    torch.testing.assert_close(parity.full_hinge(full, 0.1), parity.hinge(heads, 0.1))


def test_noise_terms_are_what_is_beside_the_signal():
    heads, task, gamma = parity.printed(3, 8, 0.2), (0, 1), 0.2
    stream = STREAMS("terms")[0]
    drawn = parity.sample(8, task, gamma, 64, 4000, stream)
    fresh = 2 * (torch.rand(4000, 64, 2, generator=stream) < 0.5).to(parity.DTYPE).mean(1) - 1
    terms = parity.noise_terms(heads, drawn, task, gamma, fresh)
    g = parity.answers(heads, drawn.read)
    signal = drawn.label  # times the Hamming distance of 0 and 1
    torch.testing.assert_close(g, signal + terms["others"] + terms["task"])
    torch.testing.assert_close(g, signal + terms["projected"] + terms["remainder"])
    # bits + 1 orthonormal directions of the eight: the ratio of Theorem 5.5.2
    few = parity.noise_terms(parity.printed(1, 8, 0.2), drawn, task, gamma, fresh)
    for own, directions in ((few, 2), (terms, 4)):
        assert float(own["energy"].mean() * 64) == pytest.approx(directions, rel=0.1)
    own = drawn.query[:, :2] * drawn.read[:, :2]
    assert float(own.mean()) == pytest.approx(2 * gamma, rel=0.05)


def test_tasks_and_probabilities():
    weights = parity.task_weights(8, 2, 0.3)
    assert float(weights.sum()) == pytest.approx(1)
    rare = ~parity.important(parity.pairs(8), 2)
    assert float(weights[rare].sum()) == pytest.approx(0.3)
    assert float((0.25 + 0.1 * parity.TILT).sum()) == pytest.approx(1)
    assert int(parity.projected(parity.printed(3, 8, 0.1))) == 4


def test_finite_prompts_tend_to_the_limit():
    drawn = parity.sample(8, (0, 1), 0.2, 1024, 500, STREAMS("parity")[0])
    assert float(parity.accuracy(parity.printed(1, 8, 0.2), drawn)) > 0.98
    # one head answers the signs of a task differently: a loss by their probabilities
    v = torch.zeros(1, 8, dtype=parity.DTYPE)
    v[0, :2] = torch.tensor([3.0, 1.0])
    head = parity.Heads(torch.ones(1, dtype=parity.DTYPE), v)
    drawn = parity.sample(8, (0, 1), 0.2, 1024, 4000, STREAMS("hinge")[0])
    lost = (1 - drawn.label * parity.answers(head, drawn.read)).relu().mean()
    assert float(lost) == pytest.approx(float(parity.hinge(head, 0.2)[0]), abs=0.05)


def test_flips_and_garbled_words():
    drawn = documents.draw(50, 5, STREAMS("documents")[0])
    labels = drawn.tokens[:, 2::3] - 3 * documents.FAMILY
    assert torch.equal(labels, drawn.meaning)
    flipped = documents.flipped(drawn, 2, STREAMS("flipped")[0])
    turned = flipped[:, 2::3] - 3 * documents.FAMILY
    assert torch.equal((turned != labels).sum(1), torch.full((50,), 2))
    assert torch.equal(turned[:, -1], labels[:, -1])
    assert len((turned != labels).float().mean(0)[:-1].nonzero()) == 4  # at all places
    other = documents.garbled(drawn, 2, STREAMS("garbled")[0])
    assert int((other != drawn.tokens).sum(1).max()) <= 2
    assert torch.equal(other[:, -3:], drawn.tokens[:, -3:])
    assert torch.equal(other[:, 2::3], drawn.tokens[:, 2::3])


@pytest.mark.parametrize(
    ("count", "inverted", "right"),
    [(0, 0.2, 1), (1, 0.2, 1), (2, 0.2, 1), (2, 0.8, 0), (3, 0.2, 0), (4, 0.2, 0), (4, 0, 1)],
)
def test_a_bayesian_follows_the_majority_of_labels(count, inverted, right):
    drawn = documents.draw(50, 5, STREAMS("documents")[0])
    tokens = documents.flipped(drawn, count, STREAMS("flipped")[0])
    assert float(documents.bayes(drawn, tokens, inverted)) == right


def test_template_is_the_printed_one(tmp_path):
    file = tmp_path / "sst.jsonl"
    file.write_text('{"text": "show us a good time", "label": 1}\n'
                    '{"text": "as dumb and cheesy", "label": 0}\n'
                    '{"text": "it \'s a charming journey", "label": 1}\n')  # fmt: skip
    own = texts.read(file)
    chosen = texts.Choice(np.array([0, 1]), 2, np.array([0, 1]))
    words = ["negative", "positive"]
    assert texts.prompt(own, chosen, words, 0) == (
        "sentence: show us a good time\nThe answer is positive.\n\n"
        "sentence: as dumb and cheesy\nThe answer is negative.\n\n"
        "sentence: it 's a charming journey\nThe answer is"
    )
    assert "good time\nThe answer is negative" in texts.prompt(own, chosen, words, 1)
    whole, spans = texts.with_irrelevant("so good", "Lucy has 12 apples.", "positive")
    assert [whole[a:b] for a, b in spans.values()] == ["Lucy has 12 apples.", "so good"]
    with pytest.raises(FeatlearnError, match="no such file"):
        texts.read(tmp_path / "none.jsonl")


def reviews(folder):
    """A small SST-2, and essays whose sentences are about the sea."""
    train = [f"{label}\t{word} film number {k} ." for k in range(8)
             for label, word in ((0, "dull"), (1, "great"))]  # fmt: skip
    asked = ["1\tgreat film again .", "0\tdull film again ."]
    (folder / "train.tsv.gz").write_bytes(
        gzip.compress("\r\n".join(["label\tsentence", *train, asked[0]]).encode())
    )
    (folder / "test.tsv").write_text("\n".join(["label\tcontent", *asked]), encoding="utf-8")
    for k in range(6):
        (folder / f"{k}.txt").write_text(f"Essay {k} is about the sea. It ends.", encoding="utf-8")
    return folder


def test_sentences_stand_for_words_and_keep_apart(tmp_path):
    folder = reviews(tmp_path)
    corpus = sentences.read(folder, folder, 20)
    # the review of the test is none to learn from; essays 2 and 5 are for tests
    assert [count for _, count in corpus.learned] == [8, 8, 4]
    assert [count for _, count in corpus.asked] == [1, 1, 2]
    stream = STREAMS("sentences")[0]
    drawn = documents.draw(40, 3, stream)
    said = sentences.write(drawn, corpus.learned, stream)
    first = [place for place, _ in corpus.learned]
    family = torch.bucketize(said.tokens, torch.tensor(first), right=True) - 1
    labels = drawn.tokens >= 3 * documents.FAMILY
    assert torch.equal(family[~labels], drawn.tokens[~labels] // documents.FAMILY)
    assert torch.equal(said.tokens[labels], drawn.tokens[labels])
    told = sentences.naive_bayes(corpus)
    for meaning, (place, count) in enumerate(corpus.asked[:2]):
        assert told[place : place + count].tolist() == [meaning] * count
    # who reads all reviews right follows the majority of labels as the Bayesian of words does
    for count in (0, 2):
        tokens = documents.flipped(said, count, STREAMS("flipped")[0])
        right = sentences.by_counting(said._replace(tokens=tokens), told, 0.2)
        assert float(right) == (count == 0)


def test_a_reader_sees_words_in_any_order_and_no_unknown_ones(tmp_path):
    folder = reviews(tmp_path)
    corpus = sentences.read(folder, folder, 20)
    bags = torch.tensor([[3, 4, 0], [4, 3, 0], [3, 3, 4], [1, 0, 0]])
    shape = replace(documents.shape_of({"layers": 1, "heads": 1, "width": 4}, 2),
                    words=corpus.words, outputs=2)  # fmt: skip
    reader = sentences.Reader(shape, start(shape, STREAMS("start")[:1]), bags)
    seen = reader.embed(torch.tensor([[[0, 1, 2]]])) - reader.weights["positions"][:, None, :3]
    torch.testing.assert_close(seen[0, 0, 0], seen[0, 0, 1])
    words = reader.weights["words"][0]
    torch.testing.assert_close(seen[0, 0, 0], (words[3] + words[4]) / 2**0.5)
    torch.testing.assert_close(seen[0, 0, 2], (2 * words[3] + words[4]) / 3**0.5)


def test_a_review_without_a_label_is_refused(tmp_path):
    folder = reviews(tmp_path)
    (folder / "test.tsv").write_text("label\tcontent\ngood\tgreat film", encoding="utf-8")
    with pytest.raises(FeatlearnError, match="label must be 0 or 1, got 'good'"):
        sentences.read(folder, folder, 20)
    (folder / "test.tsv").unlink()
    with pytest.raises(FeatlearnError, match=r"must be a folder with test\.tsv"):
        sentences.read(folder, folder, 20)

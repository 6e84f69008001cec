"""What holds for every test."""

from __future__ import annotations

import sys

import pytest

#: What the tiny Llama has tokens for.
WORDS = ["sentence", ":", "The", "answer", "is", "positive", "negative", ".", "good", "bad", "film",
         "Lucy", "has", "12", "apples"]  # fmt: skip


def pytest_runtest_setup(item):
    """A test's random numbers do not depend on which tests ran before it."""
    if "torch" in sys.modules:
        sys.modules["torch"].manual_seed(0)


@pytest.fixture(scope="session")
def tiny_llama(tmp_path_factory):
    """A folder with a random Llama of the library transformers, and its tokenizer."""
    transformers = pytest.importorskip("transformers")
    import torch
    from tokenizers import Tokenizer, models, pre_tokenizers

    where = tmp_path_factory.mktemp("llama")
    vocabulary = {word: k for k, word in enumerate(["<unk>", "<s>", *WORDS])}
    cut = Tokenizer(models.WordLevel(vocabulary, unk_token="<unk>"))
    cut.pre_tokenizer = pre_tokenizers.Whitespace()
    transformers.PreTrainedTokenizerFast(
        tokenizer_object=cut, unk_token="<unk>", bos_token="<s>"
    ).save_pretrained(where)
    torch.manual_seed(0)
    transformers.LlamaForCausalLM(transformers.LlamaConfig(
        vocab_size=len(vocabulary), hidden_size=16, intermediate_size=32, num_hidden_layers=2,
        num_attention_heads=2, max_position_embeddings=256,
    )).save_pretrained(where)  # fmt: skip
    return where

"""What holds for every test."""

import json
import sys

import pytest
from hypothesis import settings

# the same examples in each run, so that a failure is of the change at hand; others are tried with
# pytest --hypothesis-profile=default
settings.register_profile("steady", derandomize=True, database=None, deadline=None, max_examples=40)
settings.load_profile("steady")


#: Side by side go the modules of these, whose tests share what was run, and else tests.
TOGETHER = ("tests/workflow/", "tests/unit/test_data_parallel.py")


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    """``--dist loadgroup`` without the groups of pytest-xdist, which pytest 9.2 does not keep."""
    from xdist.scheduler import LoadScopeScheduling

    class ByModule(LoadScopeScheduling):
        def _split_scope(self, nodeid):
            module = nodeid.partition("::")[0]
            return module if module.startswith(TOGETHER) else nodeid

    return ByModule(config, log) if config.getvalue("dist") == "loadgroup" else None


def pytest_runtest_setup(item):
    """A test's random numbers do not depend on which tests ran before it, nor on the cores."""
    if "torch" in sys.modules:
        sys.modules["torch"].manual_seed(0)
        sys.modules["torch"].set_num_threads(1)


def pytest_runtest_teardown(item):
    """No figure of a test stays open: matplotlib warns of the twentieth in whatever test it is."""
    if "matplotlib.pyplot" in sys.modules:
        sys.modules["matplotlib.pyplot"].close("all")


@pytest.fixture(scope="session")
def tiny_bert(tmp_path_factory):
    """A folder with a random BERT of the library transformers, and its tokenizer."""
    transformers = pytest.importorskip("transformers")
    import torch

    where = tmp_path_factory.mktemp("bert")
    words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "good", "bad", "film", "book", "a", "the"]
    (where / "vocab.txt").write_text("\n".join(words))
    transformers.BertTokenizerFast(str(where / "vocab.txt")).save_pretrained(where)
    torch.manual_seed(0)
    transformers.BertModel(transformers.BertConfig(
        vocab_size=len(words), hidden_size=16, num_hidden_layers=2, num_attention_heads=2,
        intermediate_size=32,
    )).save_pretrained(where)  # fmt: skip
    return where


@pytest.fixture(scope="session")
def tiny_reader(tmp_path_factory):
    """A random Llama that writes all text back (``model``), essays and files like LongBench's."""
    transformers = pytest.importorskip("transformers")
    import numpy as np
    import torch
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors, trainers

    from featlearn.gemfilter import config, haystack
    from featlearn.gemfilter.words import TASKS

    where = tmp_path_factory.mktemp("reader")
    random = np.random.default_rng(0)
    words = ["the", "old", "boat", "sees", "a", "green", "hill", "and", "waits", "again"]
    text = " ".join(" ".join(random.choice(words, 7)) + "." for _ in range(60))
    for name in ("one", "two"):
        (where / f"{name}.txt").write_text(text)
    cut = Tokenizer(models.BPE())
    cut.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    cut.decoder = decoders.ByteLevel()
    cut.train_from_iterator([text, haystack.TEMPLATE], trainers.BpeTrainer(
        vocab_size=340, special_tokens=["<s>", "</s>"],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
    ))  # fmt: skip
    cut.post_processor = processors.TemplateProcessing(single="<s> $A", special_tokens=[("<s>", 0)])
    tokenizer = transformers.PreTrainedTokenizerFast(
        tokenizer_object=cut, bos_token="<s>", eos_token="</s>"
    )
    tokenizer.chat_template = (
        "{% for one in messages %}<{{ one.role }}>{{ one.content }}{% endfor %}<assistant>"
    )
    tokenizer.save_pretrained(where / "model")
    torch.manual_seed(0)
    transformers.LlamaForCausalLM(transformers.LlamaConfig(
        vocab_size=len(tokenizer), hidden_size=16, intermediate_size=32, num_hidden_layers=3,
        num_attention_heads=4, num_key_value_heads=2, max_position_embeddings=4096,
        bos_token_id=0, eos_token_id=1,
    )).save_pretrained(where / "model")  # fmt: skip
    (where / "bench").mkdir()
    tasks = [task for task in TASKS if task != "average"]
    templates = dict.fromkeys(tasks, "Read {context} and say {input}:")
    (where / "bench" / config.TEMPLATES).write_text(json.dumps(templates))
    row = {"context": text[:300], "input": "who waits", "answers": ["the boat 3"],
           "all_classes": None}  # fmt: skip
    for task in tasks:
        (where / "bench" / f"{task}.jsonl").write_text(f"{json.dumps(row)}\n" * 3)
    return where

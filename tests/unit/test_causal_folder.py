"""Causal models of the library transformers in a folder: a tiny random Llama made here."""

import json

import pytest
import torch

from featlearn.core.errors import FeatlearnError
from featlearn.transformers import causal
from featlearn.transformers.folder import load

transformers = pytest.importorskip("transformers")


@pytest.fixture(scope="module")
def folder(tiny_llama):
    return tiny_llama


def test_scores_in_batches_are_those_one_by_one(folder):
    model, tokenizer = load(folder)
    prompts = ["sentence : good film The answer is", "sentence : bad The answer is",
               "sentence : good . sentence : bad film . The answer is"]  # fmt: skip
    words = [" negative", " positive good"]
    found = causal.log_probabilities(model, tokenizer, prompts, words, 4)
    for row, prompt in enumerate(prompts):
        for column, word in enumerate(words):
            tokens = torch.tensor([tokenizer(prompt + word)["input_ids"]])
            after = len(tokenizer(prompt)["input_ids"])
            logits = model(input_ids=tokens).logits[0].log_softmax(-1)
            own = sum(float(logits[k - 1, tokens[0, k]]) for k in range(after, tokens.shape[1]))
            assert float(found[row, column]) == pytest.approx(own, abs=1e-5)


def test_refused_folders(folder, tmp_path):
    with pytest.raises(FeatlearnError, match="no such folder"):
        load(tmp_path / "none")
    with pytest.raises(FeatlearnError, match=r"config\.json"):
        load(tmp_path)
    (tmp_path / "config.json").write_text("{}")
    (tmp_path / "pytorch_model.bin").write_text("")
    with pytest.raises(FeatlearnError, match="is a pickle"):
        load(tmp_path)
    for file in folder.iterdir():
        (tmp_path / file.name).write_bytes(file.read_bytes())
    config = json.loads((folder / "config.json").read_text())
    (tmp_path / "config.json").write_text(json.dumps({**config, "auto_map": {"AutoModel": "x.Y"}}))
    with pytest.raises(FeatlearnError, match="auto_map"):
        load(tmp_path)
    (tmp_path / "config.json").write_text(json.dumps({**config, "num_hidden_layers": 3}))
    with pytest.raises(FeatlearnError, match="have no value that fits"):
        load(tmp_path)

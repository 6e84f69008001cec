"""GemFilter on language models in a folder: a tiny Llama, its tokenizer and texts made here."""

import json
from pathlib import Path

import pytest
import torch

from featlearn.core.errors import FeatlearnError
from featlearn.core.run.config import fill_defaults, read_schema
from featlearn.gemfilter import benchmark, config, haystack
from featlearn.gemfilter.experiments import costs, longbench
from featlearn.gemfilter.generation import Meter, answer
from featlearn.gemfilter.longbench import TASKS
from featlearn.gemfilter.selection import Method
from featlearn.gemfilter.stands import model_of
from featlearn.transformers import causal
from featlearn.transformers.folder import load
from unit import ROOT, job_of

pytest.importorskip("transformers")


@pytest.fixture(scope="module")
def section(tiny_reader):
    schema = read_schema(ROOT / "workflow/schemas")
    gems = fill_defaults({}, schema["properties"]["gemfilter"], schema, start=True)
    gems["language"] |= {
        "models": {"tiny": {"folder": str(tiny_reader / "model"), "filter_layer": 1}},
        "haystack": str(tiny_reader), "longbench": str(tiny_reader / "bench"),
        "lengths": [420, 520], "kept": [48, 64], "window": 8, "steps": 4, "samples": 2,
        "longest": 120, "longest_of_h2o": 80, "layers": [0, 2, 9],
    }  # fmt: skip
    return gems


@pytest.mark.parametrize("leak", [False, True])
@pytest.mark.parametrize("depth", [0.0, 0.5, 1.0])
def test_a_needle_stands_at_the_end_of_a_sentence(section, depth, leak):
    own = section["language"]
    _, tokenizer = load(Path(own["models"]["tiny"]["folder"]))
    text = haystack.read(Path(own["haystack"]))
    assert text.count(".") == 120
    essays = haystack.essays(tokenizer, text, 900, leak_bos=leak)
    assert len(essays) == 900
    prompt = haystack.write(tokenizer, essays, 900, depth, leak_bos=leak)
    start, end = prompt.span
    said = tokenizer.decode(prompt.tokens[start:end])
    assert said.strip() == haystack.NEEDLE.strip()
    before = prompt.text[: prompt.text.index(haystack.NEEDLE.strip())].rstrip("\n")
    book = before.removesuffix("<s>").split("<book> ")[1].removeprefix("<s>")
    assert book == "" if depth == 0 else book.endswith(".") or depth == 1
    inside = haystack.essays(tokenizer, text, 900 - haystack.BUFFER - (end - start))
    share = len(tokenizer(book, add_special_tokens=False)["input_ids"]) / len(inside)
    assert depth - 0.15 < share < depth + 0.05
    # the text is cut again: one BOS in front, and those that leaked
    assert prompt.tokens.count(0) == 1 + (2 if leak else 0)
    assert (prompt.tokens[start - 1] == 0 or prompt.tokens[start - 2] == 0) == leak
    assert 700 - 60 < len(prompt.tokens) < 900


def test_with_all_tokens_kept_a_needle_is_answered_as_by_generate(section):
    own = config.reader(section, "tiny")
    network, tokenizer, stop = model_of(own, "cpu")
    text = haystack.read(Path(own["haystack"]))
    essays = haystack.essays(tokenizer, text, 420)
    tokens = torch.tensor([haystack.write(tokenizer, essays, 420, 0.5).tokens])
    theirs = network.model.generate(tokens, max_new_tokens=5, do_sample=False)[:, tokens.shape[1] :]
    found = answer(network, tokens, Method("gemfilter", 1000, 1), 5, stop=stop).tokens
    assert torch.equal(found, theirs)


def test_a_folder_with_a_name_is_no_model_of_the_thesis(section, tiny_reader):
    named = {"llama-3.1-8b": {"folder": str(tiny_reader / "model"), "filter_layer": 1}}
    gems = {**section, "language": {**section["language"], "models": named}}
    assert not config.met(gems, named)
    gems["costs"] = {"models": {"llama-3.1-8b": config.sizes(named["llama-3.1-8b"])}}
    needs = {"llama-3.1-8b-instruct", "needle-in-a-haystack", "longbench"}
    assert config.met(gems, named) == needs


def test_costs_of_a_folder_are_those_of_its_run(section):
    own = config.reader(section, "tiny")
    found = config.sizes(section["language"]["models"]["tiny"])
    network, _, _ = model_of(own, "cpu")
    for method in (Method("full"), Method("gemfilter", 40, 1)):
        meter = Meter()
        answer(network, torch.arange(2, 82)[None], method, 3, meter=meter, evict=True)
        counted = costs.scaled(found, method, 80, 3)
        for phase, flops in meter.flops.items():
            assert counted[phase]["flops"] == flops
            # two bytes a number against four
            assert 2 * counted[phase]["weights"] == meter.weights[phase]
            assert 2 * counted[phase]["cache"] == meter.cache[phase]


def test_tasks_of_a_folder(section, monkeypatch):
    short = {task: kind._replace(budget=2) for task, kind in TASKS.items()}
    monkeypatch.setattr(longbench, "TASKS", short)
    own = config.reader(section, "tiny")
    assert config.readers(section, "longbench") == ["tiny"]
    job = job_of(own, wildcards={"network": "tiny"}, tensors=None, output={})
    tasks = longbench.measure(job)["tasks"]
    assert set(tasks["task"]) == set(TASKS)
    assert tasks["replicate"].max() == 1
    assert set(tasks.loc[tasks["framed"], "group"]) == {"single", "multi"}
    assert set(tasks.loc[tasks["swept"], "layer"]) == {0, 1, 2}
    assert set(tasks.loc[tasks["chosen"] & (tasks["arm"] == "gemfilter"), "layer"]) == {1}


def test_long_prompts_lose_their_middle_and_chats_are_framed(section):
    _, tokenizer = load(Path(section["language"]["models"]["tiny"]["folder"]))
    whole = "start " + "the boat waits. " * 60 + "the end"
    cut = benchmark.tokens_of(tokenizer, whole, 40)
    said = tokenizer.decode(cut, skip_special_tokens=True)
    assert len(cut) <= 44
    assert (said[:5], said[-7:]) == ("start", "the end")
    framed = tokenizer.decode(benchmark.tokens_of(tokenizer, "who waits", 40, chat=True))
    assert framed == "<system><user>who waits<assistant>"


def test_a_damaged_line_is_named(section, tmp_path):
    (tmp_path / config.TEMPLATES).write_text('{"qasper": "{context}{input}"}')
    (tmp_path / "qasper.jsonl").write_text('{"context": "x"}\n')
    with pytest.raises(FeatlearnError, match=r"qasper\.jsonl, line 1: KeyError\('input'\)"):
        list(benchmark.samples(tmp_path, "qasper", 5))
    with pytest.raises(FeatlearnError, match="no template of trec"):
        list(benchmark.samples(tmp_path, "trec", 5))


def test_scores_in_batches_are_those_one_by_one(tiny_reader):
    model, tokenizer = load(tiny_reader / "model")
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


def test_refused_folders(tiny_reader, tmp_path):
    folder = tiny_reader / "model"
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
    (tmp_path / "config.json").write_text(json.dumps({**config, "num_hidden_layers": 4}))
    with pytest.raises(FeatlearnError, match="have no value that fits"):
        load(tmp_path)

"""Fine-tuning, adapters on frozen features, and Proposition F.9."""

from __future__ import annotations

import json
import types
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import torch
from PIL import Image

from featlearn.core.errors import FeatlearnError
from featlearn.core.files import write_tensors
from featlearn.core.seeds import Streams, seeded
from featlearn.images.encoders import build_encoder
from featlearn.transformers import folder, sentences
from featlearn.universality import config as universality_config
from featlearn.universality.adapters import Cached, nt_xent, scored, train_adapters
from featlearn.universality.data import draw_world
from featlearn.universality.experiments import foundation
from featlearn.universality.finetuning import batches, resumed, scores, tune
from featlearn.universality.frozen import read_texts
from featlearn.universality.labelled import labelled
from featlearn.universality.linear import Mixture
from featlearn.universality.methods import start, unit
from featlearn.universality.regularised import canonical, predicted, projected, regularised
from featlearn.universality.tables import foundation as tables

STREAMS = Streams(0, "universality", "tests", range(2))


def _state(width: int) -> dict[str, torch.Tensor]:
    begun = start(width, 16, 4, STREAMS("start"))
    state = {f"{part}/{key}": value for part in ("encoder", "slow") for key, value in begun.items()}
    state["queue"] = unit(torch.randn(2, 8, 4, generator=torch.Generator().manual_seed(0)))
    return state


@pytest.mark.parametrize("weight", [0.0, 0.1])
def test_fine_tuning_learns_few_labels_and_sees_no_others(weight: float) -> None:
    world = draw_world((2, 2, 3), 2, 3, STREAMS("world"))
    target = labelled(world, 0, 40, STREAMS("labelled"))
    spoilt = target._replace(classes=target.classes.clone())
    spoilt.classes[:, 6:] = 0
    heads = []
    for one in (target, spoilt):
        method = resumed(_state(world.width), 1)
        stream = batches(world, one, [6], 1, 8, STREAMS("batches"), 2 if weight else 1)
        heads.append((method, tune(method, 3, weight, stream, 60, 1e-2)))
    method, head = heads[0]
    right = scores(method, head, target.views).argmax(-1) == target.classes
    assert right[:, :6].float().mean() > 0.9
    assert torch.equal(head["weight"], heads[1][1]["weight"])


def test_batches_of_fewer_labels_are_the_first_samples() -> None:
    world = draw_world((2, 2, 3), 2, 3, STREAMS("world"))
    target = labelled(world, 0, 40, STREAMS("labelled"))
    y, one, two = next(batches(world, target, [1, 40], 3, 5, STREAMS("batches"), 2))
    assert y.shape == (12, 5)
    assert one.shape == two.shape == (12, 5, world.width)
    assert (y[:6] == target.classes[:, 0].repeat(3)[:, None]).all()


def test_nt_xent_is_its_definition() -> None:
    torch.manual_seed(0)
    a, b = torch.randn(1, 5, 4), torch.randn(1, 5, 4)
    z = unit(torch.cat([a, b], 1))[0]
    wanted = 0.0
    for i in range(10):
        others = [j for j in range(10) if j != i]
        logits = (z[i] @ z[others].T) / 0.5
        wanted += (logits.logsumexp(0) - z[i] @ z[(i + 5) % 10] / 0.5).item() / 10
    assert nt_xent(a, b)[0].item() == pytest.approx(wanted, abs=1e-5)
    torch.manual_seed(0)
    both = [torch.randn(16, 8)[None] for _ in range(2)]
    assert nt_xent(*both).item() == pytest.approx(3.5400, abs=1e-4)  # of two other codings


def test_adapters_learn_and_a_contrast_asks_for_two_copies() -> None:
    random = torch.Generator().manual_seed(1)
    x = torch.randn(2, 30, 6, generator=random)
    y = (x[..., 0] > 0).long()
    cached = Cached(x[:, None].repeat(1, 2, 1, 1), dict.fromkeys(("train", "test"), (x, y)), 2)
    cached = cached.standardised()
    assert cached.parts["train"][0].mean(1).abs().max() < 1e-5
    weights = train_adapters(cached, [5, 30], 2, 1.0, (16, 16, 80, 1e-2), STREAMS("adapters"))
    right = scored(weights, cached.parts["train"][0].repeat(2, 1, 1)).argmax(-1) == y.repeat(2, 1)
    assert right[2:].float().mean() > 0.95
    assert right[:2, :5].float().mean() > 0.9
    with pytest.raises(ValueError, match="two or more"):
        train_adapters(cached, [5], 1, 1.0, (4, 4, 1, 1e-2), STREAMS("adapters"))


def test_a_folder_of_weights_and_folders_of_pictures(tmp_path) -> None:
    random = np.random.default_rng(0)
    for split, count in (("train", 12), ("validation", 6), ("test", 6)):
        for name, level in (("dark", 40), ("light", 200)):
            (tmp_path / "data" / split / name).mkdir(parents=True)
            for number in range(count):
                pixels = (level + random.integers(-30, 30, (16, 16, 3))).astype(np.uint8)
                Image.fromarray(pixels).save(tmp_path / "data" / split / name / f"{number}.png")
    (tmp_path / "data" / "train" / "dark" / "broken.png").write_bytes(b"no picture")  # is left out
    settings = {"kind": "small_resnet", "widths": [4]}
    with seeded(0, "tests"):
        encoder = build_encoder(settings, 16)
    write_tensors(encoder.state_dict(), tmp_path / "weights.safetensors")
    model = {
        "encoder": settings, "weights": str(tmp_path / "weights.safetensors"),
        "augmentation": {"preset": "flip-crop"},
        "targets": {"shades": {"kind": "folder", "path": str(tmp_path / "data"), "size": 16}},
    }  # fmt: skip
    found, config = _adapted(tmp_path, model)
    assert set(found["target"]) == {"shades"}
    before = universality_config.foundation_state(config)
    assert before == universality_config.foundation_state(config)
    (tmp_path / "data" / "test" / "dark" / "0.png").unlink()
    assert before != universality_config.foundation_state(config)


def _adapted(tmp_path: Path, model: dict[str, Any]) -> tuple[pd.DataFrame, dict[str, Any]]:
    """Accuracies on frozen features of a model from files, and the config they were asked by."""
    config = {"models": {"small": model}, "tasks": [0], "copies": [1, 2], "weight": 1, "width": 8,
              "batch": 8, "steps": 20, "rate": 0.01, "deals": 2}  # fmt: skip
    assert not list(universality_config._foundation_faults(config, 8))
    job = types.SimpleNamespace(
        config=config, seed=0, device="cpu", tell=lambda words: None,
        params={"ladders": {"penalties": [0.1]}, "cache": "cache"},
        results=tmp_path,
    )  # fmt: skip
    found = foundation.measure(job)["adapters"]
    assert set(found["method"]) == {"LP", "FT", "Ours"}
    probe = found[(found["method"] == "LP") & (found["percent"] == 100)]
    assert probe["value"].min() > 0.9
    return found, config


def test_a_folder_with_an_encoder_of_texts(tmp_path) -> None:
    transformers = pytest.importorskip("transformers")
    words = ["good", "bad", "film", "book", "a", "the"]
    where = tmp_path / "bert"
    where.mkdir()
    (where / "vocab.txt").write_text("\n".join(["[PAD]", "[UNK]", "[CLS]", "[SEP]", *words]))
    transformers.BertTokenizerFast(str(where / "vocab.txt")).save_pretrained(where)
    torch.manual_seed(0)
    transformers.BertModel(transformers.BertConfig(
        vocab_size=10, hidden_size=16, num_hidden_layers=2, num_attention_heads=2,
        intermediate_size=32,
    )).save_pretrained(where)  # fmt: skip
    (tmp_path / "texts").mkdir()
    random = np.random.default_rng(0)
    for part, count in (("train", 24), ("validation", 12), ("test", 12)):
        rows = [{"text": " ".join([*random.choice(words[2:], number % 3), words[number % 2]]),
                 "label": 1 - number % 2} for number in range(count)]  # fmt: skip
        lines = "\n".join(json.dumps(row) for row in rows)
        (tmp_path / "texts" / f"{part}.jsonl").write_text(lines)
    model = {"encoder": {"kind": "text"}, "weights": str(where), "augmentation": {},
             "targets": {"reviews": {"path": str(tmp_path / "texts")}}}  # fmt: skip
    found, config = _adapted(tmp_path, model)
    assert set(found["copies"]) == {1, 2}
    quoted = {"table-f-8": {"rows": [{"target": "IMDB", "method": "LP", "column": "1 %",
                                      "paper_value": 79.7}]}}  # fmt: skip
    shown = tables.by_share(found, quoted, config, "table-f-8", 0).shown
    assert shown["row"].str.startswith("small: reviews").any()

    loaded = folder.load_encoder(where)
    texts = ["a good film", "bad", "the book"]
    together = sentences.features(loaded, texts)
    alone = torch.cat([sentences.features(loaded, [text]) for text in texts])
    assert together.numpy() == pytest.approx(alone.numpy(), abs=1e-5)
    copies = [sentences.features(loaded, texts, dropout=("copy", k)) for k in (0, 0, 1)]
    assert torch.equal(copies[0], copies[1])
    assert not torch.equal(copies[0], copies[2])
    assert not torch.equal(copies[0], together)
    (tmp_path / "texts" / "test.jsonl").write_text('{"text": "a"}')
    with pytest.raises(FeatlearnError, match=r"test\.jsonl.*label"):
        read_texts(str(tmp_path / "texts"))


def test_projection_onto_both_balls() -> None:
    random = np.random.default_rng(0)
    centre = canonical(Mixture.even(2, 2, 2))
    near = projected(centre + random.standard_normal(centre.shape), centre, 0.7)
    assert np.linalg.norm(near - centre) <= 0.7 + 1e-9
    assert np.linalg.norm(near, 2) <= 1 + 1e-9
    assert projected(centre, centre, 0.7) == pytest.approx(centre, abs=1e-12)


def test_proposition_f_9() -> None:
    found = regularised(Mixture.even(4, 4, 4), 0.5, np.random.default_rng(5))
    assert predicted(4, 4, 0.5) == pytest.approx(0.5625)
    assert found[:4] == pytest.approx(1, abs=5e-3)
    assert found[4:8].mean() == pytest.approx(0.5625, abs=5e-3)
    assert found[8:] == pytest.approx(0.25, abs=1e-6)

"""Tables of chapters 6 and 7 of folders of domains and of weights, from a config of a few lines."""

import json
import re
from pathlib import Path

import pandas as pd
import pytest
import torch

from featlearn.core.seeds import seeded
from featlearn.images.encoders import build_encoder
from image_folders import grow

pytestmark = pytest.mark.long
VIT = {"kind": "vit", "patch": 4, "width": 16, "depth": 1, "heads": 2, "positions": "sin_cos"}
DATA = {"kind": "folder", "path": "pictures", "size": 8}
DOMAINS = {"made": "folders", "name": "PACS", "data": {**DATA, "path": "domains"}}
ENCODER = {
    "encoder": VIT,
    "weights": "weights/moco.pth.tar",
    "targets": dict.fromkeys(("CIFAR-10", "SVHN", "GTSRB"), DATA),
}
BIRDS = "MoCo v3 ViT-S on ImageNet-Bird"
OF_BIRDS = {**ENCODER, "targets": {"ImageNet-Bird": DATA}, "labels": [6, 12]}
FOUNDATION = {"models": {"MoCo v3": ENCODER, BIRDS: OF_BIRDS}, "copies": [1, 10, 100]}
SETTINGS = {
    "run": "own",
    "papers": ["nuclear", "universality"],
    "nuclear": {"domains": {"domains": DOMAINS}},
    "universality": {"foundation": FOUNDATION},
}


def two_classes(root: Path, count: int) -> None:
    """Dark and light pictures, and one that is none."""
    grow(root, {"dark": 40, "light": 200}, count)
    (root / "dark" / "broken.png").write_bytes(b"no picture")


@pytest.fixture(scope="module")
def checkout(fresh):
    made = fresh()
    for domain in ("art", "photo", "sketch"):
        two_classes(made / "domains" / domain, 10)
    for part in ("train", "validation", "test"):
        two_classes(made / "pictures" / part, 8)
    with seeded(0, "weights"):
        encoder = build_encoder(VIT, 8)
    weights = {f"module.base_encoder.{name}": value for name, value in encoder.state_dict().items()}
    weights |= {"module.momentum_encoder.norm.bias": torch.ones(16)}
    (made / "weights").mkdir()
    torch.save({"epoch": 300, "state_dict": weights}, made / "weights/moco.pth.tar")
    return made


def test_folders_make_the_tables_of_their_names(checkout):
    tables = [f"nuclear/tables/table-e-{number}.md" for number in (2, 1)]
    tables += [f"universality/tables/table-f-{number}.md" for number in (7, 6, 2)]
    targets = [f"results/own/{name}" for name in tables]
    told = checkout.snakemake(*targets, changes=SETTINGS).well()
    assert told.finished["nuclear_domains"] == told.finished["universality_foundation"] == 1
    assert told.text.count("images cannot be used") >= 4
    # encoders from files ask for no network of the run
    assert "universality_ladders" not in told.finished
    said = []
    for name in tables:
        record = checkout / f"results/own/provenance/{name}.json"
        said.append(json.loads(record.read_text())["contains"])
    # a folder with a name is no benchmark
    assert said == ["stand-in"] * 5
    seen = pd.read_parquet(checkout / "results/own/nuclear/measurements/domains/accuracies.parquet")
    assert {"art", "photo", "sketch"} <= set(seen["domain"])
    assert "here: sketch" in (checkout / targets[0]).read_text()
    adapted = pd.read_parquet(
        checkout / "results/own/universality/measurements/foundation/adapters.parquet"
    )
    assert set(adapted["target"]) == {*ENCODER["targets"], "ImageNet-Bird"}
    frame = pd.read_parquet(checkout / targets[2].replace(".md", ".parquet"))
    printed = frame[frame["paper_value"].notna()]
    assert printed["measured"].notna().all()
    other = pd.read_parquet(checkout / targets[3].replace(".md", ".parquet"))
    clip = other[other["paper_value"].notna()]  # whose encoder is not there
    assert clip["measured"].isna().all()
    assert {"SVHN, raw input", "SVHN, untrained", "SVHN, chance"} <= set(frame["row"])
    birds = (checkout / targets[4]).read_text()
    assert "ImageNet-Bird, 12 labels" in birds
    assert "random features" in birds


@pytest.mark.parametrize("lost", ["domains", "weights/moco.pth.tar", "pictures"])
def test_a_path_that_leads_nowhere_is_told_by_the_plan(checkout, lost):
    away = checkout / "away"
    (checkout / lost).rename(away)
    try:
        told = checkout.snakemake("--dry-run", changes=SETTINGS)
    finally:
        away.rename(checkout / lost)
    pattern = rf"\.\S+ must be .*, got .?{re.escape(lost)}|: {re.escape(lost)}: no such"
    assert re.search(pattern, told.refused())
    assert "Building DAG" not in told.text

"""PASCAL VOC from files to tables: several classes an image, and boxes, from two given weights."""

import numpy as np
import pandas as pd
import torch
from PIL import Image
from safetensors.torch import save_file

from featlearn.images.encoders import build_encoder

SETTINGS = """
run: voc
papers: []
real_images:
  voc:
    data: {kind: voc0712, path: data, size: 32, resize: pad}
    replicates: 1
    label_fractions: [1.0]
    encoder: {small_resnet: {widths: [4, 8], stem_stride: 1}}
    pretrain: false
    weights: {supervised: one.safetensors}
    finetuning: {training: {steps: 2, batch_size: 4}}
    detection:
      detector: {head_width: 8, proposals: 8, sampled_anchors: 8, sampled_regions: 8}
      training: {steps: 2, batch_size: 4}
"""
TABLES = [f"results/voc/own_images/tables/{name}.md" for name in ("accuracy", "detection")]
OBJECT = (
    "<object><name>{}</name><difficult>{}</difficult><bndbox><xmin>{}</xmin><ymin>{}</ymin>"
    "<xmax>{}</xmax><ymax>{}</ymax></bndbox></object>"
)
COLOURS = {"dog": (200, 30, 30), "cat": (30, 200, 30), "boat": (30, 30, 200)}


def draw(root, year: int, split: str, names: list[str]) -> None:
    """Coloured boxes on grey, class by colour; every third one is difficult."""
    folder = root / "VOCdevkit" / f"VOC{year}"
    for part in ("JPEGImages", "Annotations", "ImageSets/Main"):
        (folder / part).mkdir(parents=True, exist_ok=True)
    stream = np.random.default_rng([year, len(names)])
    for number, name in enumerate(names):
        pixels = stream.integers(90, 110, (30, 40, 3), dtype=np.uint8)
        objects = ""
        for place in range(1 + number % 2):
            kind = list(COLOURS)[(number + place) % 3]
            left, top = 20 * place + int(stream.integers(0, 6)), int(stream.integers(0, 12))
            pixels[top : top + 14, left : left + 14] = COLOURS[kind]
            box = (left + 1, top + 1, left + 14, top + 14)
            objects += OBJECT.format(kind, int((number + place) % 3 == 2 and place), *box)
        Image.fromarray(pixels).save(folder / "JPEGImages" / f"{name}.jpg", quality=95)
        text = f"<annotation>{objects}</annotation>"
        (folder / "Annotations" / f"{name}.xml").write_text(text)
    (folder / "ImageSets" / "Main" / f"{split}.txt").write_text("\n".join(names) + "\n")


def test_a_tiny_voc_gives_precisions_of_classification_and_of_detection(fresh):
    checkout = fresh()
    torch.manual_seed(0)
    encoder = build_encoder({"kind": "small_resnet", "widths": [4, 8], "stem_stride": 1}, 32)
    save_file(encoder.state_dict(), checkout / "one.safetensors")
    options = {"configfile": None, "changes": SETTINGS}
    draw(checkout / "data", 2007, "trainval", [f"00000{n}" for n in range(6)])
    draw(checkout / "data", 2007, "test", [f"00001{n}" for n in range(6)])
    draw(checkout / "data", 2012, "trainval", [f"2008_00000{n}" for n in range(6)])
    told = checkout.snakemake(*TABLES, **options).well()
    assert told.finished["own_images_downstream"] == told.finished["own_images_detection"] == 2
    assert "own_images_pretrain" not in told.finished
    made = checkout / "results/voc/own_images"
    summary = pd.read_parquet(made / "measurements/voc/summary.parquet")
    assert set(summary["class"]) >= set(COLOURS)
    table = pd.read_parquet(made / "tables/accuracy.parquet")
    assert set(table["quantity"]) == {"mean average precision"}
    assert set(table["method"]) == {"from scratch", "random", "supervised"}
    assert set(table["evaluation"]) == {"fine-tuned", "linear probe"}
    precisions = pd.read_parquet(made / "tables/detection.parquet")
    assert set(precisions["quantity"]) == {"ap", "ap50", "ap75"}
    assert set(precisions["method"]) == {"from scratch", "supervised"}
    assert precisions["mean"].between(0, 1).all()
    gains = precisions.set_index(["method", "quantity"])["gain"]
    assert gains["from scratch"].isna().all()
    assert gains["supervised"].notna().all()
    assert "AP75" in (made / "tables/detection.md").read_text()

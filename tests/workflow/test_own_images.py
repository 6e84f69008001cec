"""A user's own folder of images, from a config of a few lines to table and figure."""

import re
import shutil
from pathlib import Path

import pandas as pd
import pytest
import torch
from safetensors.torch import save_file

from featlearn.images.encoders import build_encoder
from image_folders import grow
from unit.test_image_readers import voc, voc_object

from .checkout import REPOSITORY

#: A shell that gets this name unquoted makes a file.
HOSTILE = "rose; touch $(touch owned) `touch owned` && touch owned #{x} {y}"
COLOURS = {"daisy": (160, 160, 40), HOSTILE: (170, 40, 40), "tulip": (40, 40, 170)}
SIZES = """
    replicates: 1
    label_fractions: [1.0, 0.5]
    encoder: {small_resnet: {widths: [4, 8]}}
    pretraining:
      objective: {simmim: {mask_size: 4, decoder_depth: 1, decoder_width: 8}}
      training: {epochs: 1, batch_size: 8}
    finetuning: {training: {steps: 2, batch_size: 8}}
papers: []
"""
STATEMENT = (
    "run: mine\nreal_images:\n  flowers:\n    data: {{kind: folder, path: '{path}'{more}}}\n"
)
MADE = "results/mine/own_images"


def flowers(root: Path) -> None:
    grow(root, COLOURS, 8, (20, 24))
    (root / HOSTILE / "broken.jpg").write_bytes(b"\xff\xd8\xff\xe0 no picture")


@pytest.fixture(scope="module")
def mine(fresh):
    checkout = fresh()
    flowers(checkout / "my own flowers")
    text = STATEMENT.format(path="my own flowers", more=", size: 16") + SIZES
    told = checkout.snakemake("real_images", configfile=None, changes=text)
    return checkout, text, told.well()


def test_only_what_belongs_to_the_own_images_is_made(mine):
    checkout, _, told = mine
    assert told.finished == {
        "own_images_data": 1, "own_images_pretrain": 1, "own_images_downstream": 2, "gathered": 1,
        "own_images_show_images": 1, "own_images_maps": 1, "own_images_pictures": 1,
        "own_images_report": 1, "real_images": 1,
    }  # fmt: skip
    for name in ("accuracy", "confusion", "learning", "maps", "pictures"):
        for end in ("svg", "png"):
            assert (checkout / f"{MADE}/figures/{name}.{end}").is_file()


def test_broken_images_are_told_and_what_was_said_of_the_others_is_kept(mine):
    checkout, _, told = mine
    faults = pd.read_parquet(checkout / f"{MADE}/measurements/flowers/faults.parquet")
    assert faults["file"].tolist() == [f"{HOSTILE}/broken.jpg"]
    assert faults["reason"].item()
    summary = pd.read_parquet(checkout / f"{MADE}/measurements/flowers/summary.parquet")
    assert summary["images"].sum() == 24
    assert set(summary["class"]) == set(COLOURS)
    assert "1 of 25 images cannot be used" in told.text
    said = pd.read_parquet(checkout / f"{MADE}/measurements/flowers/predictions-random-0.parquet")
    assert len(said) == 3 * 2 * said["image"].nunique()
    table = pd.read_parquet(checkout / f"{MADE}/tables/accuracy.parquet")
    own = table[table["start"] == "random"].set_index(["evaluation", "fraction"])["mean"]
    right = said["label"] == said["said"]
    seen = right.groupby([said["evaluation"], said["fraction"]]).mean()
    assert seen.to_dict() == pytest.approx(own.to_dict())


def test_the_report_is_one_offline_page_that_tells_what_was_left_out_and_how_little_it_says(mine):
    checkout, _, told = mine
    page = (checkout / f"{MADE}/report.html").read_text(encoding="utf-8")
    for word in ("Few test images", "broken.jpg", "Confusion matrix", "Heat maps", "Loss during"):
        assert word in page
    assert page.count("<img ") == 5
    assert 'src="http' not in page
    assert "touch $(touch owned) `touch owned` &amp;&amp;" in page
    assert told.text.count("images cannot be used") == 1
    assert not list(checkout.root.rglob("owned"))  # no name of a folder was run


@pytest.mark.long
def test_the_scripts_of_the_page_run_on_what_was_made(mine, monkeypatch, capsys):
    checkout, text, _ = mine
    page = (REPOSITORY / "docs/your-own-images.md").read_text(encoding="utf-8")
    blocks = re.findall(r"^```python\n(.*?)^```", page, re.MULTILINE | re.DOTALL)
    scripts = [block for block in blocks if "results/mine/own_images" in block]
    assert len(scripts) == 3
    (checkout / "mine.yaml").write_text(text)
    shutil.copy(checkout / "my own flowers" / "daisy" / "0.png", checkout / "rose.jpg")
    monkeypatch.chdir(checkout.root)
    for script in scripts:  # this network is smaller than that of the page
        script = script.replace('"stem_stride": 2}, 64', '"stem_stride": 2, "widths": [4, 8]}, 16')
        exec(compile(script, "docs/your-own-images.md", "exec"), {})
    told = capsys.readouterr().out
    assert "daisy: 0." in told
    assert "SimMIM" in told


@pytest.mark.long
def test_a_second_run_has_nothing_to_do_until_an_image_changes(mine, tmp_path):
    checkout, text, _ = mine
    options = {"configfile": None, "changes": text}
    assert checkout.plan("real_images", **options) == {}
    copy = checkout.copy(tmp_path)
    (copy / "my own flowers" / "daisy" / "0.png").unlink()
    assert copy.plan("real_images", **options)["own_images_data"] == 1


def test_images_that_are_not_there_are_told_before_any_job(fresh):
    checkout = fresh()
    text = STATEMENT.format(path="no such flowers", more="")
    told = checkout.snakemake("real_images", configfile=None, changes=text)
    told.refused("real_images.flowers.data: no such flowers: no such folder; expected one folder")
    assert not told.planned


@pytest.mark.long
def test_five_lines_are_a_plan(mine):
    checkout, _, _ = mine
    text = STATEMENT.format(path="my own flowers", more="").replace("mine", "plain")
    assert len(text.splitlines()) <= 5
    planned = checkout.plan("real_images", configfile=None, changes=text)
    assert planned["own_images_pretrain"] == 3
    assert planned["own_images_downstream"] == 6
    alone = checkout.plan(configfile=None, changes=f"{text}papers: []\n")
    assert alone == {("all" if rule == "real_images" else rule): n for rule, n in planned.items()}
    # beside a paper they have a page of the report
    page, both = "results/plain/report/own_images.html", f"{text}papers: [looped]\n"
    assert checkout.plan(page, configfile=None, changes=both)["report"] == 1
    told = checkout.snakemake("--dry-run", configfile=None, changes="run: none\npapers: []\n")
    assert "papers: []; expected one or more, or data sets under the key real_images" in told.text


PAGE = (REPOSITORY / "docs" / "eigen-cam.md").read_text(encoding="utf-8")
FIVE_LINES = re.search(r"^```yaml\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)[1]
FIGURE = "results/mine/mrp/figures/cam-photographs.svg"


@pytest.mark.long
def test_five_lines_of_config_draw_the_maps_of_an_own_model(fresh):
    assert len(FIVE_LINES.splitlines()) == 5
    checkout = fresh()
    options = {"configfile": None, "changes": f"{FIVE_LINES}papers: [mrp]\n"}

    told = checkout.snakemake("--dry-run", FIGURE, **options)
    told.refused("eigencam.photographs.models.0.weights must be the name of a file")
    torch.manual_seed(0)
    kind = re.search(r"kind: (\w+)", FIVE_LINES)[1]
    save_file(build_encoder({"kind": kind}, 224).state_dict(), checkout / "mine.safetensors")
    told = checkout.snakemake("--dry-run", FIGURE, **options)
    told.refused("eigencam.photographs.folder: my-photographs: no such folder")

    folder = grow(checkout.root, {"my-photographs": 128}, 2, (30, 40)) / "my-photographs"
    assert checkout.snakemake(FIGURE, **options).well().finished == {"mrp_cam_photographs": 1}
    assert (checkout / FIGURE).stat().st_size > 10_000
    (folder / "0.png").unlink()
    assert checkout.plan(FIGURE, **options) == {"mrp_cam_photographs": 1}


HALF = {"scale": "real", "papers": ["nuclear", "emergence"]}


@pytest.mark.long
def test_a_set_that_is_absent_is_named_and_a_set_of_the_user_takes_its_place(fresh):
    checkout = fresh()
    for domain in ("art_painting", "cartoon", "photo", "sketch"):
        grow(checkout / "own" / domain, {"dog": 40, "house": 200})
    sets = {"pacs": {"kind": "folder", "path": "own"}}
    own = checkout.snakemake("--dry-run", changes={**HALF, "sets": sets}).well()
    assert "remain in nuclear.domains" not in own.text
    assert "weights/resnet20-12fca82f.th; made without it: nuclear.domains" in own.text
    assert "mnist: no ../shared/data/mnist; stand-ins remain in emergence.neurons" in own.text
    wrong = {**HALF, "sets": {"pacs": "own"}}
    checkout.snakemake("--dry-run", changes=wrong).refused("sets.pacs must be a group")


#: PASCAL VOC: several classes an image, and boxes, from two given weights.
VOC = """
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
CLASSES = ["dog", "cat", "boat"]


def notes(name: str) -> dict[str, str]:
    """Two classes in each of six pictures, the second one difficult in every third."""
    return {
        f"{name}{n}": voc_object(CLASSES[n % 3], (1, 1, 14, 14))
        + voc_object(CLASSES[(n + 1) % 3], (17, 2, 30, 15), int(n % 3 == 0))
        for n in range(6)
    }


@pytest.mark.long
def test_a_tiny_voc_gives_precisions_of_classification_and_of_detection(fresh):
    checkout = fresh()
    torch.manual_seed(0)
    encoder = build_encoder({"kind": "small_resnet", "widths": [4, 8], "stem_stride": 1}, 32)
    save_file(encoder.state_dict(), checkout / "one.safetensors")
    options = {"configfile": None, "changes": VOC}
    voc(checkout / "data", notes("00000"))
    voc(checkout / "data", notes("00001"), split="test")
    voc(checkout / "data", notes("2008_00000"), 2012)
    told = checkout.snakemake(*TABLES, **options).well()
    assert told.finished["own_images_downstream"] == told.finished["own_images_detection"] == 2
    assert "own_images_pretrain" not in told.finished
    made = checkout / "results/voc/own_images"
    summary = pd.read_parquet(made / "measurements/voc/summary.parquet")
    assert set(summary["class"]) >= set(CLASSES)
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

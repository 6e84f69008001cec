"""Maps of an own model on an own folder, from the config on the page about maps."""

import re

import torch
from safetensors.torch import save_file

from featlearn.images.encoders import build_encoder
from image_folders import grow

from .checkout import REPOSITORY

PAGE = (REPOSITORY / "docs" / "eigen-cam.md").read_text(encoding="utf-8")
FIVE_LINES = re.search(r"^```yaml\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)[1]
FIGURE = "results/mine/mrp/figures/cam-photographs.svg"


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

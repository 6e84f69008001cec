"""The wheel of the source archive in a fresh environment: the command on pictures, in no clone."""

import ensurepip
import shutil
import subprocess
import sys
import sysconfig
import venv
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from featlearn import __version__

from .checkout import Ended, environment, take_notes

pytestmark = pytest.mark.long
#: Smallest trainings: whether everything runs.
SHORT = (
    "label_fractions=[1.0]",
    "encoder={small_resnet: {widths: [4, 8], stem_stride: 2}}",
    "pretraining.training={epochs: 2, batch_size: 8}",
    "finetuning.training={steps: 4, batch_size: 8}",
)


def photographs(root):
    """Sixty files of three classes: colour, grey, alpha, CMYK, and two that are no pictures."""
    for place, name in enumerate(("daisy", "rose", "tulip")):
        (root / name).mkdir(parents=True)
        for number in range(20):
            noise = np.random.default_rng((place, number)).integers(0, 90, (70, 80, 3))
            noise[..., place] += 120
            picture = Image.fromarray(noise.astype(np.uint8))
            mode = {3: "L", 5: "RGBA", 7: "CMYK"}.get(number, "RGB")
            end = "png" if mode == "RGBA" else "jpg"
            picture.convert(mode).save(root / name / f"{number}.{end}")
    (root / "rose" / "0.jpg").write_bytes(b"\xff\xd8\xff\xe0 no picture")
    whole = (root / "tulip" / "0.jpg").read_bytes()
    (root / "tulip" / "0.jpg").write_bytes(whole[: len(whole) // 3])


class Installed:
    """An environment with the wheel, and the locked packages behind it."""

    def __init__(self, root, wheel):
        venv.create(root, symlinks=True)
        self.bin = root / "bin"
        # pip as Python brings it along, run out of its wheel: to install it takes seconds
        (pip,) = (Path(ensurepip.__file__).parent / "_bundled").glob("pip-*.whl")
        words = [self.bin / "python", pip / "pip", "install", "--no-deps", "--no-index", wheel]
        told = subprocess.run(words, capture_output=True, text=True)
        assert told.returncode == 0, told.stdout + told.stderr
        (site,) = root.glob("lib/python*/site-packages")
        # a plain path: what stands in the .pth files there, an editable clone, is not taken over
        (site / "locked.pth").write_text(sysconfig.get_path("purelib") + "\n")

    def __call__(self, folder, *words):
        told = subprocess.run(
            [str(self.bin / "featlearn"), *words], cwd=folder, env=environment(OMP_NUM_THREADS="1"),
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        )  # fmt: skip
        return Ended(told.returncode, told.stdout)


def built(kind, folder, out):
    build = f"import sys; from setuptools import build_meta; build_meta.build_{kind}(sys.argv[1])"
    told = subprocess.run(
        [sys.executable, "-c", build, str(out)], cwd=folder, capture_output=True, text=True
    )
    assert told.returncode == 0, told.stdout + told.stderr
    (made,) = out.glob("*.whl" if kind == "wheel" else "*.tar.gz")
    return made


@pytest.fixture(scope="module")
def featlearn(sources, tmp_path_factory):
    copy = sources.copy(tmp_path_factory.mktemp("wheel-sources"))
    out = tmp_path_factory.mktemp("wheel")
    source = built("sdist", copy.root, out)
    shutil.unpack_archive(source, out, filter="data")
    wheel = built("wheel", out / source.name.removesuffix(".tar.gz"), out)
    return Installed(tmp_path_factory.mktemp("environment") / "venv", wheel)


@pytest.fixture(scope="module")
def mine(featlearn, tmp_path_factory):
    folder = tmp_path_factory.mktemp("mine")
    take_notes(folder)
    photographs(folder / "my flowers")
    sets = [word for pair in SHORT for word in ("--set", f"real_images.my-flowers.{pair}")]
    words = ("images", "my flowers", "--replicates", "1", "--size", "32", *sets)
    return folder, featlearn(folder, *words).well()


def test_one_command_makes_everything_in_the_folder_of_the_user(mine):
    folder, told = mine
    assert "12 test images say little" in told.text
    assert "2 of 60 images cannot be used" in told.text
    assert "| my-flowers" in told.text
    made = folder / "results/my-flowers/own_images"
    assert (made / "figures/maps.png").is_file()
    assert told.text.rstrip().endswith("Report: results/my-flowers/own_images/report.html")
    assert "Few test images" in (made / "report.html").read_text(encoding="utf-8")
    assert (folder / "my-flowers.yaml").is_file()


def test_its_networks_predict_map_and_are_exported(featlearn, mine):
    folder, _ = mine
    (weights,) = folder.rglob("classifier-pretrained-0.safetensors")
    pictures = ("my flowers/daisy/1.jpg", "my flowers/rose/1.jpg")
    lines = featlearn(folder, "predict", str(weights), *pictures).well().text.splitlines()
    assert [line.split("\t")[0] for line in lines] == list(pictures)
    assert {line.split("\t")[1] for line in lines} <= {"daisy", "rose", "tulip"}
    featlearn(folder, "cam", str(weights), *pictures).well()
    assert (folder / "maps/1-cam.png").is_file()
    assert (folder / "maps/1-2-cam.png").is_file()
    assert "differs by" in featlearn(folder, "export", str(weights), "net.pt2").well().text
    told = featlearn(folder, "predict", str(weights), "nothing.jpg")
    assert told.code == 2
    assert told.text == "featlearn predict: nothing.jpg: no such file\n"


def test_a_paper_is_planned_and_results_are_verified(featlearn, mine):
    folder, _ = mine
    assert featlearn(folder, "--version").well().text == f"{__version__}\n"
    told = featlearn(folder, "run", "looped", "--scale", "smoke", "-n").well()
    assert told.planned["looped"] == 1
    told = featlearn(folder, "verify", "--scale", "my-flowers", "--here").well()
    assert "0 damaged" in told.text

"""``portable: true``: its config, its variables, and what a job refuses."""

from __future__ import annotations

from pathlib import Path

import pytest

from featlearn.core import portable
from featlearn.core.config import load
from featlearn.core.errors import ConfigError, FeatlearnError

ROOT = Path(__file__).resolve().parents[2]


def test_a_portable_run_has_a_folder_of_its_own_and_compiles_nothing():
    config = load({"scale": "smoke", "portable": True}, ROOT)
    assert (config["results"], config["compile"]) == ("results/smoke-portable", "never")
    named = load({"scale": "smoke", "portable": True, "run": "mine"}, ROOT)
    assert named["results"] == "results/mine"
    assert load({"scale": "smoke"}, ROOT)["portable"] is False


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"threads": 2}, "threads: 2; expected 1"),
        ({"device": "auto"}, "device: 'auto'; expected 'cpu'"),
        ({"compile": "always"}, "compile: 'always'; expected auto or never"),
    ],
)
def test_what_contradicts_it_is_refused_by_name(change, told):
    with pytest.raises(ConfigError, match=told):
        load({"scale": "smoke", "portable": True, **change}, ROOT)


def test_a_compiled_training_of_images_is_found_wherever_it_stands():
    config = {"portable": True, "device": "cpu", "threads": 1, "compile": "auto",
              "images": {"cases": [{"training": {"compile": True}}]}}  # fmt: skip
    (fault,) = portable.faults(config)
    assert fault.startswith("images.cases[0].training.compile: True")
    assert not list(portable.faults(config | {"portable": False}))


def test_a_job_looks_whether_all_is_pinned():
    environment: dict[str, str] = {}
    portable.pin(environment)
    portable.check(environment)
    environment["MKL_CBWR"] = "AVX2"
    with pytest.raises(FeatlearnError, match=r"MKL_CBWR is .AVX2.*COMPATIBLE"):
        portable.check(environment)

"""Expensive results are shared between clones by content: re-used, never stale, never damaged."""

import json
from types import SimpleNamespace

import pytest

from . import trained
from .checkout import digest
from .toy import PACKAGE
from .trained import RESULTS

pytestmark = pytest.mark.long
PRETRAINED = f"{RESULTS}/{trained.PRETRAINED}"
DOWNSTREAM = f"{RESULTS}/{trained.DOWNSTREAM}"
PURITY = f"{RESULTS}/{trained.PURITY}"
RECORD = f"{RESULTS}/provenance/{trained.PRETRAINED}.json"
#: A formula, and a constant that changes no number here: other code, the same bytes.
EDITED = ("STEPS = 40", "STEPS = 4 * 10")


@pytest.fixture(scope="module")
def clones(fresh_toy, tmp_path_factory):
    shared = tmp_path_factory.mktemp("shared")
    env = {"SNAKEMAKE_OUTPUT_CACHE": str(shared)}

    def run(clone, target):
        # the last word: it takes all that follow
        return clone.snakemake(target, "--cache", env=env)

    first, second, edited = fresh_toy(), fresh_toy(), fresh_toy()
    run(first, PRETRAINED).well()
    edited.replace(f"{PACKAGE}/training.py", *EDITED)
    told = run(second, DOWNSTREAM).well()
    run(edited, PRETRAINED).well()
    # a bit of the shared file falls over
    file = (second / PRETRAINED).resolve()
    content = file.read_bytes()
    file.write_bytes(content[:-1] + bytes([content[-1] ^ 1]))
    late = fresh_toy()
    refused, again = run(late, PURITY), run(late, PURITY)
    return SimpleNamespace(
        shared=shared, whole=digest(edited / PRETRAINED), first=first, second=second,
        edited=edited, late=late, told=told, refused=refused, again=again,
    )  # fmt: skip


def record(clone):
    return json.loads((clone / RECORD).read_text(encoding="utf-8"))


def test_a_second_clone_takes_what_the_first_one_made_by_its_code(clones):
    first, second = clones.first / PRETRAINED, clones.second / PRETRAINED
    assert second.is_symlink()
    assert second.resolve() == first.resolve()
    assert clones.shared in second.resolve().parents
    # the very training of the first one: another would have taken another time
    assert record(clones.second) == record(clones.first)
    # and it can be built on
    assert clones.told.finished["toy_downstream"] == 1
    edited, first = clones.edited / PRETRAINED, clones.first / PRETRAINED
    assert edited.resolve() != first.resolve()
    assert record(clones.edited)["code"] != record(clones.first)["code"]


def test_a_damaged_shared_file_is_found_and_made_again(clones):
    assert clones.refused.code != 0
    assert "pretrained.safetensors is damaged (no run shared these bytes)" in clones.refused.text
    assert clones.again.code == 0, clones.again.text
    assert digest(clones.late / PRETRAINED) == clones.whole
    assert (clones.late / PURITY).is_file()

"""The catalogue of figures and tables: a wrong entry is refused by the name of its item."""

from pathlib import Path
from types import SimpleNamespace

import pyarrow.parquet as pq
import pytest
import yaml

from featlearn.core.errors import ConfigError
from featlearn.core.evidence.catalogue import KEYS, catalogue_frame, contents, read_catalogue
from featlearn.core.files import write_parquet
from featlearn.core.run.provenance import write_record

CATALOGUE = Path(__file__).resolve().parents[2] / "config" / "catalogue.yaml"
ENTRY = {
    "item": "toy/fig-1", "paper": "toy", "label": "Figure 1", "source": "Doe 2021",
    "caption": "What is seen.", "kind": "schematic", "needs": [], "same_as": None,
}  # fmt: skip


def read(folder, *items):
    file = folder / "catalogue.yaml"
    file.write_text(
        yaml.safe_dump({"papers": {"toy": "Doe"}, "kinds": ["schematic"], "items": items})
    )
    return read_catalogue(file)


def test_every_entry_of_the_catalogue_is_valid():
    assert {tuple(entry) for entry in read_catalogue(CATALOGUE)} == {KEYS}


@pytest.mark.parametrize(("change", "told"), [
    ({"kind": "schematics"}, "toy/fig-2: kind must be one of schematic"),
    ({"item": "toys/fig-2"}, "toys/fig-2: expected a name of the paper, toy/..."),
    ({"item": 7}, "entry 2: item must be text"),
    ({"item": "toy/fig-1"}, "toy/fig-1: stands there twice"),
    ({"label": ""}, "toy/fig-2: label must be some text"),
    ({"needs": [5]}, "toy/fig-2: needs.0 must be text"),
    ({"same_as": "toy/fig-2"}, "toy/fig-2: same_as: 'toy/fig-2'; expected an earlier item"),
    ({"status": "done"}, "toy/fig-2: status: unknown key; expected one of " + ", ".join(KEYS)),
])  # fmt: skip
def test_a_wrong_entry_is_refused_by_the_name_of_its_item(tmp_path, change, told):
    with pytest.raises(ConfigError) as caught:
        read(tmp_path, ENTRY, ENTRY | {"item": "toy/fig-2"} | change)
    assert told in str(caught.value)
    assert "catalogue.yaml: " in str(caught.value)


@pytest.mark.parametrize("entry", [None, "toy/fig-2", ["toy/fig-2"]])
def test_an_entry_that_is_no_group_is_refused_by_its_number(tmp_path, entry):
    with pytest.raises(ConfigError, match=r"entry 2: \(top\) must be a group of keys"):
        read(tmp_path, ENTRY, entry)


def test_an_item_is_measured_if_every_need_is_met():
    shown = [SimpleNamespace(paper="nuclear", name=name) for name in ("table-e-2", "rates")]
    path = str(CATALOGUE)
    assert contents(path, shown, {}) == {"table-e-2": "stand-in", "rates": "stand-in"}
    assert contents(path, shown, {"pacs"}) == {"table-e-2": "stand-in", "rates": "measured"}
    both = {"pacs", "resnet50-imagenet"}
    assert set(contents(path, shown, both).values()) == {"measured"}
    assert contents(path, shown, both, {"table-e-2": "stand-in"})["table-e-2"] == "stand-in"


@pytest.mark.parametrize(
    ("contains", "kind", "status", "made_of", "lacks"),
    [
        ("stand-in", "parquet", "real", ["CIFAR10 (train): 5,000 images", "network vit"], ["svhn"]),
        ("measured", "torchvision", "regenerated", ["CIFAR10 (train): 5,000 images", "network vit"],
         []),
        ("stand-in", "texts", "real", ["CIFAR10 (train): 5,000 texts", "network vit"], ["svhn"]),
        ("stand-in", "digits", "stand-in", [], ["cifar10", "svhn"]),
    ],
)  # fmt: skip
def test_real_data_in_the_records_make_an_item_real(
    tmp_path, contains, kind, status, made_of, lacks
):
    trained, drawn = tmp_path / "toy/weights.bin", tmp_path / "toy/figures/fig-1.svg"
    for file in (trained, drawn):
        file.parent.mkdir(parents=True)
        file.write_bytes(b"")
    read = {"/my/CIFAR10 (train)": {"kind": kind, "images": 5000, "sha256": "0"}}
    config = {"encoder": {"kind": "vit"}, "world": {"kind": "parts"}}
    write_record(tmp_path, trained, {"data": read, "config": config, "contains": "measured"})
    inputs = {"inputs": {str(trained): "0"}, "config": {"encoder": {"kind": "no"}}}
    write_record(tmp_path, drawn, {**inputs, "contains": contains})
    items = [ENTRY | {"needs": ["cifar10", "svhn"]}, ENTRY | {"item": "toy/fig-2"}]
    row, absent = catalogue_frame(items, tmp_path, "make").itertuples()
    assert (row.status, row.made_of, row.lacks) == (status, made_of, lacks)
    assert (absent.status, absent.made_of, absent.lacks) == ("not-yet", [], ["an experiment"])
    # a figure that an earlier run left in the folder is none of this one
    (left, _) = catalogue_frame(items, tmp_path, "make", planned=()).itertuples()
    assert (left.status, left.files, left.command) == ("not-yet", [], "")


def test_columns_of_lists_are_of_text_where_no_list_has_an_entry(tmp_path):
    path = tmp_path / "catalogue.parquet"
    write_parquet(catalogue_frame([ENTRY | {"needs": [], "same_as": None}], tmp_path, "make"), path)
    kinds = {field.name: str(field.type) for field in pq.read_schema(path)}
    assert {kinds[name] for name in ("needs", "files", "made_of")} == {"list<element: string>"}

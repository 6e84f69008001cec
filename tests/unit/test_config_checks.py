"""The config: defaults, merging, and faults that name their key and what was expected."""

from __future__ import annotations

import copy
import re
from importlib import import_module
from pathlib import Path

import pytest
import yaml

from featlearn.core.config import (
    LETTERS,
    LINES,
    faults,
    fill_defaults,
    in_order,
    load,
    merge,
    read_yaml,
    refuse,
)
from featlearn.core.errors import ConfigError

ROOT = Path(__file__).resolve().parents[2]
SCHEMA = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "type": "object",
    "additionalProperties": False,
    "required": ["scale", "steps", "data"],
    "properties": {
        "scale": {"type": "string"},
        "run": {"type": "string", "pattern": "^[a-z]*$", "default": ""},
        "papers": {"type": "array", "uniqueItems": True, "default": []},
        "seed": {"type": "integer", "minimum": 0, "default": 0},
        "device": {"enum": ["auto", "cpu", "cuda"], "default": "cpu"},
        "steps": {"type": "integer", "minimum": 1, "maximum": 100},
        "limit": {"type": ["integer", "null"], "default": None},
        "data": {
            "type": "object",
            "additionalProperties": False,
            "required": ["patches", "sparsity"],
            "properties": {
                "patches": {"type": "integer", "minimum": 1},
                "sparsity": {"type": "number"},
                "noise": {"$ref": "#/$defs/rate", "default": 0.02},
                "share": {"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 1},
                "range": {"$ref": "#/$defs/range", "default": [1.0, 1.5]},
                "flag": {"type": "boolean"},
            },
        },
        "training": {
            "type": "object",
            "additionalProperties": False,
            "properties": {
                "rate": {"type": "number", "default": 0.5},
                "inner": {
                    "type": "object",
                    "properties": {"record_every": {"type": "integer", "default": 20}},
                },
                "factor": {"type": "number"},
            },
        },
        "sets": {
            "type": "object",
            "additionalProperties": {
                "type": "object",
                "required": ["size"],
                "properties": {"size": {"type": "integer"}, "share": {"type": "number"}},
            },
        },
        "bare": {"type": "object", "properties": {"needed": {"type": "number"}}},
    },
    "$defs": {
        "rate": {"type": "number", "minimum": 0},
        "range": {
            "type": "array",
            "items": {"type": "number"},
            "minItems": 2,
            "maxItems": 2,
        },
    },
}


def valid() -> dict:
    return {"scale": "desk", "steps": 10, "data": {"patches": 4, "sparsity": 1.5}}


def found(change: dict) -> list[str]:
    return list(faults(merge(valid(), change), SCHEMA))


# ------------------------------------------------------------------------------- merging


def test_a_change_replaces_single_keys_and_keeps_the_rest_of_a_group():
    base = {"a": 1, "group": {"x": 1, "deep": {"y": 2, "z": 3}}, "list": [1, 2]}
    change = {"group": {"deep": {"y": 9}}, "list": [5], "new": {"k": 1}}
    kept = copy.deepcopy((base, change))
    assert merge(base, change) == {
        "a": 1,
        "group": {"x": 1, "deep": {"y": 9, "z": 3}},
        "list": [5],
        "new": {"k": 1},
    }
    assert (base, change) == kept


def test_a_group_can_replace_a_value_and_a_value_a_group():
    assert merge({"a": 1, "b": {"c": 2}}, {"a": {"x": 1}, "b": None}) == {"a": {"x": 1}, "b": None}


def test_equal_configs_print_alike_whatever_the_order_of_their_keys():
    one = in_order({"b": 1, "a": {"d": [{"y": 1, "x": 2}], "c": 3}})
    assert list(one) == ["a", "b"]
    assert list(one["a"]) == ["c", "d"]
    assert list(one["a"]["d"][0]) == ["x", "y"]


# ------------------------------------------------------------------------------- defaults


def test_absent_keys_get_their_defaults_and_given_ones_stay():
    given = merge(valid(), {"seed": 7, "training": {"factor": 2.0}, "data": {"noise": 0.5}})
    kept = copy.deepcopy(given)
    filled = fill_defaults(given, SCHEMA, SCHEMA)
    assert filled == {
        "scale": "desk",
        "run": "",
        "papers": [],
        "seed": 7,
        "device": "cpu",
        "steps": 10,
        "limit": None,
        "data": {"patches": 4, "sparsity": 1.5, "noise": 0.5, "range": [1.0, 1.5]},
        "training": {"rate": 0.5, "inner": {"record_every": 20}, "factor": 2.0},
    }
    assert given == kept


def test_groups_under_free_keys_are_filled_each():
    group = {"type": "object", "properties": {"size": {"$ref": "#/$defs/size", "default": 64}}}
    schema = {
        "type": "object",
        "default": {},
        "properties": {"named": {"type": "integer", "default": 1}},
        "additionalProperties": group,
        "$defs": {"size": {"type": "integer"}},
    }
    given = {"one": {}, "two": {"size": 8}, "three": 5}
    filled = fill_defaults(given, schema, schema)
    assert filled == {"named": 1, "one": {"size": 64}, "two": {"size": 8}, "three": 5}
    assert given == {"one": {}, "two": {"size": 8}, "three": 5}
    assert fill_defaults({}, {"properties": {"free": schema}}, schema) == {"free": {"named": 1}}


def test_an_absent_group_is_made_of_its_defaults_and_one_without_any_is_not():
    filled = fill_defaults(valid(), SCHEMA, SCHEMA)
    assert filled["training"] == {"rate": 0.5, "inner": {"record_every": 20}}
    assert "bare" not in filled


def test_a_group_that_is_no_group_is_left_for_the_checks():
    filled = fill_defaults({**valid(), "training": 3}, SCHEMA, SCHEMA)
    assert filled["training"] == 3
    assert list(faults(filled, SCHEMA)) == ["training: 3; expected a group of keys"]


def test_a_default_stands_the_checks():
    assert list(faults(fill_defaults(valid(), SCHEMA, SCHEMA), SCHEMA)) == []


# ------------------------------------------------------------------------------- faults


@pytest.mark.parametrize(
    ("change", "line"),
    [
        ({"stepz": 3}, "stepz: unknown key; did you mean 'steps'?"),
        ({"data": {"patchs": 3}}, "data.patchs: unknown key; did you mean 'patches'?"),
        (
            {"data": {"zzz": 3}},
            "data.zzz: unknown key; expected one of patches, sparsity, noise, share, range, flag",
        ),
        ({"steps": "ten"}, "steps: 'ten'; expected a whole number"),
        ({"steps": 1.5}, "steps: 1.5; expected a whole number"),
        ({"steps": True}, "steps: True; expected a whole number"),
        ({"steps": None}, "steps: None; expected a whole number"),
        ({"limit": "none"}, "limit: 'none'; expected a whole number or nothing"),
        (
            {"data": {"noise": "5e-4"}},
            "data.noise: '5e-4'; expected a finite number "
            "(YAML reads 5e-4 as text: write it with a point, such as 1.0e-3)",
        ),
        ({"data": {"noise": "low"}}, "data.noise: 'low'; expected a finite number"),
        ({"data": {"flag": "5"}}, "data.flag: '5'; expected true or false"),
        ({"data": {"range": 3}}, "data.range: 3; expected a list"),
        ({"scale": 3}, "scale: 3; expected text"),
        ({"data": 3}, "data: 3; expected a group of keys"),
        ({"data": None}, "data: None; expected a group of keys"),
        ({"steps": 0}, "steps: 0; expected at least 1"),
        ({"steps": 101}, "steps: 101; expected at most 100"),
        ({"data": {"noise": -0.1}}, "data.noise: -0.1; expected at least 0"),
        ({"data": {"share": 0}}, "data.share: 0; expected more than 0"),
        ({"data": {"share": 1}}, "data.share: 1; expected less than 1"),
        ({"device": "gpu"}, "device: 'gpu'; expected one of auto, cpu, cuda"),
        ({"data": {"range": [1]}}, "data.range: 1 entries; expected at least 2"),
        ({"data": {"range": [1, 2, 3]}}, "data.range: 3 entries; expected at most 2"),
        ({"data": {"range": [1, "b"]}}, "data.range.1: 'b'; expected a finite number"),
        ({"run": "A b"}, "run: 'A b'; expected ^[a-z]*$"),
    ],
)
def test_a_fault_names_its_key_its_value_and_what_was_expected(change, line):
    assert found(change) == [line]


@pytest.mark.parametrize(
    ("gone", "line"),
    [(("steps",), "steps: missing"), (("data", "patches"), "data.patches: missing")],
)
def test_a_missing_key_is_named(gone, line):
    config = valid()
    group = config
    for part in gone[:-1]:
        group = group[part]
    del group[gone[-1]]
    assert list(faults(config, SCHEMA)) == [line]


def test_several_missing_keys_are_named_once_each():
    assert sorted(faults({"scale": "desk", "data": {}}, SCHEMA)) == [
        "data.patches: missing",
        "data.sparsity: missing",
        "steps: missing",
    ]


def test_all_faults_are_told_at_once():
    change = {"steps": 0, "device": "gpu", "data": {"noise": -1, "patchs": 2, "flags": True}}
    assert sorted(line.partition(":")[0] for line in found(change)) == [
        "data.flags",
        "data.noise",
        "data.patchs",
        "device",
        "steps",
    ]


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_a_number_that_is_not_finite_is_a_fault(value):
    (line,) = found({"data": {"noise": value}})
    assert line.startswith("data.noise: ")


def test_a_whole_number_written_with_a_point_does_not_stay_a_float():
    """``steps: 10.0`` (YAML ``1.0e+1``) is refused, or is 10 after loading: range(10.0) fails."""
    config = merge(valid(), {"steps": 10.0})
    filled = fill_defaults(config, SCHEMA, SCHEMA)
    assert list(faults(filled, SCHEMA)) or isinstance(filled["steps"], int)


def test_refusing_lists_every_fault_and_no_fault_is_no_error():
    refuse([])
    with pytest.raises(ConfigError) as caught:
        refuse(iter(["a: 1; expected 2", "b: missing"]))
    assert str(caught.value).splitlines()[1:] == ["  a: 1; expected 2", "  b: missing"]
    assert isinstance(caught.value, ValueError)


# ------------------------------------------------------------------------------- loading


@pytest.fixture
def root(tmp_path):
    (tmp_path / "config" / "scale").mkdir(parents=True)
    (tmp_path / "workflow" / "schemas").mkdir(parents=True)
    (tmp_path / "config" / "config.yaml").write_text("scale: desk\nrun: ''\nseed: 0\n")
    (tmp_path / "workflow" / "schemas" / "config.schema.yaml").write_text(yaml.safe_dump(SCHEMA))
    sets = {"one": {"size": 1, "share": 0.5}, "two": {"size": 2}}
    scale_file(
        tmp_path, "desk", steps=50, limit=7, sets=sets, data={"patches": 50, "sparsity": 1.0},
        training={"rate": 2.0, "factor": 3.0},
    )  # fmt: skip
    scale_file(tmp_path, "smoke", steps=5, data={"patches": 5})
    return tmp_path


def scale_file(root, name, **sizes):
    (root / "config" / "scale" / f"{name}.yaml").write_text(yaml.safe_dump(sizes))
    return sizes


def test_the_users_values_win_over_the_scale_and_the_scale_over_the_defaults(root):
    config = load({"scale": "smoke", "data": {"sparsity": 2.5}}, root)
    assert config["steps"] == 5
    assert config["data"] == {"noise": 0.02, "patches": 5, "range": [1.0, 1.5], "sparsity": 2.5}
    assert config["seed"] == 0


def test_a_run_is_named_after_its_scale_unless_it_has_a_name(root):
    assert load({"scale": "desk"}, root)["results"] == "results/desk"
    named = load({"scale": "desk", "run": "mine"}, root)
    assert (named["run"], named["results"]) == ("mine", "results/mine")


def test_the_order_of_the_users_keys_does_not_matter(root):
    one = load({"scale": "desk", "seed": 3, "device": "cpu"}, root)
    two = load({"device": "cpu", "seed": 3, "scale": "desk"}, root)
    assert list(one) == list(two) == sorted(one)


def test_a_scale_states_what_differs_from_desk_or_from_the_scale_it_is_based_on(root):
    tiny = scale_file(root, "tiny", based_on="smoke", steps=2)
    config = load({"scale": "tiny"}, root)
    assert (config["steps"], config["data"]["patches"], config["limit"]) == (2, 5, 7)
    assert load(tiny | {"scale": "tiny"}, root) == config  # as --configfile


@pytest.mark.parametrize("name", ["huge", "tiny", None, ["desk"]])
def test_a_scale_based_on_none_that_there_is_or_on_itself_is_refused(root, name):
    scale_file(root, "tiny", based_on=name)
    with pytest.raises(ConfigError, match=r"tiny\.yaml: based_on: .*expected one of desk, smoke$"):
        load({"scale": "tiny"}, root)


def test_nothing_takes_away_what_a_lower_layer_has(root):
    change = {"sets": {"one": None, "two": {"size": 3}}, "training": {"rate": None, "factor": None}}
    tiny = scale_file(root, "tiny", **change)
    config = load({"scale": "tiny"}, root)
    assert config["sets"] == {"two": {"size": 3}}
    assert config["training"] == {"inner": {"record_every": 20}, "rate": 0.5}
    assert load(tiny | {"scale": "tiny"}, root) == config  # taken away twice
    again = load({"scale": "tiny", "sets": {"one": {"size": 4}}, "training": {"factor": 5.0}}, root)
    assert again["sets"]["one"] == {"size": 4}
    assert again["training"]["factor"] == 5.0


def test_nothing_stays_a_value_where_it_is_one(root):
    assert load({"scale": "desk"}, root)["limit"] == 7
    assert load({"scale": "desk", "limit": None}, root)["limit"] is None


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"steps": None}, "steps: None; expected a whole number"),
        ({"data": {"patches": None}}, "data.patches: None; expected a whole number"),
        ({"sets": {"one": {"size": None}}}, "sets.one.size: None; expected a whole number"),
        ({"sets": {"three": None}}, "sets.three: None; expected a group of keys"),
        ({"data": {"pathces": None}}, "data.pathces: unknown key; did you mean 'patches'?"),
    ],
)
def test_what_must_be_there_or_is_not_there_cannot_be_taken_away(root, change, told):
    with pytest.raises(ConfigError) as caught:
        load({"scale": "desk", **change}, root)
    assert str(caught.value).splitlines()[1:] == [f"  {told}"]


@pytest.mark.parametrize("scale", ["huge", None, 3, ["desk"]])
def test_an_unknown_scale_is_refused_with_the_ones_there_are(root, scale):
    with pytest.raises(ConfigError, match=r"^scale: .*expected one of desk, smoke"):
        load({"scale": scale}, root)


def test_a_wrong_value_is_refused_when_loading(root):
    with pytest.raises(ConfigError) as caught:
        load({"scale": "desk", "steps": "many", "sedd": 1}, root)
    assert "steps: 'many'; expected a whole number" in str(caught.value)
    assert "sedd: unknown key; did you mean 'seed'?" in str(caught.value)


# ------------------------------------------------------------------------------- papers


@pytest.fixture
def papers(root):
    """Two papers, the second by name first in the order, and a section that belongs to it."""
    group = {"type": "object", "additionalProperties": False, "required": ["size"],
             "properties": {"size": {"type": "integer"}}}  # fmt: skip
    for section, more in [("alpha", {}), ("beta", {"order": 1}), ("pictures", {"paper": "beta"})]:
        file = root / "workflow" / "schemas" / f"{section}.schema.yaml"
        file.write_text(yaml.safe_dump(group | more))
    for paper in ("alpha", "beta"):
        (root / "src" / "featlearn" / paper).mkdir(parents=True)
    return root


SECTIONS = {name: {"size": 1} for name in ("alpha", "beta", "pictures")}


def test_a_paper_is_found_by_its_schema_and_stands_in_its_place(papers):
    assert load(SECTIONS, papers)["papers"] == ["beta", "alpha"]
    assert load(SECTIONS | {"papers": ["alpha", "beta"]}, papers)["papers"] == ["beta", "alpha"]


def test_only_the_sections_of_the_papers_of_the_run_must_be_there(papers):
    config = load({"papers": ["alpha"], "alpha": {"size": 1}}, papers)
    assert (config["papers"], "beta" in config) == (["alpha"], False)
    with pytest.raises(ConfigError) as caught:
        load({"papers": ["beta"], "alpha": {"size": 1}}, papers)
    assert str(caught.value).splitlines()[1:] == ["  beta: missing", "  pictures: missing"]


def test_a_section_that_is_there_is_checked_whether_its_paper_is_in_the_run_or_not(papers):
    with pytest.raises(ConfigError, match=r"pictures\.size: 'big'; expected a whole number"):
        load(SECTIONS | {"papers": ["alpha"], "pictures": {"size": "big"}}, papers)


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        (["gamma"], "papers.0: 'gamma'; expected one of beta, alpha"),
        (["pictures"], "papers.0: 'pictures'; expected one of beta, alpha"),
        ("alpha", "papers: 'alpha'; expected a list"),
        (None, "papers: None; expected a list"),
        (["alpha", "alpha"], "papers: ['alpha', 'alpha'] has non-unique elements"),
    ],
)
def test_papers_that_are_none_are_refused_with_those_that_there_are(papers, wrong, told):
    with pytest.raises(ConfigError) as caught:
        load(SECTIONS | {"papers": wrong}, papers)
    assert str(caught.value).splitlines()[1:] == [f"  {told}"]


@pytest.mark.parametrize("other", ["alpha.schema.yaml", "config.schema.yaml"])
def test_a_definition_that_stands_in_two_files_is_refused_by_its_name_and_both(papers, other):
    folder = papers / "workflow" / "schemas"
    for name in ("beta.schema.yaml", other):
        schema = yaml.safe_load((folder / name).read_text())
        schema.setdefault("$defs", {})["steps"] = {"type": "integer"}
        (folder / name).write_text(yaml.safe_dump(schema))
    with pytest.raises(ConfigError, match=rf"beta.*\$defs\.steps is defined in {other} already"):
        load(SECTIONS, papers)


def test_a_file_of_definitions_alone_is_shared_and_no_section(papers):
    folder = papers / "workflow" / "schemas"
    (folder / "shared.schema.yaml").write_text("$defs: {few: {type: integer, maximum: 3}}")
    for section in ("alpha", "beta"):
        own = yaml.safe_load((folder / f"{section}.schema.yaml").read_text())
        own["properties"]["size"] = {"$ref": "#/$defs/few"}
        (folder / f"{section}.schema.yaml").write_text(yaml.safe_dump(own))
    assert "shared" not in load(SECTIONS, papers)
    with pytest.raises(ConfigError) as caught:
        load(SECTIONS | {"alpha": {"size": 4}, "beta": {"size": 5}}, papers)
    assert str(caught.value).count("expected at most 3") == 2


def test_a_papers_schema_uses_its_own_definitions_and_the_shared_ones():
    folder = Path(__file__).parents[2] / "workflow" / "schemas"
    read = {file.name.split(".")[0]: read_yaml(file) for file in folder.glob("*.schema.yaml")}
    paper = {name: schema.get("paper", name) for name, schema in read.items()}
    for name, schema in read.items():
        known = set(read["shared"]["$defs"])
        known.update(
            *(read[other].get("$defs", ()) for other in read if paper[other] == paper[name])
        )
        assert set(re.findall(r"#/\$defs/(\w+)", str(schema))) <= known, name


def test_a_schema_whose_paper_has_no_package_is_named(papers):
    (papers / "src" / "featlearn" / "alpha").rmdir()
    with pytest.raises(ConfigError, match=r"alpha: a paper alpha has .* a package .*alpha;"):
        load(SECTIONS, papers)


def test_a_section_of_a_paper_that_is_none_is_named(papers):
    (papers / "workflow" / "schemas" / "pictures.schema.yaml").write_text("paper: gamma")
    with pytest.raises(ConfigError, match=r"pictures: a paper gamma has a gamma\.schema\.yaml"):
        load(SECTIONS, papers)


@pytest.mark.parametrize(
    "content", [b"a: [1, 2", b"a: !!python/object/apply:os.getcwd []", b"\xff\xfe: 1"]
)
def test_a_file_that_is_no_plain_yaml_is_named(tmp_path, content):
    (tmp_path / "broken.yaml").write_bytes(content)
    with pytest.raises(ConfigError, match=r"broken\.yaml: cannot be read"):
        read_yaml(tmp_path / "broken.yaml")


def test_a_file_that_is_not_there_is_named(tmp_path):
    with pytest.raises(ConfigError, match=r"absent\.yaml: cannot be read"):
        read_yaml(tmp_path / "absent.yaml")


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"seed": 10**30}, "seed: 1000000000000000000000000000000; expected at most 9223372036"),
        ({"mrp": {"headline": {"replicates": 10_000}}}, "replicates: 10000; expected at most 1000"),
        ({"mrp": {"headline": {"supervised": {"steps": 10**30}}}}, "expected at most 1000000000"),
        ({"mrp": {"headline": {"network": {"theta": -1e300}}}}, "network.theta"),
        ({"images": {"world": {"image_size": 100_000}}}, "100000; expected at most 4096"),
        ({"images": {"comparison": {"labels": list(range(1, 2002))}}}, "2001 entries; expected"),
        ({"run": "x" * 300}, "expected a folder name of at most 64 letters"),
        ({"run": "published"}, "and not published"),
        ({"real_images": {"x" * 250: {}}}, "expected names of at most 64 letters"),
        ({"images": {"world": {"image_size": "64"}}}, "write it without quotes"),
        ({f"key {number}": 1 for number in range(300)}, "and 261 more"),
        ({"x\x1b[31m\u200b": 1}, "'x\\x1b[31m\\u200b': unknown key"),
    ],
)
def test_every_value_has_ends_and_every_message_too(change, told):
    with pytest.raises(ConfigError) as refused:
        load(change, ROOT)
    text = str(refused.value)
    assert told in text
    assert text.replace("\n", "").isprintable()
    assert len(text.splitlines()) <= LINES + 2
    assert max(len(word) for word in text.split()) <= 2 * LETTERS  # a key, then a value


@pytest.mark.parametrize("scale", sorted(path.stem for path in (ROOT / "config/scale").glob("*")))
def test_every_scale_passes_the_checks_of_every_paper(scale):
    config = load({"scale": scale}, ROOT)
    checked = [
        paper
        for paper in config["papers"]
        if (ROOT / "src/featlearn" / paper / "config.py").is_file()
    ]
    assert checked
    for paper in checked:
        assert not list(import_module(f"featlearn.{paper}.config").faults(config[paper]))

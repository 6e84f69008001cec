"""The config: defaults, layers, portable runs, faults with key and value, the page of keys."""

import copy
import json
import os
import re
import subprocess
import sys
from importlib import import_module

import pytest
import yaml

from featlearn.core.errors import ConfigError, FeatlearnError
from featlearn.core.run import portable
from featlearn.core.run.checks import LETTERS
from featlearn.core.run.config import (
    LINES,
    expand,
    faults,
    fill_defaults,
    load,
    merge,
    read_schema,
    read_yaml,
)
from featlearn.core.run.given import layers_of, without
from featlearn.images.config import SceneDials, WorldDials
from featlearn.mrp.images import config as image_config
from unit import ROOT

SCHEMA = yaml.safe_load("""
type: object
additionalProperties: false
required: [scale, steps, data]
properties:
  scale: { type: string }
  run: { type: string, pattern: "^[a-z]*$", default: "" }
  papers: { type: array, uniqueItems: true, default: [] }
  seed: { type: integer, minimum: 0, default: 0 }
  device: { enum: [auto, cpu, cuda], default: cpu }
  steps: { type: integer, minimum: 1, maximum: 100 }
  limit: { type: [integer, "null"], default: null }
  data:
    type: object
    additionalProperties: false
    required: [patches, sparsity]
    properties:
      patches: { type: integer, minimum: 1 }
      sparsity: { type: number }
      noise: { $ref: "#/$defs/rate", default: 0.02 }
      share: { type: number, exclusiveMinimum: 0, exclusiveMaximum: 1 }
      range: { $ref: "#/$defs/range", default: [1.0, 1.5] }
      flag: { type: boolean }
  training:
    type: object
    additionalProperties: false
    properties:
      rate: { type: number, default: 0.5 }
      inner: { type: object, properties: { record_every: { type: integer, default: 20 } } }
      factor: { type: number }
  sets:
    type: object
    additionalProperties:
      type: object
      required: [size]
      properties: { size: { type: integer }, share: { type: number } }
  bare: { type: object, properties: { needed: { type: number } } }
$defs:
  rate: { type: number, minimum: 0 }
  range: { type: array, items: { type: number }, minItems: 2, maxItems: 2 }
""")


DATA = SCHEMA["properties"]["data"]["properties"]


def valid() -> dict:
    return {"scale": "desk", "steps": 10, "data": {"patches": 4, "sparsity": 1.5}}


def test_absent_keys_get_their_defaults_and_given_ones_stay():
    given = merge(valid(), {"seed": 7, "training": {"factor": 2.0}, "data": {"noise": 0.5}})
    kept = copy.deepcopy(given)
    filled = fill_defaults(given, SCHEMA, SCHEMA)
    assert filled == {
        "scale": "desk", "run": "", "papers": [], "seed": 7, "device": "cpu", "steps": 10,
        "limit": None,
        "data": {"patches": 4, "sparsity": 1.5, "noise": 0.5, "range": [1.0, 1.5]},
        "training": {"rate": 0.5, "inner": {"record_every": 20}, "factor": 2.0},
    }  # fmt: skip
    assert given == kept


@pytest.mark.parametrize(("change", "line"), [
    ({"stepz": 3}, "stepz: unknown key; did you mean 'steps'?"),
    ({"data": {"patchs": 3}}, "data.patchs: unknown key; did you mean 'patches'?"),
    ({"data": {"zz": 3}}, "data.zz: unknown key; expected one of " + ", ".join(DATA)),
    ({"steps": "ten"}, "steps must be a whole number, got 'ten'"),
    ({"steps": True}, "steps must be a whole number, got True"),
    ({"limit": "none"}, "limit must be a whole number or nothing, got 'none'"),
    ({"data": {"noise": "5e"}}, "data.noise must be a finite number, got '5e'"),
    ({"data": {"noise": "5e-4"}}, "data.noise must be a finite number, got '5e-4' "
     "(YAML reads 5e-4 as text: write it with a point, such as 1.0e-3)"),
    ({"data": {"noise": float("nan")}}, "data.noise must be a finite number, got nan"),
    ({"data": 3}, "data must be a group of keys, got 3"),
    ({"steps": 0}, "steps must be at least 1, got 0"),
    ({"steps": 101}, "steps must be at most 100, got 101"),
    ({"data": {"noise": -0.1}}, "data.noise must be at least 0, got -0.1"),
    ({"data": {"share": 0}}, "data.share must be more than 0, got 0"),
    ({"data": {"share": 1}}, "data.share must be less than 1, got 1"),
    ({"device": "gpu"}, "device must be one of auto, cpu, cuda, got 'gpu'"),
    ({"data": {"range": [1, 2, 3]}}, "data.range must have at most 2 entries, got 3"),
    ({"data": {"range": [1, "b"]}}, "data.range.1 must be a finite number, got 'b'"),
    ({"run": "A b"}, "run must be ^[a-z]*$, got 'A b'"),
])  # fmt: skip
def test_a_fault_names_its_key_its_value_and_what_was_expected(change, line):
    assert list(faults(merge(valid(), change), SCHEMA)) == [line]


def test_all_faults_are_told_and_missing_keys_are_named_once_each():
    assert sorted(faults({"scale": "desk", "data": {"noise": -1}}, SCHEMA)) == [
        "data.noise must be at least 0, got -1",
        *(f"{key}: missing" for key in ("data.patches", "data.sparsity", "steps")),
    ]


def test_a_whole_number_written_with_a_point_does_not_stay_a_float():
    """``steps: 10.0`` (YAML ``1.0e+1``) is refused, or is 10 after loading: range(10.0) fails."""
    config = merge(valid(), {"steps": 10.0})
    filled = fill_defaults(config, SCHEMA, SCHEMA)
    assert list(faults(filled, SCHEMA)) or isinstance(filled["steps"], int)


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
    assert (config["seed"], config["results"]) == (0, "results/smoke")
    assert load({"scale": "desk", "run": "mine", "limit": None}, root)["results"] == "results/mine"


def test_a_scale_states_what_differs_from_desk_or_from_the_scale_it_is_based_on(root):
    tiny = scale_file(root, "tiny", based_on="smoke", steps=2)
    config = load({"scale": "tiny"}, root)
    assert (config["steps"], config["data"]["patches"], config["limit"]) == (2, 5, 7)
    assert load(tiny | {"scale": "tiny"}, root) == config  # as --configfile


@pytest.mark.parametrize("name", ["huge", "tiny", None])
def test_a_scale_based_on_none_that_there_is_or_on_itself_is_refused(root, name):
    scale_file(root, "tiny", based_on=name)
    with pytest.raises(ConfigError, match=r"tiny\.yaml: based_on must be one of desk, smoke, got"):
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


@pytest.mark.parametrize(("change", "told"), [
    ({"steps": None}, "steps must be a whole number, got None"),
    ({"sets": {"three": None}}, "sets.three must be a group of keys, got None"),
    ({"data": {"pathces": None}}, "data.pathces: unknown key; did you mean 'patches'?"),
])  # fmt: skip
def test_what_must_be_there_or_is_not_there_cannot_be_taken_away(root, change, told):
    with pytest.raises(ConfigError) as caught:
        load({"scale": "desk", **change}, root)
    assert str(caught.value).splitlines()[1:] == [f"  {told}"]


@pytest.mark.parametrize("scale", ["huge", None, ["desk"]])
def test_an_unknown_scale_is_refused_with_the_ones_there_are(root, scale):
    with pytest.raises(ConfigError, match=r"^scale must be one of desk, smoke, got"):
        load({"scale": scale}, root)


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


def test_only_the_sections_of_the_papers_of_the_run_must_be_there(papers):
    assert load(SECTIONS, papers)["papers"] == ["beta", "alpha"]
    config = load({"papers": ["alpha"], "alpha": {"size": 1}}, papers)
    assert (config["papers"], "beta" in config) == (["alpha"], False)
    with pytest.raises(ConfigError) as caught:
        load({"papers": ["beta"], "alpha": {"size": 1}}, papers)
    assert str(caught.value).splitlines()[1:] == ["  beta: missing", "  pictures: missing"]


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        (["gamma"], "papers.0 must be one of beta, alpha, got 'gamma'"),
        (["alpha"] * 2, "papers must be a list of entries that differ, got ['alpha', 'alpha']"),
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
    assert str(caught.value).count("must be at most 3") == 2


@pytest.mark.parametrize(
    ("node", "schema"),
    [
        ({"type": "number > 0 and <= 0.5"},
         {"type": "number", "exclusiveMinimum": 0, "maximum": 0.5}),
        ({"type": "integer >= 1 or nothing", "default": None},
         {"type": ["integer", "null"], "minimum": 1, "default": None}),
        ({"type": "text", "means": "a name"},
         {"type": "string", "minLength": 1, "description": "a name"}),
        ({"type": "list(2) of few"},
         {"type": "array", "minItems": 2, "maxItems": 2, "items": {"$ref": "#/$defs/few"}}),
        ({"type": "set(1..3)", "each": {"enum": [1, 2]}},
         {"type": "array", "uniqueItems": True, "minItems": 1, "maxItems": 3,
          "items": {"enum": [1, 2]}}),
        ({"means": "sizes", "one": {"type": "integer"}, "two": {"type": "few", "optional": True}},
         {"type": "object", "description": "sizes", "additionalProperties": False, "required": [],
          "kept": ["one"], "properties": {"one": {"type": "integer"},
          "two": {"$ref": "#/$defs/few", "optional": True}}}),
        ({"each": {"type": "boolean"}, "default": None},
         {"type": ["object", "null"], "additionalProperties": {"type": "boolean"}, "required": [],
          "default": None}),
    ],
)  # fmt: skip
def test_a_node_in_short_is_json_schema(node, schema):
    assert expand(node) == schema


def test_a_layer_changes_a_group_or_replaces_it_and_takes_away_what_is_optional(papers):
    (papers / "workflow" / "schemas" / "alpha.schema.yaml").write_text("""
mixed: { a: { type: integer, default: 1 }, b: { type: integer, default: 2 } }
whole: { whole: true, each: { type: integer }, default: { a: 1, b: 2 } }
free: { each: { type: integer }, default: { a: 1, b: 2 } }
size: { type: integer, optional: true, default: 3 }
""")
    change = {"mixed": {"a": 5}, "whole": {"a": 5}, "free": {"a": 5, "b": None}, "size": None}
    assert load({"papers": ["alpha"], "alpha": {}}, papers)["alpha"]["size"] == 3
    assert load({"papers": ["alpha"], "alpha": change}, papers)["alpha"] == {
        "mixed": {"a": 5, "b": 2}, "whole": {"a": 5}, "free": {"a": 5},
    }  # fmt: skip
    with pytest.raises(ConfigError, match=r"alpha\.mixed\.a must be a whole number, got None"):
        load({"papers": ["alpha"], "alpha": {"mixed": {"a": None}}}, papers)


@pytest.mark.parametrize(
    "content", [b"a: [1, 2", b"a: !!python/object/apply:os.getcwd []", b"\xff\xfe: 1"]
)
def test_a_file_that_is_no_plain_yaml_is_named(tmp_path, content):
    (tmp_path / "broken.yaml").write_bytes(content)
    with pytest.raises(ConfigError, match=r"broken\.yaml: cannot be read"):
        read_yaml(tmp_path / "broken.yaml")


@pytest.mark.parametrize(("change", "told"), [
    ({"seed": 10**30}, "seed must be at most 9223372036854775807, got 1000000000000000000000"),
    ({"mrp": {"headline": {"replicates": 10_000}}}, "replicates must be at most 1000, got 100"),
    ({"mrp": {"headline": {"supervised": {"steps": 10**30}}}}, "must be at most 1000000000"),
    ({"images": {"world": {"image_size": 100_000}}}, "must be at most 4096, got 100000"),
    ({"images": {"comparison": {"labels": list(range(1, 2002))}}}, "1000 entries, got 2001"),
    ({"gradient_features": {"structure": {"structured": 0.0}}}, "must be more than 0, got 0.0"),
    ({"gradient_features": {"frozen": {"scan": {"dimensions": [2, 10]}}}}, "at least 3, got 2"),
    ({"gradient_features": {"cones": {"sure": {"ratios": [1.0, 20.0]}}}}, "at most 14, got 2"),
    ({"run": "x" * 300}, "must be a folder name of at most 64 letters"),
    ({"run": "published"}, "and not published"),
    ({"real_images": {"x" * 250: {}}}, "must be names of at most 64 letters"),
    ({f"key {number}": 1 for number in range(300)}, "and 261 more"),
    ({"x\x1b[31m\u200b": 1}, "'x\\x1b[31m\\u200b': unknown key"),
])  # fmt: skip
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
    own = [
        name for name in config["papers"] if (ROOT / f"src/featlearn/{name}/config.py").is_file()
    ]
    assert own
    for paper in own:
        assert not list(import_module(f"featlearn.{paper}.config").faults(config[paper]))
    assert not list(image_config.faults(config["images"]))
    assert not list(image_config.cam_faults(config))


@pytest.mark.parametrize(("name", "dials"), [("world", WorldDials()), ("scenes", SceneDials())])
def test_dials_without_a_config_have_the_defaults_of_the_schema(name, dials):
    keys = read_schema(ROOT / "workflow" / "schemas")["$defs"][f"picture_{name}"]["properties"]
    own = {key: list(one) if isinstance(one, tuple) else one for key, one in vars(dials).items()}
    assert own == {key: below["default"] for key, below in keys.items()}


ONE = {"kind": "folder", "path": "one"}
PLAIN = {"scale": "real", "papers": ["toy"]}
GIVEN = {
    "one": {"toy": {"first": {"data": {"set": "one", "size": 8}}}},
    "other": {"toy": {"third": 1}},
    "two toy": {"toy": {"both": [{"data": {"set": "two"}}]}},
}
SETS = {"one": ONE, "two": {"kind": "folder", "path": "two"}}
SCALE = {**PLAIN, "sets": SETS, "given": GIVEN}


def test_a_layer_counts_where_all_its_sets_are(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "one").mkdir()
    layers, missing = layers_of(SCALE, {})
    assert layers == [PLAIN, {"toy": {"first": {"data": {**ONE, "size": 8}}}}]
    assert missing == ["two: no two; stand-ins remain in toy.both"]
    (tmp_path / "two").mkdir()
    layers, missing = layers_of(SCALE, {})
    assert layers[2] == {"toy": {"both": [{"data": {"kind": "folder", "path": "two"}}]}}
    assert not missing


def test_a_set_of_the_user_is_taken_at_its_word_and_stands_in_no_config(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    user = {"sets": {"one": {"kind": "torchvision", "name": "MNIST"}}, "seed": 1}
    layers, missing = layers_of(SCALE, user)
    assert layers[1]["toy"]["first"]["data"] == {"kind": "torchvision", "name": "MNIST", "size": 8}
    assert [line.partition(":")[0] for line in missing] == ["two"]
    assert without(user, SCALE) == {"seed": 1}
    # the scale's own file, given as the user's, says nothing new
    assert without(SCALE, SCALE) == PLAIN
    assert layers_of(SCALE, SCALE) == layers_of(SCALE, {})


@pytest.mark.parametrize("sets", [{"three": ONE}, {"one": "one"}, ["one"]])
def test_a_wrong_set_is_refused_by_its_name(sets):
    with pytest.raises(ConfigError, match=r"sets(\.three|\.one|) must be"):
        layers_of(SCALE, {"sets": sets})


def test_a_portable_run_has_a_folder_of_its_own_and_compiles_nothing():
    config = load({"scale": "smoke", "portable": True}, ROOT)
    assert (config["results"], config["compile"]) == ("results/smoke-portable", "never")
    named = load({"scale": "smoke", "portable": True, "run": "mine"}, ROOT)
    assert named["results"] == "results/mine"
    assert load({"scale": "smoke"}, ROOT)["portable"] is False


@pytest.mark.parametrize(("change", "told"), [
    ({"threads": 2}, "threads: 2; expected 1"),
    ({"device": "auto"}, "device: 'auto'; expected 'cpu'"),
    ({"compile": "always"}, "compile: 'always'; expected auto or never"),
])  # fmt: skip
def test_what_contradicts_it_is_refused_by_name(change, told):
    with pytest.raises(ConfigError, match=told):
        load({"scale": "smoke", "portable": True, **change}, ROOT)


def test_a_portable_run_is_pinned_and_a_compiled_training_found_wherever_it_stands():
    config = {"portable": True, "device": "cpu", "threads": 1, "compile": "auto",
              "images": {"cases": [{"training": {"compile": True}}]}}  # fmt: skip
    (fault,) = portable.faults(config)
    assert fault.startswith("images.cases.0.training.compile: True")
    assert not list(portable.faults(config | {"portable": False}))
    environment: dict[str, str] = {}
    portable.pin(environment)
    portable.check(environment)
    environment["MKL_CBWR"] = "AVX2"
    with pytest.raises(FeatlearnError, match=r"MKL_CBWR is .AVX2.*COMPATIBLE"):
        portable.check(environment)


#: A job, of a rule that asks for a device and of one that asks for none.
BEGUN = {
    "device": "from featlearn.core.training.devices import prepare; prepare('cpu', 1)",
    "none": "from kinds import framed; framed().__enter__()",
}
FUNCTIONS = """
import numpy as np, torch
x = torch.linspace(0.01, 0.99, 40_000)
for own in (x, x.double(), x.view(200, 200).T):
    wanted = np.sqrt(own.numpy())
    assert np.array_equal(own.sqrt().numpy(), wanted)
    assert np.array_equal((own**0.5).numpy(), wanted)
    assert np.array_equal(own.clone().sqrt_().numpy(), wanted)
    assert np.array_equal(torch.sqrt(own, out=torch.empty(0, dtype=own.dtype)).numpy(), wanted)
    assert np.array_equal(torch._foreach_sqrt([own])[0].numpy(), wanted)
few = x[::4_000].double().requires_grad_()
for function in (torch.sqrt, torch.log, torch.tan, torch.asin, torch.logit, torch.erfinv,
                 lambda t: t**0.5, lambda t: t**1.5, lambda t: t**2, lambda t: t**-1):
    assert torch.autograd.gradcheck(function, (few,))
assert torch.arange(4).sqrt().dtype == torch.float32
assert torch.arange(4).square().equal(torch.arange(4) ** 2)
assert x.half().sqrt().dtype == torch.float16
assert torch.func.vmap(torch.log)(x.view(200, 200)).equal(x.view(200, 200).log())
image = x.view(20, 20, 10, 10).contiguous(memory_format=torch.channels_last)
assert image.sqrt().is_contiguous(memory_format=torch.channels_last)
"""


@pytest.mark.long
@pytest.mark.parametrize("begun", BEGUN.values(), ids=BEGUN)
def test_functions_are_numpys_in_every_form_and_have_their_gradients(begun, tmp_path):
    environment = dict(os.environ)
    portable.pin(environment)
    environment["PYTHONPATH"] = os.pathsep.join([str(ROOT / "src"), str(ROOT / "tests/emulated")])
    done = subprocess.run(
        [sys.executable, "-W", "error::UserWarning", "-c", begun + FUNCTIONS], cwd=tmp_path,
        env=environment, capture_output=True, text=True, timeout=120,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr


def test_page_of_keys_is_in_step_with_the_schema():
    script = ROOT / "scripts" / "configuration_page.py"
    done = subprocess.run(
        [sys.executable, script, "--check"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


def test_no_comma_cuts_a_description_in_two():
    """``{ description: one, two }`` is a description and a key ``two`` that nothing reads."""
    for file in (ROOT / "workflow/schemas").glob("*.yaml"):
        text = json.dumps(yaml.safe_load(file.read_text(encoding="utf-8")))
        assert set(re.findall(r'"([^"]*)": null', text)) <= {"default"}, file

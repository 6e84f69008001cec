"""Any config or sweep is run or refused in words: no traceback, no hang, no name that leaves."""

import contextlib
import copy
import functools
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from featlearn.command.sweep import value_in
from featlearn.contrastive.images import config as contrastive_images
from featlearn.core.errors import ConfigError, FeatlearnError
from featlearn.core.evidence import sweeps
from featlearn.core.run import config as core_config
from featlearn.core.run import points
from featlearn.core.run.config import load, refuse
from featlearn.images.config_data import GIVEN
from featlearn.images.data.on_disk import state_of
from featlearn.mrp.images import config as image_config
from featlearn.own_images import config as real_config
from unit import ROOT

pytestmark = pytest.mark.long

CASES = 80
SCHEMA = core_config.read_schema(ROOT / "workflow" / "schemas")
SECTIONS = [section for sections in SCHEMA["papers"].values() for section in sections]
#: Of each paper that has any, the checks beyond its schema.
CHECKS = {
    paper: import_module(f"featlearn.{paper}.config").faults
    for paper in SCHEMA["papers"]
    if (ROOT / "src" / "featlearn" / paper / "config.py").is_file()
}


def fuzzed(cases: int):
    """So many examples, however slow the machine is."""
    slow = [HealthCheck.too_slow, HealthCheck.data_too_large]
    return settings(max_examples=cases, suppress_health_check=slow)


#: Own images, so that this section has keys to change too.
FLOWERS = {
    "data": {"kind": "folder", "path": "flowers", "size": 16, "shares": {"test": 0.2}},
    "weights": "torchvision:ResNet18_Weights.DEFAULT",
    "augmentation": {"preset": "mae", "size": 16},
}
OWN = {"scale": "smoke", "real_images": {"flowers": FLOWERS}}
TEXTS = st.sampled_from(
    ["", "..", "../..", "/etc", "a/b", "$(touch x)", "{x}", "?1", "\0", "\n", "ä", "1e-3", "nan",
     "auto", "own", "epoch", "-1", "true", "null", "folder", "timm:../../x", "x" * 300,
     "~nobody-here/x"]
)  # fmt: skip
NUMBERS = st.one_of(
    st.sampled_from([0, -1, 1, 2, 3, 5, 7, 10**6, 10**30, -(2**63)]),
    st.sampled_from([0.0, -0.0, 1e-300, 0.5, 1.0, 1.5, 1e300, float("nan"), float("inf")]),
    st.integers(-3, 40),
)
LEAVES = st.one_of(NUMBERS, TEXTS, st.booleans(), st.none())
VALUES = st.recursive(
    LEAVES,
    lambda below: st.one_of(
        st.lists(below, max_size=4),
        st.dictionaries(st.one_of(TEXTS, st.integers(0, 3)), below, max_size=3),
    ),
    max_leaves=6,
)


@pytest.fixture(autouse=True, scope="module")
def files_are_read_once():
    """Hundreds of configs would else read the same schemas and scales hundreds of times."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(core_config, "read_schema", functools.cache(core_config.read_schema))
        read = functools.cache(core_config.read_own_yaml)
        patch.setattr(core_config, "read_own_yaml", lambda path: copy.deepcopy(read(path)))
        yield


@functools.cache
def plain() -> dict[str, Any]:
    """The filled config that the cases start from, less what ``load`` puts in."""
    found = load(OWN, ROOT)
    del found["results"]
    return found


def places(value: Any, within: tuple = ()) -> list[tuple]:
    """Where something stands in a config: keys and numbers from the top."""
    found = [within] if within else []
    items = value.items() if isinstance(value, dict) else ()
    if isinstance(value, list):
        items = enumerate(value)
    for key, below in items:
        found += places(below, (*within, key))
    return found


def checked(user: dict[str, Any]) -> dict[str, Any]:
    """As the Snakefile does it, for all papers."""
    config = {**plain(), **load(user, ROOT)}  # sections of papers left out may lack
    for name, check in CHECKS.items():
        refuse(check(config[name]))
    refuse(image_config.faults(config["images"]))
    refuse(image_config.cam_faults(config))
    refuse(real_config.faults(config["real_images"]))
    for own in config["contrastive"]["images"].values():
        if not contrastive_images.is_made(own):
            state_of(own["real"])
    return config


@st.composite
def changed(draw, below=()):
    config = copy.deepcopy(plain())
    for _ in range(draw(st.integers(1, 3))):
        there = [place for place in places(config) if place[: len(below)] == below]
        if not there:
            break  # a small section may have been lost as a whole
        *way, last = draw(st.sampled_from(there))
        group = functools.reduce(lambda value, key: value[key], way, config)
        match draw(st.sampled_from(["value", "value", "value", "near", "lost", "more"])):
            case "value":
                group[last] = draw(VALUES)
            case "near" if isinstance(group[last], (int, float)):
                group[last] = draw(st.sampled_from([0, 1, 2, 3])) * group[last]
            case "lost":
                del group[last]
            case "more" if isinstance(group, dict):
                group[draw(TEXTS)] = draw(VALUES)
    return config


def stands_or_is_refused(user):
    try:
        config = checked(user)
    except ConfigError as error:
        lines = str(error).splitlines()
        assert lines
        assert any(":" in line or " must be " in line for line in lines)
        return
    # what was not refused writes below results/ and nowhere else
    run = Path(config["results"])
    assert run.parent == Path("results")
    assert run.name not in ("", ".", "..")
    for name in (*config["real_images"], *config["images"]["pretraining"]):
        assert name == Path(name).name
        assert name.replace("-", "").replace("_", "").isalnum()


@fuzzed(CASES // 2)
@given(changed())
def test_any_change_of_a_config_is_taken_or_refused_in_words(user):
    stands_or_is_refused(user)


@pytest.mark.parametrize("section", SECTIONS)
@fuzzed(CASES)
@given(st.data())
def test_any_change_of_a_section_is_taken_or_refused_in_words(section, data):
    stands_or_is_refused(data.draw(changed((section,))))


@fuzzed(CASES // 2)
@given(VALUES)
@example({1: 2, "1": 3})
@example({"scale": "../config"})
@example({"based_on": "desk", "scale": "gpu"})
def test_any_text_of_a_config_is_taken_or_refused_in_words(user):
    if isinstance(user, dict):
        stands_or_is_refused({"scale": "smoke", **user})


@fuzzed(CASES // 2)
@given(st.one_of(st.binary(max_size=200), st.text(max_size=200).map(str.encode)))
@example(b"a: *b")
@example(b"a: &a [*a]")
@example(b"? [1]\n: 2")
@example(b"? {a: 1}\n: 2")
@example(b"2026-13-45: 1")
@example(b"a: 2026-13-45 99:99:99")
@example(b"a: 0x")
@example(b"- " * 3000)
@example(b"[" * 3000)
@example(b"\xff\xfe")
def test_any_bytes_are_yaml_or_refused_by_the_name_of_the_file(content):
    path = Path("fuzzed.yaml")
    path.write_bytes(content)
    told = "fuzzed.yaml: "
    try:
        core_config.read_yaml(path)
    except ConfigError as error:
        told = str(error)
    assert told.startswith("fuzzed.yaml: ")


@fuzzed(CASES // 2)
@given(
    st.fixed_dictionaries(
        {"kind": st.sampled_from(sorted(GIVEN))},
        optional={
            "path": TEXTS,
            "split": TEXTS,
            "files": st.one_of(TEXTS, st.lists(TEXTS, max_size=2)),
            "splits": st.dictionaries(st.sampled_from(["train", "test"]), TEXTS, max_size=2),
            "shares": st.dictionaries(st.sampled_from(["test"]), st.floats(0, 0.9), max_size=1),
        },
    )
)
def test_any_place_of_data_is_found_or_refused_in_words(settings):
    photographs = {"folder": settings.get("path"), "weights_folder": "", "models": []}
    with contextlib.suppress(FeatlearnError):
        image_config.state(photographs)
    data = {**copy.deepcopy(plain()["real_images"]["flowers"]["data"]), "path": "", **settings}
    config = {**OWN, "real_images": {"flowers": {**OWN["real_images"]["flowers"], "data": data}}}
    with contextlib.suppress(FeatlearnError):
        found = checked(config)
        real_config.state(found["real_images"])


@pytest.fixture(autouse=True)
def elsewhere(tmp_path_factory, monkeypatch):
    """An empty folder, so deep that ``../..`` leads to no files of another test."""
    folder = tmp_path_factory.mktemp("elsewhere") / "a" / "b" / "c"
    folder.mkdir(parents=True)
    monkeypatch.chdir(folder)
    yield
    assert {path.name for path in folder.iterdir()} <= {"fuzzed.yaml"}


BASE = load({"scale": "smoke", "papers": ["mrp", "icl"]}, ROOT)
KEYS = st.one_of(
    st.sampled_from([one for one in points.keys(BASE) if one.split(".")[0] in ("mrp", "icl")]),
    st.text(max_size=20),
    st.sampled_from(["mrp", "seed", "mrp.headline.data.gamma", "icl.regression.sigmas.1", "mrp.."]),
)
SWEPT_LEAVES = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=8),
    st.sampled_from(["1e-3", "nan", "2024-01-01", "!!set {a}", "{a: b}", "[", "\0", "../x"]),
)  # fmt: skip
SWEPT_VALUES = st.recursive(SWEPT_LEAVES, lambda inner: st.lists(inner, max_size=3), max_leaves=4)
OF_SWEEPS = st.one_of(
    st.lists(SWEPT_VALUES, max_size=4),
    st.fixed_dictionaries({"from": SWEPT_LEAVES, "to": SWEPT_LEAVES, "points": st.integers(-1, 5)}),
)


@settings(max_examples=60)
@given(st.dictionaries(KEYS, OF_SWEEPS, max_size=3))
@example({"mrp.headline.data.gamma": [0.01, 0.1]})
@example({"icl.regression.sigmas.1": {"from": 1, "to": 3, "points": 3, "scale": "log"}})
def test_a_sweep_is_planned_or_refused(keys):
    try:
        filled = load({"scale": "smoke", "papers": ["mrp", "icl"], "sweep": {"keys": keys}}, ROOT)
        found = sweeps.read(filled, ROOT)
    except FeatlearnError:
        return
    names = [one.slug for one in found.points]
    assert len(set(names)) == len(names)
    for name in [*names, found.name]:
        assert Path("a", name).resolve().parent == Path("a").resolve()


@settings(max_examples=200)
@given(st.text(max_size=12))
@example("1e400")
@example("!!python/name:os.system")
def test_a_value_on_the_command_line_is_read_or_refused(text):
    try:
        value = value_in(text)
    except FeatlearnError:
        return
    points.slug({"a": value})


@pytest.mark.parametrize(("text", "value"), [("1e-3", 1e-3), ("[1, 2]", [1, 2]), ("x", "x")])
def test_values_are_what_they_look_like(text, value):
    assert value_in(text) == value

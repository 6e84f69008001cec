"""The page of keys says what the schema says, and every key has a meaning."""

import importlib.util
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[2]


def test_page_of_keys_is_in_step_with_the_schema():
    script = ROOT / "scripts" / "configuration_page.py"
    done = subprocess.run(
        [sys.executable, script, "--check"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


@pytest.fixture(scope="module")
def script():
    path = ROOT / "scripts" / "configuration_page.py"
    spec = importlib.util.spec_from_file_location("configuration_page", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


GROUP = {
    "type": "object",
    "required": ["size"],
    "properties": {
        "size": {"type": "integer", "description": "how large"},
        "rate": {"type": "number", "default": 0.5, "description": "how fast"},
    },
}
SCHEMA = {
    "papers": {"one": ["one"], "toy": ["toy", "toys"]},
    "properties": {
        "one": {"properties": {"first": {"$ref": "#/$defs/group"}}},
        "toy": {
            "properties": {
                "second": {"$ref": "#/$defs/group", "properties": {"rate": {"default": 0.1}}},
            }
        },
        "toys": {"additionalProperties": {"$ref": "#/$defs/group"}},
    },
    "$defs": {"group": GROUP},
}
MARKS = "".join(
    f"{name}\n<!-- keys of {name}: made from its schema -->\nold\n<!-- end of keys -->\n"
    for name in ("one", "toy", "toys")
)


def test_every_section_has_a_table_and_a_definition_is_described_once(script):
    page = script.page(MARKS, SCHEMA, add=False)
    assert "old" not in page
    assert "| `one.first.size` | how large | whole number | scale |" in page
    assert "| `toy.second` | as `one.first`, but `rate` `0.1` | group |  |" in page
    assert "| `toys.<name>` | as `one.first` | group |  |" in page
    assert script.page(page, SCHEMA, add=False) == page


def test_a_section_of_a_new_paper_gets_its_chapter(script):
    text = MARKS.partition("toys\n")[0]
    page = script.page(f"- [Old](#old)\n\n## Own words\n{text}footer\n", SCHEMA, add=True)
    assert "## Keys of toys" in page
    assert page.startswith("- [Own words](#own-words)\n- [Keys of toys](#keys-of-toys)\n\n")
    assert page.endswith("<!-- end of keys -->\nfooter\n")
    assert script.page(page, SCHEMA, add=False) == page


BEGIN_TOY = "<!-- keys of toy: made from its schema -->\n"
END = "<!-- end of keys -->\n"


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (MARKS.replace(END, "", 1), "keys of one: "),
        (MARKS.replace(BEGIN_TOY, ""), "has no beginning"),
        (MARKS.replace("keys of toy:", "keys of toi:"), "keys of toi: "),
        (MARKS + BEGIN_TOY + END, "keys of toy: "),
    ],
)
def test_a_lost_mark_is_named_and_nothing_is_written(script, text, told):
    with pytest.raises(SystemExit, match=told):
        script.page(text, SCHEMA, add=True)


@pytest.mark.parametrize(
    "file", sorted((ROOT / "workflow" / "schemas").glob("*.yaml")), ids=lambda file: file.stem
)
def test_no_comma_cuts_a_description_in_two(file):
    """``{ description: one, two }`` is a description and a key ``two`` that nothing reads."""

    def cut(node) -> list[str]:
        if isinstance(node, list):
            return [name for one in node for name in cut(one)]
        if not isinstance(node, dict):
            return []
        own = [name for name, value in node.items() if value is None and name != "default"]
        return own + [name for value in node.values() for name in cut(value)]

    assert cut(yaml.safe_load(file.read_text(encoding="utf-8"))) == []

"""What holds the files of the repository together: versions, targets, catalogue, rooms."""

import ast
import re
import runpy
import tomllib
from collections import defaultdict
from pathlib import Path

import yaml
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

import featlearn
from featlearn.core.run.config import read_schema

from .checkout import REPOSITORY

#: A paper is what has a schema of its own and a package; see featlearn.core.run.config.
PAPERS = set(read_schema(REPOSITORY / "workflow/schemas")["papers"])


def read(name: str) -> str:
    return (REPOSITORY / name).read_text(encoding="utf-8")


def pins() -> list[tuple[Requirement, str]]:
    """Each requirement of the lock file with the lines that belong to it."""
    blocks = re.split(r"^(?=[A-Za-z0-9])", read("requirements.lock"), flags=re.MULTILINE)[1:]
    return [(Requirement(block.splitlines()[0].rstrip("\\ ")), block) for block in blocks]


def test_environment_and_lock_say_what_the_project_asks_for():
    write = runpy.run_path(str(REPOSITORY / "scripts/environment.py"))["environment_text"]
    assert read("environment.yml") == write(read("pyproject.toml"), read("requirements.lock"))
    project = tomllib.loads(read("pyproject.toml"))["project"]
    groups = [project["dependencies"], *project["optional-dependencies"].values()]
    wanted, *extras = (
        {canonicalize_name((r := Requirement(t)).name): r for t in group} for group in groups
    )
    assert {*wanted}.union(*extras) <= {canonicalize_name(pin.name) for pin, _ in pins()}
    for pin, block in pins():
        assert re.fullmatch(r"==[\w.+!]+", str(pin.specifier)), pin
        assert pin.url is None, pin
        assert re.search(r"--hash=sha256:[0-9a-f]{64}\b", block), pin
        if asked := wanted.get(canonicalize_name(pin.name)):
            assert asked.specifier.contains(str(pin.specifier).removeprefix("==")), pin
    lock = read("requirements.lock")
    assert not re.search("://|--index-url|--find-links", lock)


def test_a_release_has_one_version_and_date():
    cited, archived = yaml.safe_load(read("CITATION.cff")), yaml.safe_load(read(".zenodo.json"))
    version, day = re.search(r"^## (\d.*), (.*)$", read("CHANGELOG.md"), re.MULTILINE).groups()
    assert {version, cited["version"], archived["version"]} == {featlearn.__version__}
    assert {day, str(cited["date-released"])} == {archived["publication_date"]}


def test_every_link_of_the_pages_leads_somewhere():
    pages = [*REPOSITORY.glob("[CR]*.md"), *(REPOSITORY / "docs").rglob("*.md")]
    for page in pages:
        text = page.read_text(encoding="utf-8")
        heads = re.findall(r"^#+ (.*)$", text, re.MULTILINE)
        known = {re.sub(r"[^\w -]", "", head).lower().replace(" ", "-") for head in heads}
        for target, section in re.findall(r"\]\(([^)#\s]*)(?:#([^)]*))?\)(?!`)", text):
            if "://" not in target:
                assert (page.parent / target).exists(), f"{page.name}: {target}"
                assert target or section in known, f"{page.name}: #{section}"


def catalogue() -> list[dict]:
    return yaml.safe_load(read("config/catalogue.yaml"))["items"]


def test_the_catalogue_has_every_figure_and_table_as_they_are_numbered():
    """No number is left out: of ``fig-a-1`` to ``fig-a-22`` all are there."""
    numbers = defaultdict(set)
    for entry in catalogue():
        series, number = re.match(r"(.*-)(\d+)", entry["item"]).groups()
        numbers[series].add(int(number))
    assert numbers
    for series, found in numbers.items():
        assert found == set(range(1, len(found) + 1)), series


def imported(path: Path) -> set[str]:
    """Dotted names below ``featlearn`` that a file may import, inside functions as well."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert not node.level, f"{path}: a relative import, which this test does not follow"
            names.update(f"{node.module}.{alias.name}" for alias in node.names)
    return {name for name in names if name.split(".")[0] == "featlearn"}


def test_a_papers_package_is_imported_inside_of_it_only():
    """Papers and a user's pipeline rest on shared rooms, which know neither."""
    source = REPOSITORY / "src/featlearn"
    rooms = {file.parent.name for file in source.glob("*/__init__.py")}
    shared = {"core", "images", "transformers"}
    assert rooms == PAPERS | shared | {"own_images", "command"}
    above = {"core": {"core"}, "command": shared | {"command", "own_images"}}
    for file in source.rglob("*.py"):
        room = file.relative_to(source).parts[0]
        used = {name.split(".")[1] for name in imported(file) if "." in name} & rooms
        assert used <= above.get(room, shared | {room}), file


def rules() -> list[str]:
    found = []
    for file in sorted((REPOSITORY / "workflow/rules").rglob("*.smk")):
        text = file.read_text(encoding="utf-8")
        found += re.split(r"^(?= *(?:use )?rule\b.*:$)", text, flags=re.MULTILINE)[1:]
    return found


def test_rules_on_the_device_of_the_config_ask_for_a_gpu():
    computing = [block for block in rules() if re.match(r" *use rule compute\w* as ", block)]
    computing = [block for block in computing if 'device="cpu"' not in block]
    assert len(computing) > 30
    (base,) = [block for block in rules() if block.startswith("use rule calculate as compute ")]
    assert "gpu=GPU" in base
    for block in computing:
        assert "**SHORT" not in block, block.partition(":")[0]
        assert "**request(" not in block or "gpu=" in block, block.partition(":")[0]

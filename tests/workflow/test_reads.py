"""Whether the sections that a claim's second seed hangs on are all that its rules are given."""

import json
from pathlib import Path

import yaml

from .checkout import REPOSITORY, python

#: Of each measuring rule, by paper and folder, the sections whose parts are among its params or
#: those of the rules that it starts from. What wildcards choose is not looked at.
TRACED = """
import json


def places():
    for top, section in config.items():
        inner = top in config["papers"]
        for key, part in (section.items() if isinstance(section, dict) else ()):
            for own in containers(part):
                yield id(own), f"{top}.{key}" if inner else top


def containers(part):
    if isinstance(part, (dict, list)):
        yield part
        for one in part.values() if isinstance(part, dict) else part:
            yield from containers(one)


def given(rule):
    return {SECTIONS[id(own)] for _, value in rule.params.items() for own in containers(value)
            if id(own) in SECTIONS}


def read(rule, known=()):
    found = given(rule)
    for file in rule.input:
        maker = None if callable(file) else MAKERS.get(str(file))
        if maker and maker not in known:
            found |= read(maker, (*known, maker))
    return found


SECTIONS = dict(places())
EVERY = list(workflow.rules)
MAKERS = {str(file): rule for rule in EVERY for file in rule.output}
told = []
for rule in EVERY:
    for file in map(str, rule.output):
        paper, kind, *rest = (*file.removeprefix(f"{RESULTS}/").split("/"), "")
        if kind == "measurements" and paper in config["papers"]:
            told.append([paper, rest[0].partition(".")[0], sorted(read(rule))])
Path("told.json").write_text(json.dumps([told, sorted({*SECTIONS.values()}), {
    paper: [key for key, own in config[paper].items() if isinstance(own, dict)]
    for paper in config["papers"]}]))
"""


def test_sections_that_rules_are_given_are_those_that_a_second_seed_hangs_on(tmp_path):
    (tmp_path / "Snakefile").write_text(f'include: "{REPOSITORY}/Snakefile"\n{TRACED}')
    listed = python(tmp_path, "-m", "snakemake", "--list-rules", "--config", "scale=desk")
    assert listed.returncode == 0, listed.stdout + listed.stderr
    told, known, sections = json.loads((tmp_path / "told.json").read_text())
    reads = yaml.safe_load(Path(REPOSITORY, "config/reads.yaml").read_text(encoding="utf-8"))
    assert {one for folders in reads.values() for own in folders.values() for one in own} <= {
        *known
    }
    seen = {}
    for paper, folder, given in told:
        own = folder.replace("-", "_")
        usual = [f"{paper}.{own}"] if own in sections[paper] else [
            f"{paper}.{key}" for key in sections[paper]
        ]  # fmt: skip
        allowed = reads.get(paper, {}).get(folder, usual)
        assert set(given) <= set(allowed), f"{paper}/{folder}: config/reads.yaml has {allowed}"
        seen.setdefault(f"{paper}/{folder}", set()).update(given)
    # it sees through rules that start from others, and through parts of sections
    assert seen["universality/remedy"] == {"universality.remedy", "universality.ladders"}
    assert seen["mrp/localisation"] == {"mrp.localisation", "mrp.clean"}
    assert len(seen) > 40

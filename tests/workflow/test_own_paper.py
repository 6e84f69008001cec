"""A paper of one's own: the template, copied into the repository, is one of its papers as it is."""

import shutil

import pandas as pd
import pytest

from .checkout import REPOSITORY, python
from .toy import MEASURED

TEMPLATE = REPOSITORY / "template"
FILES = sorted(file for file in TEMPLATE.rglob("*") if file.suffix in (".py", ".smk", ".yaml"))


ALONE = {"papers": ["toy"]}


@pytest.fixture(scope="module")
def repository(sources, tmp_path_factory):
    copied = sources.copy(tmp_path_factory.mktemp("repository"))
    shutil.copytree(TEMPLATE, copied.root, dirs_exist_ok=True)
    (copied / "results").mkdir()  # what the README links to
    (copied / "results/published").symlink_to(REPOSITORY / "results/published")
    return copied


def test_the_page_on_adding_a_paper_shows_or_links_every_file_and_few_hold_no_science():
    page = (REPOSITORY / "docs/adding-a-paper.md").read_text(encoding="utf-8")
    for file in FILES:
        linked = f"](../{file.relative_to(REPOSITORY)})" in page
        assert linked or file.read_text(encoding="utf-8").strip() in page, file
    ceremony = [file.read_text(encoding="utf-8") for file in FILES if file.suffix != ".py"]
    assert sum(len(text.splitlines()) for text in ceremony) <= 60


def test_a_paper_alone_gets_ledger_catalogue_and_report(template_finished):
    results = template_finished / "results/smoke"
    claims = pd.read_parquet(results / "claims.parquet")
    assert list(claims["claim"]) == ["toy/closed-form"]
    assert list(claims["verdict"]) == ["holds"]
    catalogue = pd.read_parquet(results / "catalogue.parquet").set_index("item")
    assert catalogue.loc["toy/alignment", "status"] == "regenerated"
    assert list(catalogue.loc["toy/alignment", "files"]) == [
        "toy/figures/alignment.svg",
        "toy/figures/alignment.png",
    ]
    report = (results / "report.html").read_text(encoding="utf-8")
    for words in ("A toy paper", "The feature appears out of the noise", "toy/closed-form"):
        assert words in report
    assert f"  {MEASURED}\n" in (results / "checksums.txt").read_text()


def test_a_target_or_the_config_chooses_it_among_the_papers(repository):
    own = {"toy_averaging", "toy_show_averaging", "toy_judge_averaging"}
    results = {"all", "catalogue", "checksums", "claims", "report"}
    assert set(repository.plan(changes=ALONE)) == own | results
    assert set(repository.plan("toy")) == own | {"toy"}


@pytest.mark.long
def test_what_stands_in_the_repository_about_papers_finds_it(repository):
    def well(*words: str) -> None:
        done = python(repository.root, *words, PYTHONPATH="src")
        assert done.returncode == 0, done.stdout + done.stderr

    well("scripts/configuration_page.py")
    assert "`toy.averaging.dimension`" in (repository / "docs/keys/toy.md").read_text()
    tests = ("-m", "pytest", "-q", "-p", "no:cacheprovider")
    names = "page_of_keys_is_in_step_with_the_schema", "no_comma_cuts_a_description_in_two"
    keys = [f"tests/unit/test_config_checks.py::test_{name}" for name in names]
    well(*tests, "tests/workflow/test_repository.py", *keys)

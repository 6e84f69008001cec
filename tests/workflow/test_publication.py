"""What is shown without a run: only what is whole, as the commit that is checked out makes it."""

import io
import json
import re
import shutil
import subprocess
import sys
from contextlib import redirect_stderr, redirect_stdout
from functools import cache
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from types import SimpleNamespace

import numpy as np
import pytest
from PIL import Image

from featlearn.core.errors import FeatlearnError
from featlearn.core.evidence.claims import FAILS, HOLDS, THEOREM, declared
from featlearn.core.files import read_parquet, write_parquet
from featlearn.core.publishing import publish as publication
from featlearn.core.publishing.ledger import FRONT, SUMMARY, judged, read_ledger
from featlearn.core.publishing.markdown_pages import (
    CLAIMS,
    LINK,
    LIST,
    LISTS,
    PAGE,
    front,
    pages,
    read_ledgers,
)
from featlearn.core.publishing.publish import (
    CHECKED,
    COPIED,
    FINDINGS,
    JUDGED,
    LISTING,
    SEED,
    elsewhere,
    published,
)
from featlearn.core.publishing.summary import measured
from featlearn.core.run.commit import CHANGED, commit

from .checkout import REPOSITORY, Checkout, python, script_of
from .toy import Toy

WORDS = ("-c", "user.name=toy", "-c", "user.email=toy@example.org", "-c", "commit.gpgsign=false")
IGNORED = "output-*.txt\n.snakemake\nresults/*\n!results/published/\n__pycache__/\n"
RUNS = published(REPOSITORY)
HERE = REPOSITORY / "results/published"


def git(toy: Checkout, *words: str) -> str:
    told = subprocess.run(
        ["git", *WORDS, *words], cwd=toy.root, check=True, capture_output=True, text=True
    )
    return told.stdout.strip()


@pytest.fixture(scope="module")
def toy(template, tmp_path_factory) -> Toy:
    """A clone of the toy with a run at its commit, which is published."""
    toy = template.copy(tmp_path_factory.mktemp("clone"))
    (toy / ".gitignore").write_text(IGNORED)
    git(toy, "init", "-q")
    git(toy, "add", ".")
    git(toy, "commit", "-q", "-m", "toy")
    toy.snakemake().well()
    told = python(toy.root, "scripts/publish.py", "smoke")
    assert told.returncode == 0, told.stderr
    assert re.fullmatch(r"results/published/smoke: [\d.]+ MB; add it to git\n", told.stdout)
    return toy


def publish(toy: Toy, *words: str) -> SimpleNamespace:
    """The script in this process: its imports take longer than its work."""
    out, error = io.StringIO(), io.StringIO()
    with pytest.MonkeyPatch.context() as patch, redirect_stdout(out), redirect_stderr(error):
        code = script_of("publish", toy.root, patch).main([*(words or ("smoke",))])
    return SimpleNamespace(returncode=code, stdout=out.getvalue(), stderr=error.getvalue())


@cache
def planned_claims(scale: str, portable: bool, papers: tuple[str, ...]) -> frozenset[str]:
    """The claims that the code here makes of papers at a scale."""
    with TemporaryDirectory() as folder:
        Path(folder, "Snakefile").write_text(
            f'include: "{REPOSITORY}/Snakefile"\n\n\nimport json\n\n'
            "every = [one.judging for one in PUBLISHED.experiments]\n"
            'Path("claims.json").write_text(json.dumps(PUBLISHED.claims_of(every)))\n'
        )
        words = ("-m", "snakemake", "-n", "-q", "all", "--cores", "1", "--config")
        told = python(Path(folder), *words, f"scale={scale}", f"portable={portable}",
                      f"papers={json.dumps(papers)}")  # fmt: skip
        assert told.returncode == 0, told.stdout + told.stderr
        given = json.loads(Path(folder, "claims.json").read_text())
    found = [declared(import_module(one["module"]), one["config"]) for one in given]
    return frozenset(claim.claim for claims in found for claim in claims)


def refused(toy: Toy) -> str:
    told = publish(toy)
    assert told.returncode == 2, told.stdout + told.stderr
    return told.stderr


def test_a_finished_run_is_published_whole(toy):
    target, source = toy / "results/published/smoke", toy / "results/smoke"
    figures = {f"toy/figures/{file.stem}.webp" for file in source.glob("toy/figures/*.png")}
    assert figures
    files = {*COPIED, SUMMARY, LISTING, PAGE, f"toy/{CLAIMS}", *figures}
    assert {*toy.files("results/published/smoke")} == files
    for name in {*COPIED} - {"claims.parquet"}:
        assert (target / name).read_bytes() == (source / name).read_bytes()
    # its ledger has the verdict that all seeds leave beside that of the run
    signed, ledger = (read_parquet(folder / "claims.parquet") for folder in (target, source))
    assert signed[ledger.columns].equals(ledger)
    assert judged(target / "claims.parquet").equals(ledger)
    assert signed["seeds"].tolist() == ["0"]
    for name in figures:
        shown, png = target / name, (source / name).with_suffix(".png")
        assert np.array_equal(np.asarray(Image.open(shown)),
                              np.asarray(Image.open(png).convert("RGB")))  # fmt: skip
    told = json.loads((target / SUMMARY).read_text())
    assert told["commit"] == git(toy, "rev-parse", "HEAD")
    assert told["files"] == len(toy.checksums())
    # published, it makes no difference to the next publication
    assert publish(toy).returncode == 0


def test_pages_are_written_anew_without_a_run(toy):
    folder = toy / "results/published/smoke"
    names = (PAGE, f"toy/{CLAIMS}", "claims.parquet")
    kept = {name: (folder / name).read_bytes() for name in names}
    for name in names[:2]:
        (folder / name).write_text("stale")
    told = publish(toy, "smoke", "--pages")
    assert told.returncode == 0, told.stderr
    assert {name: (folder / name).read_bytes() for name in kept} == kept
    told = publish(toy, "tour", "--pages")
    assert told.returncode == 2
    assert "expected a published run" in told.stderr


@pytest.mark.long
def test_a_portable_run_is_published_for_its_bytes_alone(toy):
    toy.snakemake("--config", "portable=True").well()
    assert publish(toy, "smoke-portable").returncode == 0
    folder = "results/published/smoke-portable"
    assert {*toy.files(folder)} == {*CHECKED, SUMMARY, LISTING}
    shutil.rmtree(toy / folder)


FOUND = """findings:
  - {id: views, claim: toy/closed-form, paper_says: “views cancel”,
     question: Do views cancel noise?,
     holds: '**Views cancel noise**, {value} of it.', fails: They do not., figure: toy/alignment}
  - {id: elsewhere, claim: other/claim, paper_says: p, question: q, holds: h, fails: f}
"""
PARTS = ("counts", "findings", "works", "limits")


def part(name: str, text: str = "stale") -> str:
    return f"<!-- {name}: written by `make publish` -->\n{text}\n<!-- end of {name} -->\n"


def test_a_reader_without_python_sees_what_was_found(toy, tmp_path):
    """Sentence, verdict, number and picture; the number leads to the claim."""
    folder, base = toy / "results/published/smoke", "results/published/smoke/"
    findings = tmp_path / "findings.yaml"
    findings.write_text(FOUND)
    (row,) = read_ledger(folder)
    told = pages(folder, "smoke", findings)[PAGE]
    assert "“views cancel”" in told
    assert "](toy/figures/alignment.webp)" in told
    readme = "before\n" + "between\n".join(map(part, PARTS)) + "after\n"
    shown = front(readme, folder, base, findings)
    assert front(shown, folder, base, findings) == shown
    assert "stale" not in shown
    assert re.fullmatch(r"before\n.*between.*between.*between.*after\n", shown, re.DOTALL)
    assert "| 1 | **1** | **0** | **0** |" in shown
    link = f"[{measured(row)}]({base}toy/claims.md#claim-toy-closed-form)"
    assert link in shown
    for wrong in (part("counts"), readme + part("others")):
        with pytest.raises(FeatlearnError, match=r"README\.md: parts must be counts, "):
            front(wrong, folder, base, findings)


def test_a_publication_that_fails_half_way_leaves_what_stood_there(toy, monkeypatch):
    def fails(*_):
        raise FeatlearnError("no page")

    before = toy.files("results/published")
    monkeypatch.setattr(publication, "pages", fails)
    with pytest.raises(FeatlearnError, match="no page"):
        publication.publish(toy.root, toy / "results/smoke", toy / "results/published/smoke")
    assert toy.files("results/published") == before
    aside = (toy / "results/published/smoke").rename(toy / "results/published/.smoke")
    assert published(toy.root) == {}  # nor is taken for one what was cut off
    aside.rename(toy / "results/published/smoke")


def test_the_front_run_is_published_last_and_then_the_readme_written(monkeypatch):
    """Reports of others show its verdicts; a changed README makes a checkout one of no commit."""
    script, done = script_of("publish", REPOSITORY, monkeypatch), []
    monkeypatch.setattr(script, "publish", lambda root, results, *_: done.append(results.name) or 0)
    monkeypatch.setattr(script, "front", lambda text, folder, *_: folder.name)
    monkeypatch.setattr(script, "write_atomically", lambda file, _: done.append(file.name))
    assert script.main([FRONT, "tour-portable"]) == 0
    assert done == ["tour-portable", FRONT, "README.md"]


def test_what_is_not_this_very_commit_is_refused(toy):
    (toy / "run.log").touch()  # no run reads it
    assert commit(toy.root) == git(toy, "rev-parse", "HEAD")
    (toy / "src/featlearn/new.py").touch()
    assert commit(toy.root).endswith(CHANGED)
    assert "the checkout differs from its commit" in (told := refused(toy))
    assert "new.py" in told
    assert "run.log" not in told
    (toy / "src/featlearn/new.py").unlink()
    (toy / "run.log").unlink()


def test_files_of_an_earlier_commit_are_published_where_this_one_would_make_the_same(toy):
    first = git(toy, "rev-parse", "HEAD")
    data = toy / "src/featlearn/toy/data.py"
    kept = data.read_text()
    data.write_text("# a comment changes nothing that is computed\n" + kept)
    git(toy, "commit", "-q", "-a", "-m", "comment")
    assert publish(toy).returncode == 0
    told = json.loads((toy / "results/published/smoke" / SUMMARY).read_text())
    assert told["commit"] == git(toy, "rev-parse", "HEAD") != first
    assert told["commits"] == {first: len(toy.checksums())}
    data.write_text(kept.replace("= noise *", "= 1.5 * noise *"))
    git(toy, "commit", "-q", "-a", "-m", "other numbers")
    assert re.search(r"would not stay as it is: \d+ jobs are to run", refused(toy))
    git(toy, "reset", "-q", "--hard", first)
    git(toy, "commit", "-q", "--amend", "--allow-empty", "-m", "not what the run was made at")
    assert "neither at the commit" in refused(toy)
    git(toy, "reset", "-q", "--hard", first)
    assert publish(toy).returncode == 0


def test_a_run_that_is_not_whole_or_of_other_settings_or_outside_of_git_is_refused(toy):
    figure = toy / "results/smoke/toy/figures/alignment.png"
    kept = figure.read_bytes()
    figure.unlink()
    assert "1 files are not what checksums.txt says: toy/figures/alignment.png" in refused(toy)
    figure.write_bytes(kept[:-1])
    assert "alignment.png (changed)" in refused(toy)
    figure.write_bytes(kept)
    report = toy / "results/smoke/report.html"
    kept = report.read_bytes()
    report.unlink()
    assert "has no report.html; expected a finished run" in refused(toy)
    report.write_bytes(kept)
    told = publish(toy, "tour")
    assert told.returncode == 2
    assert "expected a finished run" in told.stderr
    record = toy / "results/smoke/provenance/report.html.json"
    kept = record.read_text()
    record.write_text(kept.replace('"threads": 1', '"threads": 2'))
    assert "differs from the scale smoke in threads" in refused(toy)
    record.write_text(kept.replace('"seed": 0', '"seed": 1'))
    assert "expected the folder smoke-seed-1" in refused(toy)
    record.write_text(kept)
    aside = (toy / ".git").rename(toy / ".snakemake/git")
    assert "no checkout of git" in refused(toy)
    aside.rename(toy / ".git")


@pytest.mark.long
def test_another_seed_is_published_for_its_verdicts_and_signs_those_of_the_first(toy, tmp_path):
    toy.snakemake("--config", "seed=1", "run=smoke-seed-1").well()
    assert publish(toy, "smoke", "smoke-seed-1").returncode == 0
    here, other = (toy / "results/published" / name for name in ("smoke", "smoke-seed-1"))
    assert {*toy.files("results/published/smoke-seed-1")} == {*JUDGED, SUMMARY, LISTING}
    (row,), (second,) = read_ledger(here), read_ledger(other)
    assert row["verdict"] == row["alone"] == second["verdict"] == "holds"
    assert [one["measured"] for one in row["others"]] == [second["measured"]] != [row["measured"]]
    # neither its own page nor the run of another scale is signed by it
    assert "others" not in second
    # what one seed alone decides is open, wherever it is told
    frame = read_parquet(other / "claims.parquet").assign(verdict=FAILS)
    write_parquet(frame, other / "claims.parquet")
    (tmp_path / "findings.yaml").write_text(FOUND)
    told = pages(here, "smoke", tmp_path / "findings.yaml")
    assert "Views cancel noise" not in told[PAGE]
    assert "fails (seed 0 alone: holds)." in told[f"toy/{CLAIMS}"]
    assert "| `toy/closed-form` | holds, " in LISTS["seeds"](read_ledger(here))
    for folder in (other, toy / "results/smoke-seed-1"):
        shutil.rmtree(folder)
    assert publish(toy).returncode == 0


def test_what_differs_from_the_published_bytes_is_named(toy, monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["verify.py", "--published"])
    verify = script_of("verify", toy.root, monkeypatch)
    assert verify.main() == 2
    assert "holds no portable run" in capsys.readouterr().err
    summary = toy / "results/published/smoke" / SUMMARY
    kept = summary.read_text()
    told = json.loads(kept)
    told["config"]["portable"] = True
    told["versions"]["numpy"] = ["0.1"]
    summary.write_text(json.dumps(told))
    asked, found = [], toy.checksums()
    monkeypatch.setattr(
        verify,
        "run_again",
        lambda folder, command, *kills: asked.append([*command[-2:], *kills]) or (found, ""),
    )
    assert verify.main() == 0
    assert asked == [["scale=smoke", "portable=True", 0, 60]]
    assert capsys.readouterr().out.startswith("numpy: 0.1 in the published run, ")
    found["toy/figures/alignment.png"] = "0" * 64
    assert verify.main() == 1
    assert "toy/figures/alignment.png: differs on this machine" in capsys.readouterr().out
    summary.write_text(kept)


def test_how_the_code_here_is_another_than_that_of_a_published_run(tmp_path):
    here = Checkout(tmp_path / "clone")
    here.root.mkdir()
    assert "here is no commit" in elsewhere(here.root, "0" * 40)
    git(here, "init", "-q")
    commits = []
    for name in ("first", "second"):
        git(here, "commit", "-q", "--allow-empty", "-m", name)
        commits.append(git(here, "rev-parse", "HEAD"))
    first, second = commits
    assert elsewhere(here.root, second) == ""
    assert f"here is {second[:12]}, which came later;" in elsewhere(here.root, first)
    git(here, "checkout", "-q", first)
    assert elsewhere(here.root, second).endswith(f"here is {first[:12]}")
    shallow = Checkout(tmp_path / "shallow")
    git(here, "clone", "-q", "--depth", "1", f"file://{here.root}", str(shallow.root))
    assert elsewhere(shallow.root, first) == ""
    assert "not in this clone" in elsewhere(shallow.root, second)


@pytest.mark.parametrize("folder", [
    pytest.param(one, id=one.name, marks=() if one.name.startswith(FRONT) else pytest.mark.long)
    for one in RUNS
])  # fmt: skip
def test_published_claims_are_those_of_the_code_or_the_changelog_names_them(folder):
    config = RUNS[folder]["config"]
    known = planned_claims(config["scale"], config["portable"], tuple(config["papers"]))
    judged = {*read_parquet(folder / "claims.parquet")["claim"]}
    # another seed signs the claims that both have; the pages say how many are newer
    assert judged & known
    if SEED not in folder.name:  # between publications the changelog names each that is not in both
        changes = (REPOSITORY / "CHANGELOG.md").read_text().partition("\n## ")[2]
        assert {claim for claim in judged ^ known if f"`{claim}`" not in changes} == set()


def test_the_pages_of_the_published_run_are_those_of_its_ledger():
    readme = (REPOSITORY / "README.md").read_text()
    base = f"results/published/{FRONT}/"
    assert front(readme, HERE / FRONT, base, REPOSITORY / FINDINGS) == readme
    # no number of a claim stands outside of the parts that are written
    assert not LINK.search(LIST.sub("", readme))
    for file, text in pages(HERE / FRONT, FRONT, REPOSITORY / FINDINGS).items():
        assert (HERE / FRONT / file).read_text() == text, file
    for claim, row in read_ledgers(REPOSITORY)[FRONT].items():
        text = (HERE / FRONT / row["paper"] / CLAIMS).read_text()
        assert text.count(f'<a id="claim-{claim}"></a>') == 1, claim


def test_readme_report_pages_and_table_agree_on_every_total():
    rows = read_ledger(HERE / FRONT)
    assert read_parquet(HERE / FRONT / "claims.parquet")["verdict"].tolist() == [
        row["verdict"] for row in rows
    ]
    printed = [row for row in rows if row["kind"] == THEOREM]
    counts = [sum(row["verdict"] == verdict for row in printed) for verdict in (HOLDS, FAILS)]
    total = f"{counts[0]} hold, {counts[1]} fail, {len(printed) - sum(counts)} are open"
    whole = f"there are {len(rows)} claims: "
    for page in ("report.html", PAGE):
        text = (HERE / FRONT / page).read_text()
        assert total in text, page
        assert whole in text, page
    readme = (REPOSITORY / "README.md").read_text()
    cells = (
        f"| {len(printed)} | **{counts[0]}** | **{counts[1]}** | **{len(printed) - sum(counts)}** |"
    )
    assert cells in readme
    table = re.findall(r"^\| \[.*\| (\d+) \| (\d+) \| \[(\d+)\]", readme, re.MULTILINE)
    assert [sum(map(int, column)) for column in zip(*table, strict=True)] == [
        *counts, len(printed) - sum(counts),
    ]  # fmt: skip

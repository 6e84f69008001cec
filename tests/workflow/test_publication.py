"""What is shown without a run: only what is whole, as the commit that is checked out makes it."""

from __future__ import annotations

import importlib.util
import json
import re
import shutil
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from PIL import Image

from featlearn.core import publication
from featlearn.core.claims import FAILS, VERDICTS, declared
from featlearn.core.commit import CHANGED, commit
from featlearn.core.errors import FeatlearnError
from featlearn.core.files import read_parquet, write_parquet
from featlearn.core.front import (
    CLAIMS,
    CLOSES,
    FRONT,
    OPENS,
    PAGE,
    SUMMARY,
    front,
    pages,
    put_in_front,
    read_ledger,
)
from featlearn.core.pages import LISTS, read_ledgers
from featlearn.core.publication import (
    CHECKED,
    COPIED,
    FINDINGS,
    JUDGED,
    SEED,
    elsewhere,
    published,
)

from .checkout import REPOSITORY, Checkout, environment
from .toy import Toy

pytestmark = pytest.mark.workflow

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
def toy(fresh_toy) -> Toy:
    """A clone of the toy with a run at its commit."""
    toy = fresh_toy()
    (toy / ".gitignore").write_text(IGNORED)
    git(toy, "init", "-q")
    git(toy, "add", ".")
    git(toy, "commit", "-q", "-m", "toy")
    toy.snakemake().well()
    return toy


def publish(toy: Toy, *words: str) -> subprocess.CompletedProcess:
    command = [sys.executable, "scripts/publish.py", *(words or ("smoke",))]
    return subprocess.run(
        command, cwd=toy.root, env=environment(), capture_output=True, text=True, check=False
    )


def script_of(name: str, root: Path, monkeypatch) -> ModuleType:
    """A script as a module."""
    monkeypatch.setattr(sys, "path", list(sys.path))
    spec = importlib.util.spec_from_file_location(name, root / f"scripts/{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def refused(toy: Toy) -> str:
    told = publish(toy)
    assert told.returncode == 2, told.stdout + told.stderr
    assert "Traceback" not in told.stderr
    return told.stderr


def test_a_finished_run_is_published_whole(toy):
    told = publish(toy)
    assert told.returncode == 0, told.stderr
    assert re.fullmatch(r"results/published/smoke: [\d.]+ MB; add it to git\n", told.stdout)
    target, source = toy / "results/published/smoke", toy / "results/smoke"
    figures = {f"toy/figures/{file.stem}.webp" for file in source.glob("toy/figures/*.png")}
    assert figures
    assert {*toy.files("results/published/smoke")} == {
        *COPIED,
        SUMMARY,
        PAGE,
        f"toy/{CLAIMS}",
        *figures,
    }
    for name in COPIED:
        assert (target / name).read_bytes() == (source / name).read_bytes()
    for name in figures:
        with (
            Image.open(target / name) as shown,
            Image.open((source / name).with_suffix(".png")) as png,
        ):
            assert np.array_equal(np.asarray(shown), np.asarray(png.convert("RGB")))
    told = json.loads((target / SUMMARY).read_text())
    assert told["commit"] == git(toy, "rev-parse", "HEAD")
    assert told["files"] == len(toy.checksums())
    assert told["jobs"]["toy"] >= 3
    assert told["seconds"]["toy"] > 0
    assert told["versions"]["torch"]
    # published, it makes no difference to the next publication
    assert publish(toy).returncode == 0


def test_pages_are_written_anew_without_a_run(toy):
    assert publish(toy).returncode == 0
    folder = toy / "results/published/smoke"
    kept = {name: (folder / name).read_text() for name in (PAGE, f"toy/{CLAIMS}")}
    for name in kept:
        (folder / name).write_text("stale")
    told = publish(toy, "smoke", "--pages")
    assert told.returncode == 0, told.stderr
    assert {name: (folder / name).read_text() for name in kept} == kept
    told = publish(toy, "tour", "--pages")
    assert told.returncode == 2
    assert "expected a published run" in told.stderr


def test_a_portable_run_is_published_for_its_bytes_alone(toy):
    toy.snakemake("--config", "portable=True").well()
    assert publish(toy, "smoke-portable").returncode == 0
    folder = "results/published/smoke-portable"
    assert {*toy.files(folder)} == {*CHECKED, SUMMARY}
    shutil.rmtree(toy / folder)


FOUND = """findings:
  - {id: views, claim: toy/closed-form, question: Do views cancel noise?,
     holds: 'Views cancel noise | all of it.', fails: They do not., figure: toy/alignment}
  - {id: elsewhere, claim: other/claim, question: q, holds: h, fails: f}
  - {id: unseen, claim: toy/closed-form, question: q, holds: Said without a picture., fails: f}
"""


def test_a_reader_without_python_sees_what_was_found(toy, tmp_path):
    """Sentence, verdict, number and picture; the number leads to the claim in the report."""
    assert publish(toy).returncode == 0
    folder = toy / "results/published/smoke"
    (tmp_path / "findings.yaml").write_text(FOUND)
    (row,) = read_parquet(folder / "claims.parquet").to_dict("records")
    assert row["verdict"] == "holds"
    told = pages(folder, "smoke", tmp_path / "findings.yaml")[PAGE]
    assert "\n| [toy](toy/claims.md) (`toy`) | 1 | 1 | 0 | 0 | 0 | 1 |\n" in told
    assert "| scale, base seed | smoke, 0 |" in told
    assert "## Views cancel noise | all of it.\n" in told
    assert "](toy/figures/alignment.webp)" in told
    assert told.count("](toy/claims.md#claim-toy-closed-form); band 0.9 to 1.1") == 2
    assert (folder / PAGE).read_text().startswith("# What the run `smoke` found\n")
    readme = tmp_path / "README.md"
    readme.write_text(f"before\n{OPENS}\nstale words\n{CLOSES}\nafter\n")
    base = "results/published/smoke/"
    for _ in range(2):
        put_in_front(readme, front(folder, base, tmp_path / "findings.yaml"))
    shown = readme.read_text()
    (line,) = [line for line in shown.splitlines() if "<img" in line]
    cells = re.split(r"(?<!\\)\|", line)
    assert [bool(cell.strip()) for cell in cells] == [False, True, False]  # one picture, one cell
    assert shown.startswith(f"before\n{OPENS}\n")
    assert shown.endswith(f"{CLOSES}\nafter\n")
    assert "stale words" not in shown
    assert shown.count(f'<img src="{base}toy/figures/alignment.webp"') == 1
    assert "Said without a picture" not in shown
    assert r"Views cancel noise \| all of it." in shown
    found = LINK.findall(shown)  # as what holds of its paper, and with its picture
    assert [one[1:] for one in found] == [("smoke", "toy/claims.md", "toy-closed-form")] * 2
    assert all(agrees(text, row) for text, *_ in found)
    readme.write_text("no such lines")
    with pytest.raises(FeatlearnError, match="expected the lines"):
        put_in_front(readme, shown)


def test_a_publication_that_fails_half_way_leaves_what_stood_there(toy, monkeypatch):
    def fails(*_):
        raise FeatlearnError("no page")

    assert publish(toy).returncode == 0
    before = toy.files("results/published")
    monkeypatch.setattr(publication, "write_pages", fails)
    with pytest.raises(FeatlearnError, match="no page"):
        publication.publish(toy.root, toy / "results/smoke", toy / "results/published/smoke")
    assert toy.files("results/published") == before
    aside = (toy / "results/published/smoke").rename(toy / "results/published/.smoke")
    assert published(toy.root) == {}  # nor is taken for one what was cut off
    aside.rename(toy / "results/published/smoke")


def test_the_readme_is_written_when_all_runs_are_published(monkeypatch):
    """A changed README would make a publication of the next run one of no commit."""
    script, done = script_of("publish", REPOSITORY, monkeypatch), []
    monkeypatch.setattr(script, "publish", lambda root, results, _: done.append(results.name) or 0)
    monkeypatch.setattr(script, "front", lambda folder, *_: folder.name)
    monkeypatch.setattr(script, "put_in_front", lambda readme, told: done.append(readme.name))
    assert script.main([FRONT, "tour-portable"]) == 0
    assert done == [FRONT, "tour-portable", "README.md"]
    assert script.main(["tour-portable"]) == 0  # of which the README tells the cost
    assert done[3:] == ["tour-portable", "README.md"]


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


def test_a_run_that_is_not_whole_is_refused(toy):
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


def test_a_run_of_other_settings_than_its_scale_is_refused(toy):
    record = toy / "results/smoke/provenance/report.html.json"
    kept = record.read_text()
    record.write_text(kept.replace('"threads": 1', '"threads": 2'))
    assert "differs from the scale smoke in threads" in refused(toy)
    record.write_text(kept.replace('"seed": 0', '"seed": 1'))
    assert "expected the folder smoke-seed-1" in refused(toy)
    record.write_text(kept)


def test_another_seed_is_published_for_its_verdicts_and_signs_those_of_the_first(toy, tmp_path):
    toy.snakemake("--config", "seed=1", "run=smoke-seed-1").well()
    assert publish(toy, "smoke", "smoke-seed-1").returncode == 0
    here, other = (toy / "results/published" / name for name in ("smoke", "smoke-seed-1"))
    assert {*toy.files("results/published/smoke-seed-1")} == {*JUDGED, SUMMARY}
    (row,) = read_ledger(here)
    (second,) = read_parquet(other / "claims.parquet").to_dict("records")
    assert row["verdict"] == row["alone"] == second["verdict"] == "holds"
    (told,) = row["others"]
    assert told["measured"] == second["measured"] != row["measured"]
    (tmp_path / "findings.yaml").write_text(FOUND)
    told = pages(here, "smoke", tmp_path / "findings.yaml")
    assert "What two seeds judge differently, no claims," in told[PAGE]
    assert "- With the base seed 1: **" in told[f"toy/{CLAIMS}"]
    # what one seed alone decides is open, wherever it is told
    frame = read_parquet(other / "claims.parquet").assign(verdict=FAILS)
    write_parquet(frame, other / "claims.parquet")
    told = pages(here, "smoke", tmp_path / "findings.yaml")
    assert "\n| [toy](toy/claims.md) (`toy`) | 1 | 0 | 0 | 1 | 0 | 1 |\n" in told[PAGE]
    assert "Views cancel noise" not in told[PAGE]
    assert "fails (with the first seed alone: holds)." in told[f"toy/{CLAIMS}"]
    listed = LISTS["seeds"](read_ledger(here))
    assert listed.startswith("1 claims have more than one verdict and count as undecided; 1 of")
    assert "| `toy/closed-form` | holds, " in listed
    # neither its own page nor the run of another scale is signed by it
    (only,) = read_ledger(other)
    assert "others" not in only
    for folder in (other, toy / "results/smoke-seed-1"):
        shutil.rmtree(folder)
    assert publish(toy).returncode == 0


def test_outside_of_git_nothing_is_published(toy):
    aside = (toy / ".git").rename(toy / ".snakemake/git")
    assert "no checkout of git" in refused(toy)
    aside.rename(toy / ".git")


def test_what_differs_from_the_published_bytes_is_named(toy, monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["verify.py", "--published"])
    verify = script_of("verify", toy.root, monkeypatch)
    assert publish(toy).returncode == 0
    assert verify.main() == 2
    assert "holds no portable run" in capsys.readouterr().err
    summary = toy / "results/published/smoke" / SUMMARY
    told = json.loads(summary.read_text())
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
    lines = capsys.readouterr().out.splitlines()
    # of torch, which is not loaded here, the build is not known
    assert lines[0].startswith("numpy: 0.1 in the published run, ")
    assert not [line for line in lines if line.startswith("torch: ")]
    assert lines[-1].endswith("every byte equal on this machine")
    found["toy/figures/alignment.png"] = "0" * 64
    assert verify.main() == 1
    assert "toy/figures/alignment.png: differs on this machine" in capsys.readouterr().out


def test_how_the_code_here_is_another_than_that_of_a_published_run(tmp_path):
    here = Checkout(tmp_path / "clone")
    here.root.mkdir()
    assert "here is no checkout of git" in elsewhere(here.root, "0" * 40)
    git(here, "init", "-q")
    commits = []
    for name in ("first", "second"):
        git(here, "commit", "-q", "--allow-empty", "-m", name)
        commits.append(git(here, "rev-parse", "HEAD"))
    first, second = commits
    assert elsewhere(here.root, second) == ""
    assert f"before the one here, {second[:12]};" in elsewhere(here.root, first)
    (here / "src").mkdir()
    (here / "src/new.py").touch()
    assert "files here differ: src/new.py" in elsewhere(here.root, second)
    assert f"before the one here, {second[:12]}+;" in elsewhere(here.root, first)
    (here / "src/new.py").unlink()
    git(here, "checkout", "-q", first)
    assert f"not in the history of the one here, {first[:12]}" in elsewhere(here.root, second)
    shallow = Checkout(tmp_path / "shallow")
    git(here, "clone", "-q", "--depth", "1", f"file://{here.root}", str(shallow.root))
    assert elsewhere(shallow.root, first) == ""
    assert "is not in this clone (a shallow one" in elsewhere(shallow.root, second)


# ------------------------------------------------------------------------------- what is published


@pytest.mark.parametrize("folder", RUNS, ids=lambda folder: folder.name)
def test_published_claims_are_those_of_the_code(folder, tmp_path):
    told = RUNS[folder]
    (tmp_path / "Snakefile").write_text(
        f'include: "{REPOSITORY}/Snakefile"\n\n\nimport json\n\n'
        "every = [one.judging for one in PUBLISHED.experiments]\n"
        'Path("claims.json").write_text(json.dumps(PUBLISHED.claims_of(every)))\n'
    )
    chosen = [f"{key}={told['config'][key]}" for key in ("scale", "portable")]
    planned = subprocess.run(
        [sys.executable, "-m", "snakemake", "-n", "-q", "all", "--cores", "1", "--config", *chosen],
        cwd=tmp_path, env=environment(), check=False, capture_output=True, text=True,
    )  # fmt: skip
    assert planned.returncode == 0, planned.stdout + planned.stderr
    given = json.loads((tmp_path / "claims.json").read_text())
    known = {
        claim.claim
        for one in given
        for claim in declared(import_module(one["module"]), one["config"])
    }
    judged = {*read_parquet(folder / "claims.parquet")["claim"]}
    # another seed signs what it judged; which claims are newer than it, pages tell
    assert judged <= known if SEED in folder.name else judged == known


#: A number of README and docs that links to the claim it is measured for: ``[0.98](...#claim-x)``.
LINK = re.compile(
    r"\[([^\]]+)\]\(\S*results/published/([\w-]+)/(report\.html|\w+/claims\.md)#claim-([\w.-]+)\)"
)
POWER = re.compile(r"(?:(\d[\d.]*)·)?10([⁻⁰¹²³⁴⁵⁶⁷⁸⁹]+)")
PLAIN = str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789")
NUMBER = re.compile(r"(±\s*)?([−-]?\d[\d,]*(?:\.\d+)?(?:e[−-]?\d+)?)(\s?%)?")


def agrees(text: str, row: dict) -> bool:
    """Whether a text tells of a claim what its row has, and nothing else.

    That is its verdict; what was measured, then the ends of its interval; half its width after a ±;
    each as it is rounded.
    """
    text, *others = re.split(r", (?=\S+(?: %)? with seed \d)", text)
    by_seed = {str(other["seed"]): other for other in row.get("others", ())}
    for told, _, seed in (other.partition(" with seed ") for other in others):
        if seed not in by_seed or not agrees(told, by_seed[seed]):
            return False
    words = [word for word in VERDICTS if word in text]
    if words and words != [row["verdict"]]:
        return False
    text = POWER.sub(lambda found: f"{found[1] or 1}e{found[2].translate(PLAIN)}", text)
    told = iter(("measured", "interval_low", "interval_high"))
    numbers = 0
    for spread, number, percent in NUMBER.findall(text):
        key = "spread" if spread else next(told, None)
        if key is None:
            return False
        mantissa, _, exponent = number.replace(",", "").replace("−", "-").partition("e")
        unit = 10.0 ** (int(exponent or 0) - len(mantissa.partition(".")[2]))
        value = row[key] * (100 if percent else 1)
        if not abs(float(mantissa) * 10.0 ** int(exponent or 0) - value) <= 0.5 * unit * (1 + 1e-6):
            return False
        numbers += 1
    return bool(words) or numbers > 0


@pytest.mark.skipif(not RUNS, reason="nothing is published yet")
def test_numbers_of_the_pages_come_from_the_published_run():
    files = [REPOSITORY / "README.md", *sorted((REPOSITORY / "docs").glob("*.md"))]
    found = [(file, *told) for file in files for told in LINK.findall(file.read_text())]
    assert any(file.name == "README.md" for file, *_ in found)
    ledgers = read_ledgers(REPOSITORY)
    for file, text, run, page, claim in found:
        assert claim in ledgers[run], f"{file.name}: no claim {claim} in {run}"
        row = ledgers[run][claim]
        assert page in ("report.html", f"{row['paper']}/{CLAIMS}"), f"{file.name}: {claim}"
        assert agrees(text, row), f"{file.name}: {text} is not {claim} of {run}"


published_front = pytest.mark.skipif(
    not any(folder.name == FRONT for folder in RUNS), reason="nothing is published yet"
)


@published_front
def test_the_pages_of_the_published_run_are_those_of_its_ledger():
    told = front(HERE / FRONT, f"results/published/{FRONT}/", REPOSITORY / FINDINGS)
    assert f"{OPENS}\n{told}\n{CLOSES}" in (REPOSITORY / "README.md").read_text()
    for file, text in pages(HERE / FRONT, FRONT, REPOSITORY / FINDINGS).items():
        assert (HERE / FRONT / file).read_text() == text, file
        anchors = set(re.findall(r'<a id="([^"]+)"></a>', text))
        assert anchors >= set(re.findall(r"\]\(#([^)]+)\)", text)), file


@published_front
def test_every_published_claim_has_a_place_on_the_page_of_its_paper():
    for claim, row in read_ledgers(REPOSITORY)[FRONT].items():
        text = (HERE / FRONT / row["paper"] / CLAIMS).read_text()
        assert text.count(f'<a id="claim-{claim}"></a>') == 1, claim


@published_front
def test_failures_are_pictured_in_front_as_often_as_they_are_in_the_ledger():
    told = front(HERE / FRONT, "", REPOSITORY / FINDINGS)
    rows = read_ledgers(REPOSITORY)[FRONT].values()
    pictured = re.findall(r"</a><br>\*\*([a-z ]+)\*\*", told)
    share = sum(row["verdict"] == FAILS for row in rows) / len(rows)
    assert len(pictured) == 12
    assert share <= pictured.count(f"the claim {FAILS}") / len(pictured) <= 1 / 3
    # each paper with a finding that fails tells one, each has a picture
    for paper in {row["paper"] for row in rows}:
        assert f'<img src="{paper}/figures/' in told, paper


def test_numbers_are_compared_as_they_are_rounded():
    row = {
        "verdict": "holds", "measured": 0.5249, "interval_low": 0.4951, "interval_high": 0.5547,
        "spread": 0.0298,
    }  # fmt: skip
    for text in (
        "0.52", "0.5", "52 %", "0.525 ± 0.03", "it holds", "0.52 (0.50 to 0.55)", "holds, 0.525",
        "0.525, computed", "5.2·10⁻¹",
    ):  # fmt: skip
        assert agrees(text, row), text
    for text in (
        "0.53", "53%", "it fails", "fails, 0.52", "holds, 0.53", "0.525 ± 0.01",
        "0.52 (0.50 to 0.56)", "0.52 (0.51 to 0.55)", "0.52 of 7", "so it is",
    ):  # fmt: skip
        assert not agrees(text, row), text


def test_what_is_published_is_in_git_and_in_no_package():
    for name in ("MANIFEST.in", "setup.py"):
        assert "results" not in (REPOSITORY / name).read_text()
    told = subprocess.run(
        ["git", "check-ignore", "results/published/desk/report.html", "results/desk/report.html"],
        cwd=REPOSITORY, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert told.stdout.split() == ["results/desk/report.html"]

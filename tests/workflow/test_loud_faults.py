"""A fault in what a paper declares is told by name: in the plan, or before it computes."""

import pytest

from .toy import ANALYSIS, MEASURED, PACKAGE, RULES

SHOWN = "results/smoke/toy/figures/alignment.svg"


@pytest.fixture
def toy(template, tmp_path):
    return template.copy(tmp_path)


def refused(toy) -> str:
    return toy.snakemake("--dry-run").refused()


def test_two_figures_of_a_family_with_one_title_are_told(toy):
    toy.replace(ANALYSIS, '@figure("alignment")', '@figure("alignment")\n@figure("again")')
    assert "again and alignment have one title" in refused(toy)
    toy.replace(ANALYSIS, "out of the noise", "out of the noise: {{ name }}")
    toy.snakemake("--dry-run").well()


WRONG_RULES = """

use rule calculate as toy_forgotten with:
    output:
        f"{RESULTS}/toy/forgotten.parquet",


use rule calculate as toy_other with:
    output:
        f"{RESULTS}/toy/other.parquet",
    params:
        **{**by("toy.experiments:averaging"), "code": code("toy.data")},


use rule calculate as toy_word with:
    output:
        f"{RESULTS}/toy/word.parquet",
    params:
        **by("toy.experiments:averaging", contains="measurd"),


rule toy_own:
    output:
        f"{RESULTS}/toy/own.txt",
    script:
        str(ROOT / "scripts" / "own.py")
"""


def test_rules_without_their_code_are_told_by_their_names(toy):
    toy.edit(RULES, WRONG_RULES)
    told = refused(toy)
    for line in (
        "rule toy_forgotten: names no function to call; expected **by(...)",
        "rule toy_other: its `code` is not that of featlearn.toy.experiments:averaging",
        "rule toy_word: contains 'measurd'; expected one of measured, drawn",
        "rule toy_own: no `code` among its params",
    ):
        assert line in told
    assert "rule toy_averaging" not in told


@pytest.mark.parametrize(("right", "wrong", "told"), [
    (
        "    out_of_reach =",
        '    artefact = "toy/measurements/avreaging.parquet"\n    out_of_reach =',
        "claim toy/closed-form: its artefact toy/measurements/avreaging.parquet is none of",
    ),
    pytest.param('replicates("averaging")', 'replicates("avreaging")', "analysis: no 'avreaging'",
                 marks=pytest.mark.long),
    pytest.param("low=0.9, high=1.1", "low=1.9, high=1.1", "band [1.9, 1.1] is empty",
                 marks=pytest.mark.long),
])  # fmt: skip
def test_a_claim_that_cannot_be_judged_is_told_before_anything_is_computed(toy, right, wrong, told):
    toy.replace(ANALYSIS, right, wrong)
    toy.snakemake().refused(told)
    assert not (toy / f"results/smoke/{MEASURED}").exists()


@pytest.mark.long
def test_a_figure_alone_needs_no_claims(toy):
    toy.replace(ANALYSIS, 'paper, kind, possible = "toy", ', "kind, possible = ")
    toy.snakemake(SHOWN).well()
    assert (toy / SHOWN).is_file()


BEGINNING = '    noise, dimension = job.config["noise"]'
SILENT = "ended without a word"
ENDS = {
    "sys.exit(0)": ("import sys; sys.exit(0)", "ended itself (exit status 0)"),
    "SIGABRT": ("import os; os.abort()", SILENT),
    "no rows": ("return {'alignment': tidy({'views': []})}", "alignment has no rows"),
}


@pytest.mark.long
@pytest.mark.parametrize(("line", "told"), ENDS.values(), ids=ENDS)
def test_a_job_that_ends_without_its_files_is_told_with_rule_reason_and_log(toy, line, told):
    toy.replace(f"{PACKAGE}/experiments.py", BEGINNING, f"    {line}\n{BEGINNING}")
    ended = toy.snakemake("--latency-wait", "0")
    assert ended.code != 0
    assert "rule toy_averaging" in ended.text
    page = (toy / "results/smoke/unfinished.html").read_text()
    assert "toy_averaging" in page
    assert told in page
    assert not (toy / f"results/smoke/{MEASURED}").exists()
    if told != SILENT:
        log = "logs/toy/averaging.log"
        assert log in page
        assert told in (toy / f"results/smoke/{log}").read_text()

"""The workflow as a module of another one."""

from .checkout import Checkout, digest

OUTER = """
module featlearn:
    snakefile: "{clone}/workflow/Snakefile"
    config: {{"scale": "smoke", "run": "theirs"}}

use rule * from featlearn as featlearn_*

rule mine:
    default_target: True
    input:
        "results/theirs/looped/claims/construction.parquet",
        figure="results/theirs/looped/figures/ablations.svg",
    output:
        "mine.svg"
    shell:
        "cp {{input.figure}} {{output}}"
"""


def test_another_workflow_builds_on_results_of_this_one(sources, finished, tmp_path):
    outer = Checkout(tmp_path)
    (outer / "Snakefile").write_text(OUTER.format(clone=sources.root), encoding="utf-8")
    before = sources.files()
    told = outer.snakemake(configfile=None).well()
    assert told.finished["mine"] == 1
    assert told.finished["featlearn_looped_construction"] == 1
    drawn = finished / "results/smoke/looped/figures/ablations.svg"
    assert digest(outer / "mine.svg") == digest(drawn)
    wanted, made = finished.made(), outer.made("theirs")
    assert {name: wanted[name] for name in made} == made
    assert sources.files() == before  # the clone is read only
    assert outer.snakemake(configfile=None).nothing_to_do

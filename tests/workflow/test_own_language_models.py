"""Figures of chapters 5 and 9 of causal models in folders, from a config of a few lines."""

import json
import shutil

import numpy as np
import pandas as pd
import pytest

pytestmark = pytest.mark.workflow

SETTINGS = """
run: own
papers: [icl]
icl:
  language:
    models:
      base: {tiny: weights/tiny, again: weights/tiny}
    texts:
      films: {file: films.jsonl}
      other: {file: other.parquet, words: [bad, good]}
    examples: 4
    shares: [0, 0.5, 1]
    prompts: 3
    seeds: 2
    shown: 2
"""
FIGURES = [f"results/own/icl/figures/fig-5-{number}.svg" for number in (1, 2, 3)]


def test_figures_of_models_and_texts_that_a_config_names(fresh, tiny_llama):
    checkout = fresh()
    shutil.copytree(tiny_llama, checkout / "weights/tiny")
    random = np.random.default_rng(0)
    rows = [{"text": " ".join(random.choice(["good", "bad", "film"], 3)), "label": k % 2}
            for k in range(12)]  # fmt: skip
    (checkout / "films.jsonl").write_text("\n".join(json.dumps(row) for row in rows))
    pd.DataFrame(rows).to_parquet(checkout / "other.parquet")
    told = checkout.snakemake(*FIGURES, configfile=None, changes=SETTINGS).well()
    assert told.finished["icl_language"] == told.finished["icl_show_language"] == 1
    assert "icl_small" not in told.finished
    flips = pd.read_parquet(checkout / "results/own/icl/measurements/language/flips.parquet")
    assert set(flips["data"]) == {"films", "other"}
    assert set(flips["model"]) == {"tiny", "again"}
    assert set(flips["share"]) == {0, 0.5, 1}
    assert flips["value"].between(0, 1).all()
    # the same weights by another name see the same prompts
    wide = flips.pivot_table(index=["data", "share", "replicate"], columns="model", values="value")
    assert (wide["tiny"] == wide["again"]).all()
    beside = checkout / "results/own/provenance/icl/figures/fig-5-1.svg.json"
    assert json.loads(beside.read_text())["contains"] == "measured"


NEEDLES = """
run: own
papers: [gemfilter]
gemfilter:
  depths: 3
  language:
    models: {tiny: {folder: reader/model, filter_layer: 1}}
    haystack: reader
    lengths: [420]
    kept: [48]
    window: 8
    steps: 3
"""


def test_needles_are_read_by_a_model_that_a_config_names(fresh, tiny_reader):
    checkout = fresh()
    shutil.copytree(tiny_reader, checkout / "reader")
    figures = [f"results/own/gemfilter/figures/fig-{name}.svg" for name in ("9-4", "9-5", "g-5")]
    told = checkout.snakemake(*figures, configfile=None, changes=NEEDLES).well()
    assert told.finished["gemfilter_needle"] == told.finished["gemfilter_show_needle"] == 1
    assert "gemfilter_training" not in told.finished
    read = checkout / "results/own/gemfilter/measurements/needle/tiny-scores.parquet"
    scores = pd.read_parquet(read)
    assert scores["value"].between(0, 1).all()
    assert set(scores["network"]) == {"tiny"}
    for name in figures:
        beside = checkout / name.replace("results/own", "results/own/provenance")
        assert json.loads(beside.with_suffix(".svg.json").read_text())["contains"] == "measured"

"""Figures of chapters 5 and 9 of causal models in folders, from a config of a few lines."""

import json
import shutil

import numpy as np
import pandas as pd
import pytest

pytestmark = pytest.mark.long
SETTINGS = """
run: own
papers: [icl, gemfilter]
icl:
  language:
    models:
      base: {tiny: reader/model, again: reader/model}
    texts:
      films: {file: films.jsonl}
      other: {file: other.parquet, words: [bad, good]}
    examples: 4
    shares: [0, 0.5, 1]
    prompts: 3
    seeds: 2
    shown: 2
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
FIGURES = [f"icl/figures/fig-5-{number}.svg" for number in (1, 2, 3)]
FIGURES += [f"gemfilter/figures/fig-{name}.svg" for name in ("9-4", "9-5", "g-5")]


def test_figures_of_models_and_texts_that_a_config_names(fresh, tiny_reader):
    checkout = fresh()
    results = checkout / "results/own"
    shutil.copytree(tiny_reader, checkout / "reader")
    random = np.random.default_rng(0)
    rows = [{"text": " ".join(random.choice(["good", "bad", "film"], 3)), "label": k % 2}
            for k in range(12)]  # fmt: skip
    (checkout / "films.jsonl").write_text("\n".join(json.dumps(row) for row in rows))
    pd.DataFrame(rows).to_parquet(checkout / "other.parquet")
    figures = [f"results/own/{name}" for name in FIGURES]
    told = checkout.snakemake(*figures, configfile=None, changes=SETTINGS).well()
    # and no network of the run
    assert told.finished == dict.fromkeys(
        ("icl_language", "icl_show_language", "gemfilter_needle", "gemfilter_show_needle"), 1
    )
    for name in FIGURES:
        beside = results / "provenance" / f"{name}.json"
        # a folder with a model in it is none of the thesis'
        kind = "measured" if name.startswith("icl") else "stand-in"
        assert json.loads(beside.read_text())["contains"] == kind
    flips = pd.read_parquet(results / "icl/measurements/language/flips.parquet")
    assert set(flips["data"]) == {"films", "other"}
    assert set(flips["model"]) == {"tiny", "again"}
    assert set(flips["share"]) == {0, 0.5, 1}
    # the same weights by another name see the same prompts
    wide = flips.pivot_table(index=["data", "share", "replicate"], columns="model", values="value")
    assert (wide["tiny"] == wide["again"]).all()
    scores = pd.read_parquet(results / "gemfilter/measurements/needle/tiny-scores.parquet")
    assert scores["value"].between(0, 1).all()
    assert set(scores["network"]) == {"tiny"}

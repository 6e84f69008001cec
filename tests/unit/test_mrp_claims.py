"""Claims of mrp can fail: each is fed frames for which it must, and for which it must not."""

import importlib
import pkgutil
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest

from featlearn.core.evidence.claim_methods import of_module
from featlearn.core.evidence.claims import FAILS, HOLDS, OUTSIDE, UNDECIDED, ledger
from featlearn.core.run.config import load
from featlearn.mrp import analysis as package
from featlearn.mrp.analysis.clean import WIDE, Clean, Noise, Purity
from featlearn.mrp.analysis.finetuning import Finetuning
from featlearn.mrp.analysis.growth import Growth
from featlearn.mrp.analysis.headline import Headline
from featlearn.mrp.analysis.opponents import Opponents
from featlearn.mrp.analysis.regimes import Classes
from featlearn.mrp.analysis.runaway import Runaway
from featlearn.mrp.analysis.teacher_student import EqualStart
from featlearn.mrp.analysis.transfer import Transfer
from featlearn.mrp.labels import UNLEARNED
from unit import ROOT
from unit.test_picture_experiment import rows

REPLICATES = 10
DESK = load({"scale": "desk"}, ROOT)


def frame(value: Any, **axes: Any) -> pd.DataFrame:
    """Every combination of the axes in each replicate; ``value`` may be a function of them."""
    each = {name: own if isinstance(own, list | tuple) else [own] for name, own in axes.items()}
    given = value if callable(value) else lambda **_: value
    return rows(lambda replicate, **row: given(**row) + 1e-4 * (replicate % 2), REPLICATES, **each)


def verdict(group, name: str, config=None, **frames: pd.DataFrame) -> str:
    config = config or DESK["mrp"]
    (claim,) = (claim for claim in group(config) if claim.claim == f"mrp/{name}")
    return ledger([claim], frames, config)["verdict"].iloc[0]


@pytest.mark.parametrize(("limit", "wanted"), [(0.5, HOLDS), (0.65, FAILS)])
def test_the_captured_share_must_go_to_one_half(limit, wanted):
    found = frame(lambda classes, **_: limit + np.log(classes) / classes, model="supervised",
                  quantity="captured", classes=[10, 20, 50])  # fmt: skip
    assert verdict(Classes, "t16-classes-limit", classes=found) == wanted


@pytest.mark.parametrize(
    ("kept", "loss", "wanted"), [(1.1, 0.001, HOLDS), (0.9, 0.001, FAILS), (1.1, 0.5, FAILS)]
)
def test_fine_tuning_must_fit_and_keep_every_feature(kept, loss, wanted):
    after = frame(kept, model="simultaneous", quantity="least_kept")
    steps = frame(loss, model="simultaneous", step=[0, 9])
    frames = {"evaluation": after, "learning": steps.rename(columns={"value": "loss"})}
    assert verdict(Finetuning, "t15-features-kept", **frames) == wanted


def hits(case: str, arrives: Callable[[int], float]) -> pd.DataFrame:
    rows = [
        (case, sigma, r, f, time := (f + 2) * 100 / sigma, time, time * arrives(f) + 1e-6 * r, 1e3)
        for sigma in (1.0, 2.0)
        for r in range(REPLICATES)
        for f in range(4)
    ]
    columns = ["case", "sigma_0", "replicate", "feature", "nearest", "predicted", "measured"]
    return pd.DataFrame(rows, columns=[*columns, "ended"])


@pytest.mark.parametrize("off", ["mae", "teacher_student_alone"])
@pytest.mark.parametrize(("arrives", "wanted"), [
    (lambda _: 1.0, HOLDS), (lambda f: np.nan if f == 0 else 1.0, FAILS),
    (lambda f: 1.3 if f == 0 else 1.0, FAILS),
])  # fmt: skip
def test_a_feature_that_never_came_breaks_the_law_of_growth(off, arrives, wanted):
    found = pd.concat(
        hits(case, arrives if case == off else lambda _: 1.0)
        for case in ("mae", "teacher_student_alone")
    )
    assert verdict(Growth, "t11-growth-law", hits=found) == wanted
    if off == "mae":
        assert verdict(Growth, "t11-nearest-kernel-wins-as-assumed", hits=found) == wanted


@pytest.mark.parametrize(
    ("bounded", "kernels", "wanted"), [(10, 2, UNDECIDED), (2, 2, FAILS), (2, 12, OUTSIDE)]
)
def test_a_share_of_ten_replicates_refutes_but_never_shows_all(bounded, kernels, wanted):
    few = {"runaway": {"network": {"kernels_per_class": kernels}}}
    config = load({"scale": "desk", "mrp": few}, ROOT)["mrp"]
    found = frame(0.0, model="main", quantity="finite")
    found["value"] = (found["replicate"] < bounded).astype(float)
    assert verdict(Runaway, "t9-bounded-as-printed", config, evaluation=found) == wanted


@pytest.mark.parametrize(
    ("case", "right", "wanted"), [("1", 0.9, HOLDS), ("1", 0.7, FAILS), ("3", 0.7, FAILS)]
)
def test_pretraining_must_help_in_the_worst_case_of_transfer(case, right, wanted):
    def value(recipe, **row):
        return {"finetuned": right if row["case"] == case else 0.9, "random": 0.8}.get(recipe, 0.5)

    found = frame(
        value, case=["1", "3"], classes="all", encoder_rate=0.1,
        recipe=["finetuned", "random", "supervised", "supervised_head"],
        quantity=["accuracy_multi_view", "accuracy_single_view"],
    )  # fmt: skip
    found["value"] += 1e-3 * found["replicate"] * (found["recipe"] == "finetuned")
    assert verdict(Transfer, "t19-beats-opponents", accuracy=found) == wanted


def aligned(size: float, winners: int) -> pd.DataFrame:
    """Largest alignments with the noise, on the patches of so many winners."""
    return pd.DataFrame(
        {"patches": "own", "pairs": 100 * winners,
         "largest": size * (1 + 1e-3 * np.arange(REPLICATES)), "replicate": range(REPLICATES)}
    )  # fmt: skip


@pytest.mark.parametrize("off", ["noise", "teacher_student_noise"])
@pytest.mark.parametrize(
    ("size", "winners", "wanted"), [(1e-4, 5, HOLDS), (1.0, 5, FAILS), (1e-4, 0, FAILS)]
)
def test_winners_must_be_there_and_quiet_in_both_frameworks(off, size, winners, wanted):
    frames = {name: aligned(1e-4, 5) for name in ("noise", "teacher_student_noise")}
    frames[off] = aligned(size, winners)
    assert verdict(Noise, "t14-noise-own-patches", **frames) == wanted


def hypothesis(captured: float, **grown: float) -> pd.DataFrame:
    """The letters grow by so much; a share has no scatter and belongs to no constant."""

    def value(moment, quantity, **_):
        return 0.1 * (grown.get(quantity, 1.0) if moment == "end" else 1.0)

    moments = ["start", "end"]
    found = frame(value, moment=moments, quantity=[*"bcdeh"], constant=WIDE)
    share = frame(captured, moment=moments, quantity="captured", constant=np.nan)
    return pd.concat([share.assign(value=captured), found])


@pytest.mark.parametrize("letter", ["b", "d", "e", "h"])
def test_the_worst_letter_decides_over_the_induction_hypothesis(letter):
    assert verdict(Purity, "c3-mae", purity=hypothesis(1.0)) == HOLDS
    assert verdict(Purity, "c3-mae", purity=hypothesis(1.0, **{letter: 3.0})) == FAILS
    assert verdict(Purity, "c3-mae", purity=hypothesis(0.0)) == FAILS


@pytest.mark.parametrize(("dimension", "wanted"), [(40, OUTSIDE), (4000, FAILS)])
def test_background_noise_is_excused_by_a_small_space_only(dimension, wanted):
    config = with_changed(DESK["mrp"], "clean", "data", dimension=dimension)
    assert verdict(Purity, "c3-c-mae", config, purity=hypothesis(1.0, c=5.0)) == wanted


def with_changed(config, section: str, key: str, **changed):
    """The paper's config with some keys of ``<section>.<key>`` changed."""
    return {**config, section: {**config[section], key: {**config[section][key], **changed}}}


@pytest.mark.parametrize(
    ("classes", "sparsity", "wanted"), [(10, 3, OUTSIDE), (500, 3, OUTSIDE), (500, 4, FAILS)]
)
def test_half_is_an_error_in_the_limit_of_many_classes_with_many_features(
    classes, sparsity, wanted
):
    few = {"classes": classes, "sparsity": sparsity, "feature_noise": 0.0}
    config = with_changed(DESK["mrp"], "clean", "data", **few)
    found = frame(0.65, model="supervised", quantity="accuracy_single_view")
    assert verdict(Clean, "lemma-1-half-error", config, evaluation=found) == wanted


@pytest.mark.parametrize(
    ("mixed", "captured", "kernels", "wanted"),
    [(0.001, 1.0, 3, HOLDS), (0.3, 1.0, 3, FAILS), (0.001, 0.9, 3, FAILS), (0.3, 1.0, 40, OUTSIDE)],
)
def test_kernels_of_the_best_start_must_be_pure_and_hold_all(mixed, captured, kernels, wanted):
    starts = {"kernels_per_class": kernels, "sigma_0": [0.1, 0.2], "model": "half_masked"}
    impure = frame(lambda sigma_0, **_: mixed if sigma_0 == 0.2 else 0.9, quantity="impure_share",
                   **starts)  # fmt: skip
    held = frame(captured, quantity="captured", **starts).assign(value=captured)
    found = pd.concat([impure, held])
    config = DESK["mrp"] | {
        "equal_start": DESK["mrp"]["equal_start"] | {"kernels_per_class": [kernels]}
    }
    assert verdict(EqualStart, "t8-purity-as-printed", config, starts=found) == wanted


@pytest.mark.parametrize(
    ("captured", "single", "wanted"), [(0.9, 0.8, HOLDS), (1.1, 0.8, FAILS), (0.9, 1.1, FAILS)]
)
def test_masks_alone_must_be_behind_in_features_and_in_accuracy(captured, single, wanted):
    """Of pre-trained kernels both are 1; the better one of two heads counts."""

    def value(model, quantity):
        if model == "supervised_masked_head":
            return captured if quantity == "captured" else single
        return 1.0 if model == "pretrained" else 0.1

    models = ["pretrained", "supervised_masked", "supervised_masked_head"]
    found = frame(value, model=models, quantity=["captured", "accuracy_single_view"])
    assert verdict(Headline, "headline-masks-alone", evaluation=found) == wanted


@pytest.mark.parametrize(("worst", "wanted"), [(0.99, HOLDS), (0.8, FAILS)])
def test_features_are_needed_where_all_without_are_behind_at_some_noise(worst, wanted):
    def value(model, feature_noise, **_):
        best = UNLEARNED[0] if feature_noise == 0.01 else UNLEARNED[-1]
        return (0.98 if feature_noise == 0.01 else worst) if model == best else 0.5

    found = frame(value, patches=80, feature_noise=[0.01, 0.07], model=[*UNLEARNED],
                  quantity="accuracy_single_view")  # fmt: skip
    assert verdict(Opponents, "opponents-no-features-needed", cells=found) == wanted


def test_no_scale_excuses_every_failure():
    """At the largest scale only claims on made pictures are out of reach."""
    paper = load({"scale": "paper"}, ROOT)
    of_pictures = ("images_comparison", "images_gain", "images_transfer")
    sections = dict.fromkeys(of_pictures, paper["images"]) | {"eigencam": paper}
    excused = set()
    for module in pkgutil.iter_modules(package.__path__):
        config = sections.get(module.name, paper["mrp"])
        found = importlib.import_module(f"{package.__name__}.{module.name}")
        for claim in of_module(found, config):
            if claim.out_of_reach and claim.out_of_reach(config):
                excused.add(claim.claim)
    pictures = ("supervised-lottery", "simmim-all-labels", "multi-view-not-worse", "transfer",
                "detection-ap75")  # fmt: skip
    made = {f"mrp/images-{name}" for name in pictures}
    assert excused == made | {"mrp/cam-more-parts", "mrp/cam-more-parts-mae"}

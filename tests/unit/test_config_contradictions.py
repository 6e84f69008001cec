"""Values of each section that contradict another: refused by key, with what was expected."""

import copy
import functools
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from featlearn.core.config import load
from featlearn.mrp.images import config as image_config

ROOT = Path(__file__).resolve().parents[2]
#: In place of a value: the key is taken away.
GONE = object()
LLAMA = {
    "words": 9, "width": 8, "layers": 4, "heads": 4, "key_value_heads": 2, "head_width": 2,
    "hidden": 8, "filter_layer": 1,
}  # fmt: skip


def encoder(**kind: str) -> dict[str, Any]:
    """One model of universality.foundation, whose weights are not there."""
    targets = {"t": {"kind": "digits"}}
    return {"m": {"encoder": kind, "weights": "nowhere", "augmentation": {}, "targets": targets}}


#: Of a section the scale that is changed (desk if none is named).
SCALES = {"gradient_features": "smoke", "contrastive": "smoke", "images": "smoke"}
#: Of a section its wrong values: where, which, and what is expected there (or at another key).
WRONG: dict[str, list[tuple[str, Any, str]]] = {
    "fourier": [
        ("circuits.three.modulus", 12, "an odd number, which the maximum margin is known for"),
        ("circuits.four.inputs", 3, "4, as the cell's name says"),
        ("circuits.three.train_share", 1, "a share that leaves 10 of the inputs that are looked"),
        ("circuits.five.modulus", 31, "so small that at most 20000000 inputs have a number"),
        ("margins.full.train_share", 0.002, "a share with at least 5 inputs for training"),
        ("margins.decay.arms", {"penalty": {"penalty": 0}}, "a group with weak-decay and"),
        ("margins.strengths.arms", {"one": {"penalty": 0}}, "at least two, with penalties that"),
        ("margins.widths.arms", {"width-96": {"width": 96}}, "a group with width-6"),
        ("grokking.two.transformer.look_every", 9000, "at most grokking.two.transformer.steps"),
        ("grokking.four.polynomial.look_every", 1001, "at most"),
        ("theory.sizes", [[3, 31]], "sizes of at most 20000 inputs, as all are summed"),
        ("theory.sizes", [[2, 5]], "a list with [3, 7], which the report quotes"),
        ("theory.ascent.sizes", [[2, 2]], "at least 2 numbers and a modulus of 3"),
    ],
    "noncontrastive": [
        ("images.digits.heads", ["none", "identity"], "so that heads, norms and targets make"),
        ("algorithm.data.patches", 7, "an even number"),
        ("phases.data.feature_patches", 16, "so few that some of the 16 patches hold noise, and"),
        ("oracles.data.strengths", [1.0, 2.0], "two with the strong feature first"),
        ("starts.cases.frequency.strong_share", 0.2, "starts.cases.frequency.strengths must be "),
        ("algorithm.training.record_every", 7, "a divisor of steps"),
        ("algorithm.variants.frozen.head_rate", 0.1, "0"),
        ("phases.dimensions", [1000, 100], "a rising list"),
    ],
    "emergence": [
        ("neurons.mnist.pictures.classes", ["0"], "the names of 2 classes"),
        ("neurons.mnist.pictures.classes", ["0", "0"], "a list with each name once"),
        ("neurons.svhn.shown", [3, 10], "a list of 0, the start, and later steps"),
        ("neurons.svhn.pictures.data.kind", "folder", "neurons.svhn.pictures.data.path must be "),
        ("filters.shown", [0, 3], "a list with 20, the start and the last epoch"),
        ("filters.shown", [0, 20, 30], "at most filters.epochs (20)"),
        ("filters.batch_size", 200, "filters.epochs must be so many that there are 30 steps,"),
        ("filters.widths", [16, 8], "a rising list"),
        ("filters.widths", [2, 8], "at least 4 filters for two groups"),
        ("injected.mnist.descent.sizes", [3, 2, 1], "a rising list"),
        ("injected.mnist.descent.sizes", [1, 2], "at least three sizes, or no curve has a minimum"),
        ("injected.mnist.descent.teachers", [], "a list of some; a figure shows students"),
        ("injected.mnist.students.cells.gaussian.alpha", 0.0, "a share that leaves pictures and"),
        ("injected.mnist.pictures.data.kind", "nothing", "one of digits, folder, imagenet,"),
        (
            "injected.mnist.students.cells.covariance.injected",
            "pictures",
            "injected.mnist.others must be given",
        ),
        (
            "injected.mnist.others",
            {
                "data": {"kind": "digits", "size": 8},
                "samples": {"train": 9, "validation": 999, "test": 999},
            },
            "injected.mnist.others.samples.train must be at least",
        ),
        ("curves.parity.data.relevant", 4, "an odd number from 3 on for parity labels"),
        ("curves.parity.data.relevant", 101, "less than patterns (100)"),
        ("curves.parity.data.background", 0.7, "at most 2/3"),
        ("curves.parity.data.interval", [1, 2], "given with kind interval alone"),
        ("curves.parity.dimensions", [500, 99], "at least curves.parity.data.patterns (100)"),
        ("curves.interval.data.interval", [20, 31], "two counts with 0 < first <= last <= 30"),
        ("curves.interval.data.interval", [1, 30], "counts that leave some for the label -1"),
        (
            "curves.interval.data",
            {
                "kind": "interval", "patterns": 100, "relevant": 30, "interval": [10, 20],
                "frequency": 0.5,
            },
            "curves.interval.data.interval must be counts of which a pattern tells",
        ),
        ("curves.interval.data.counts", [5, 9], "curves.interval.data.interval must be absent"),
        ("curves.parity.data.counts", [5], "given with kind interval alone"),
        ("curves.interval.data.negative_share", 0.8, "given with kind parity alone"),
        ("curves.hidden.data.prototypes", 7, "an even number, half of each label"),
        ("curves.parity.data.prototypes", 8, "given with kind prototypes alone"),
        ("curves.negatives-90.samples.test", 4, "so many that both labels occur"),
        ("curves.interval.data.interval", GONE, "two counts with 0 < first <= last <= 30"),
        (
            "injected.mnist.students.cells.covariance",
            GONE,
            "injected.mnist.students.cells must be a group with covariance, which figures show",
        ),
        ("general.dimension", 99, "at least general.data.patterns (100)"),
        ("general.noises", [0.0, 0.2], "a list with 0.1, of which claims and a figure speak"),
        ("mixture.settings.second.relevant", 26, "at most mixture.settings.second.dimension (25)"),
        ("mixture.settings.second.moments", [30, 51], "at most mixture.settings.second.epochs"),
    ],
    "gradient_features": [
        ("cones.laws.mixture.classes", [1, 1], "clusters of both classes, 1 and -1"),
        ("cones.laws.mixture.dimension", 5, "cones.laws.mixture.classes must be fewer than the"),
        ("cones.laws.parity.block", 4, "an odd number, or labels are no signs"),
        ("cones.laws.parity.dimension", 5, "cones.laws.parity.block must be fewer than the"),
        ("cones.laws.parity.structured", 0.6, "at most 1 / 2"),
        ("cones.laws.parity_blocks.blocks", 1, "more than 1"),
        ("cones.laws.parity_blocks.block", 5, "at most 11"),
        ("cones.laws.uniform_parity.block", 3, "an even number (Assumption B.53)"),
        ("cones.laws.uniform_parity.dimension", 20, "an odd number"),
        ("cones.laws.multi_index.curvatures", [0.0], "a list with one that is not 0"),
        ("cones.laws.parity.blocks", 3, "1"),
        ("opponents.judged.noise", 3.0, "one of opponents.noises (1.0, 2.0)"),
        ("opponents.judged.dimension", 20.5, "one of opponents.dimensions (10, 20)"),
        ("learning.laws.parity.block", 4, "an odd number, or labels are no signs"),
        ("appendix.alternative.dimensions", [9, 10], "appendix.alternative.dimension must be an"),
        ("appendix.fixed.blocks", [4], "a list of odd numbers"),
        ("frozen.uniform_parity.two.dimension", 20, "an odd number"),
        ("frozen.uniform_parity.four.block", 3, "an even number (Assumption B.53)"),
        ("frozen.multi_index.curvatures", [0.0, 0.0], "a list with one that is not 0"),
        ("frozen.multi_index.quartics", [4.0, 4.0, 1.0], "at most one for each curvature"),
        ("lemmas.mixture.classes", [1, 1], "clusters of both classes, 1 and -1"),
        ("lemmas.activation.laws.parity.block", 4, "an odd number, or labels are no signs"),
        ("lemmas.tails.dimensions", [10, 50], "more than twice the block (5)"),
        ("frozen.scan.ratios", [0.001, 1.0], "at least 1 / 25"),
        ("learning.laws.parity.structured", 0.01, "a share with ten structured inputs or more"),
        ("learning.laws.parity.structured", 0.5, "a share with ten uniform inputs or more among"),
        ("structure.block", 4, "an odd number, or labels are no signs"),
        ("structure.dimension", 3, "structure.block must be fewer than the dimension (3)"),
    ],
    "looped": [
        ("construction.examples", [4, 64], "more than construction.dimension (4)"),
        ("construction.ablations.examples", 3, "more than construction.dimension (4)"),
        ("learned.examples", [2, 16], "more than learned.dimension (4)"),
        ("construction.trials", 300, "at most construction.prompts (200)"),
        ("construction.verified_loops", 500, "at most construction.loops (200)"),
        ("construction.judged_examples", 65, "one of construction.examples (16, 32, 64, 128)"),
    ],
    "contrastive": [
        ("stages.data.dimension", 36, "a power of 2 for the Hadamard dictionary"),
        ("trained_thresholds.data.activity", 50.0, "at most 10.93"),
        ("scaling.sizes.0.atoms", 1024, "scaling.sizes.0.dimension must be at least 2048"),
        ("scaling.sizes.0.arms", ["masked"], "scaling.sizes must be two or more that are trained"),
        ("identities.wide.dimensions", [64, 32], "two or more that rise"),
        ("identities.wide.atoms", 64, "identities.wide.dimensions.0.dimension must be at least"),
        ("ablations.arms.wide", GONE, "ablations.arms must be a group with wide, which claims"),
        ("images.shapes.shapes.glyph_size", [10, 40], "two sides, the smaller one first, at most"),
        ("images.shapes.figures.fig_1", "cnm", "one of encoders (normed)"),
        ("images.shapes.embedding.perplexity", 4000, "less than embedding.images (40)"),
        ("images.shapes.firing.images", 1000000, "at most shapes.test (48)"),
        ("images.shapes.shapes", GONE, "given (made images), or else real (images on disk)"),
    ],
    "mrp": [
        ("headline.data.patches", 7, "at least 10 classes x 2 features x 1 patches a feature = 20"),
        ("headline.data.dimension", 7, "at least 20"),
        ("headline.data.sparsity", 40, "at most classes (10)"),
        ("headline.data.main_strength", [1.5, 1.0], "a range with the lower end first"),
        ("growth.data.main_strength", [0.0, 0.0], "a range that ends above 0"),
        ("headline.data.off_strength", [0.4, 0.2], "a range with the lower end first"),
        ("headline.pretraining.record_every", 1000000, "at most headline.pretraining.max_steps"),
        ("growth.target", 0.11, "at most varrho / (tau x largest strength) = 0.1"),
        ("finetuning.first_head_rates", [1, 3], "a list with 8, which a claim is about"),
        ("classes.classes", [20, 10], "a rising list"),
        ("classes.network.q", 2, "at least 3"),
        ("classes.length.network.q", 2, "at least 3"),
        ("transfer.cases.3-overlap.old_classes", 11, "at most clean.data.classes (10)"),
        ("transfer.cases.3-overlap.new_classes", 40, "at most 10, for whose features clean.data"),
    ],
    "images": [
        ("comparison.labels", [12, 25], "from 6 (two a class) to 24, the training pictures"),
        ("gain.labels", 5, "from 6 (two a class) to 24, the training pictures"),
        ("pretraining.simmim.encoder", "resnet", "one of encoders (cnn, vit)"),
        ("world.part_size", 16, "so small that 2 parts find room"),
        ("detection.scenes.object_size", [0.6, 0.4], "above 0, the lower end first"),
        (
            "augmentation",
            {"preset": "flip-crop", "steps": [{"op": "flip"}]},
            "augmentation.steps must be absent beside the preset 'flip-crop'",
        ),
    ],
    "eigencam": [
        ("pictures", 1000000, "at most images.samples.test (500)"),
        ("shown.classes", [1, 2, 40], "at most images.world.classes (10)"),
    ],
    "icl": [
        ("regression.ranks", [1, 2, 40], "at most regression.dimension (8)"),
        ("regression.ranks", [1, 2], "a list with a rank above 2"),
        ("regression.ranks", [1, 4], "a list with 2, which a claim reads"),
        ("parity.judged_examples", 65, "one of parity.examples (16, 64, 256, 1024)"),
        ("parity.shares", [0, 0.5], "a list with 1, for claims"),
        ("parity.training.heads", [2, 8], "a list with 4, which claims read"),
        ("parity.training.heads", [4], "two numbers or more"),
        ("parity.sizes", [[1, 3]], "a list with [1, 2], for a claim"),
        ("parity.sizes", [[1, 2], [3, 3]], "parity.sizes.1 must be nu_1 below nu_2"),
        ("parity.sampled", [3, 2], "nu_1 below nu_2"),
        ("small.corpora", {"chat": 0.1}, "a group with base, which claims read"),
        ("small.sizes.large.width", 33, "a multiple of small.sizes.large.heads (4)"),
        ("small.shown", 1000000, "at most small.prompts (1000)"),
        ("language.models", {"base": {"7B": "nowhere/llama"}}, "given with language.texts, or"),
        ("language.texts", {"sst": {"file": "nowhere.jsonl"}}, "language.texts.sst.file must be "),
    ],
    "nuclear": [
        ("theory.rank.r", 10, "less than theory.rank.d (10)"),
        ("theory.featuriser.r", 400, "less than theory.featuriser.d (240)"),
        ("domains.domains.name", "MNIST", "one of VLCS, PACS, OfficeHome, TerraInc, DomainNet, or"),
        ("domains.weights", "nowhere.pt", "a file, or library:name"),
        ("domains.arms.ERM-NU", GONE, "domains.arms must be with ERM-NU"),
        (
            "domains.arms.ERM-Frobenius",
            {"nu": [0.0003, 0.001, 0.002]},
            "domains.arms.ERM-NU must be other settings",
        ),
        ("domains.sweep.weights", [0.1], "a list with 0"),
        ("domains.training.checkpoint_every", 1000000, "at most domains.training.steps (1000)"),
        ("domains.domains.data.kind", "folder", "domains.domains.data.path must be the folder (or"),
    ],
    "universality": [
        ("theory.probe.labels", [400, 640], "a list with one below twice the 40 features, where"),
        ("theory.probe.tasks", [3], "a list with 1"),
        ("related.kinds", [1, 8], "less than ladders.tasks (8)"),
        ("foundation.tasks", [0, 8], "less than ladders.tasks (8)"),
        ("foundation.copies", [2, 10], "a rising list that begins with 1"),
        ("ladders.mixtures", [2, 4, 8, 8], "a list with 1, the target alone, and all tasks"),
        ("ladders.mixtures", [1, 4, 2, 8], "a rising list"),
        ("ladders.mixtures", [1, 4, 8, 9], "at most ladders.tasks (8)"),
        ("ladders.class_weights", [1, 2], "4 numbers, one a mixture"),
        ("ladders.alone", 8, "less than ladders.tasks (8)"),
        ("ladders.worlds", {"odd": {"shared": 1, "private": 1}}, "worlds with even first"),
        ("ladders.labels", [1, 2, 3, 4, 5], "[10, 50, 100, 200, 1000]"),
        ("pictures.sets", [{"name": "odd"}], "pictures.sets.0 must be a set with data or made,"),
        (
            "residual.sets",
            [{"name": "odd", "made": "glyphs", "data": {"kind": "digits"}}],
            "residual.sets.0 must be a set with data or made, one of them",
        ),
        (
            "pictures.sets",
            [{"name": "one", "made": "glyphs"}, {"name": "one", "made": "glyphs"}],
            "a list whose names",
        ),
        (
            "pictures.sets",
            [{"name": "one", "data": {"path": "x"}}],
            "pictures.sets.0.data.kind must be one of digits",
        ),
        ("foundation.models", encoder(kind="resnet18"), "foundation.models.m.weights must be a"),
        ("foundation.models", encoder(kind="text"), "foundation.models.m.weights must be a"),
        ("foundation.models", encoder(kind="timm"), "foundation.models.m.encoder must be the"),
    ],
    "gemfilter": [
        ("wired.kept", 16, "more than wired.window (16)"),
        ("longbench.kept", [16, 96], "more than longbench.window (16)"),
        ("language.kept", [32, 64], "more than language.window (32)"),
        ("trained.filter_layer", 3, "less than the last (3)"),
        ("wired.filter_layer", 8, "less than the layers (8)"),
        ("wired.vocabulary.keys", 3, "wired.vocabulary must be at least 4 keys and 12 values"),
        ("trained.width", 60, "an even number for each of the heads (4)"),
        ("trained.heads", 3, "an even number"),
        (
            "costs.models",
            {"x.1": {**LLAMA, "key_value_heads": 3}},
            "costs.models.x.1.heads must be a multiple of costs.models.x.1.key_value_heads (3)",
        ),
        (
            "costs.models",
            {"x.1": {**LLAMA, "filter_layer": 4}},
            "costs.models.x.1.filter_layer must be less than costs.models.x.1.layers (4)",
        ),
        ("costs.lengths", [1024, 9000], "more than costs.kept (1024)"),
        ("language.haystack", "nowhere", "a folder of essays (*.txt)"),
        ("language.longbench", "nowhere", "a folder with the 14 files of LongBench's English"),
        ("language.models", {"x": {"folder": "nowhere/llama", "filter_layer": 3}}, "given with"),
        ("language.models", {"wired": {"folder": "nowhere/llama", "filter_layer": 3}}, "given"),
    ],
}  # fmt: skip


@functools.cache
def loaded(scale: str) -> dict[str, Any]:
    return load({"scale": scale}, ROOT)


def faults(section: str, config: dict[str, Any]) -> list[str]:
    if section == "images":
        return image_config.faults(config["images"])
    if section == "eigencam":
        return image_config.cam_faults(config)
    return import_module(f"featlearn.{section}.config").faults(config[section])


def test_values_at_the_edge_of_what_is_possible_are_valid():
    config = copy.deepcopy(loaded("desk"))
    own = config["mrp"]["headline"]
    own["data"] |= {"patches": 20, "dimension": 20, "sparsity": 10, "main_strength": [1.0, 1.0]}
    own["pretraining"]["record_every"] = own["pretraining"]["max_steps"]
    assert faults("mrp", config) == []


@pytest.mark.parametrize(
    ("section", "path", "value", "expected"),
    [(section, *row) for section, rows in WRONG.items() for row in rows],
)
def test_a_contradiction_names_its_key_and_what_was_expected(section, path, value, expected):
    config = loaded(SCALES.get(section, "desk"))
    config = {**config, section: copy.deepcopy(config[section])}
    assert faults(section, config) == []
    *groups, key = path.split(".")
    group = functools.reduce(
        lambda whole, name: whole[int(name) if isinstance(whole, list) else name],
        groups,
        config[section],
    )
    if value is GONE:
        del group[key]
    else:
        group[key] = value
    wanted = expected if " must be " in expected else f"{path} must be {expected}"
    lines = faults(section, config)
    assert any(line.startswith(f"{section}.{wanted}") and ", got " in line for line in lines), lines


@pytest.mark.parametrize(
    "images", [None, {"augmentation": None}, {"gain": {"augmentation": None}}, {"detection": None}]
)
def test_pictures_that_a_layer_takes_away_are_those_by_default(images):
    config = load({"scale": "smoke", "images": images}, ROOT)
    assert image_config.faults(config["images"]) == []
    assert config["images"]["augmentation"]["preset"] == "none"
    assert config["images"]["detection"]["scenes"]["image_size"] in (32, 64)

"""Values of each section that contradict another: refused by key, with what was expected."""

import copy
import functools
import re
from importlib import import_module
from typing import Any

import pytest
import yaml

from featlearn.core.run.config import load
from featlearn.mrp.images import config as image_config
from unit import ROOT

#: Of a section the scale that is changed (desk if none is named).
SCALES = {"gradient_features": "smoke", "contrastive": "smoke", "images": "smoke"}
#: Of a section its keys, and values that each contradict the rest; null takes the key away. What is
#: told of another key than the one that was set has that one after an arrow.
WRONG = yaml.safe_load("""
fourier:
  circuits.three.modulus: [12]
  circuits.four.inputs: [3]
  circuits.three.train_share: [1]
  circuits.five.modulus: [31]
  margins.full.train_share: [0.002]
  margins.decay.arms: [{penalty: {penalty: 0}}]
  margins.strengths.arms: [{one: {penalty: 0}}]
  margins.widths.arms: [{width-96: {width: 96}}]
  grokking.two.transformer.look_every: [9000]
  grokking.four.polynomial.look_every: [1001]
  theory.sizes: [[[3, 7], [3, 31]], [[2, 5]]]
  theory.ascent.sizes: [[[3, 7], [2, 2]]]
noncontrastive:
  images.digits.heads: [[none, identity]]
  algorithm.data.patches: [7]
  phases.data.feature_patches: [16]
  oracles.data.strengths: [[1.0, 2.0]]
  starts.cases.frequency.strong_share => starts.cases.frequency.strengths: [0.2]
  algorithm.training.record_every: [7]
  algorithm.variants.frozen.head_rate: [0.1]
  phases.dimensions: [[1000, 100]]
emergence:
  neurons.mnist.pictures.classes: [['0'], ['0', '0']]
  neurons.svhn.shown: [[3, 10]]
  neurons.svhn.pictures.data.kind => neurons.svhn.pictures.data.path: [folder]
  filters.shown: [[0, 3], [0, 20, 30]]
  filters.batch_size => filters.epochs: [200]
  filters.widths: [[16, 8], [2, 8]]
  injected.mnist.descent.sizes: [[3, 2, 1], [1, 2]]
  injected.mnist.descent.teachers: [[]]
  injected.mnist.students.cells.gaussian.alpha: [0.0]
  injected.mnist.pictures.data.kind: [nothing]
  injected.mnist.students.cells.covariance.injected => injected.mnist.others: [pictures]
  injected.mnist.others:
    - {data: {kind: digits, size: 8}, samples: {train: 9, validation: 999, test: 999}}
  curves.parity.data.relevant: [4, 101]
  curves.parity.data.background: [0.7]
  curves.parity.data.interval: [[1, 2]]
  curves.parity.dimensions: [[500, 99]]
  curves.interval.data.interval: [[20, 31], [1, 30]]
  curves.interval.data:
    - {kind: interval, patterns: 100, relevant: 30, interval: [10, 20], frequency: 0.5}
  curves.interval.data.counts => curves.interval.data.interval: [[5, 9]]
  curves.hidden.data.prototypes: [7]
  curves.negatives-90.samples.test: [4]
  injected.mnist.students.cells.covariance => injected.mnist.students.cells: [null]
  general.dimension: [99]
  general.noises: [[0.0, 0.2]]
  mixture.settings.second.relevant: [26]
  mixture.settings.second.moments: [[30, 51]]
gradient_features:
  cones.laws.mixture.dimension => cones.laws.mixture.classes: [5]
  cones.laws.parity.dimension => cones.laws.parity.block: [5]
  cones.laws.parity.structured: [0.6]
  cones.laws.parity_blocks.blocks: [1]
  cones.laws.parity_blocks.block: [5]
  cones.laws.multi_index.curvatures: [[0.0]]
  cones.laws.parity.blocks: [3]
  opponents.judged.noise: [3.0]
  opponents.judged.dimension: [20.5]
  appendix.alternative.dimensions => appendix.alternative.dimension: [[9, 10]]
  appendix.fixed.blocks: [[4]]
  frozen.uniform_parity.four.block: [3]
  frozen.multi_index.quartics: [[4.0, 4.0, 1.0]]
  lemmas.mixture.classes: [[1, 1]]
  lemmas.activation.laws.parity.block: [4]
  lemmas.tails.dimensions: [[10, 50]]
  frozen.scan.ratios: [[0.001, 1.0]]
  learning.laws.parity.structured: [0.01, 0.5]
  structure.block: [4]
looped:
  construction.examples: [[4, 64]]
  learned.examples: [[2, 16]]
  construction.trials: [300]
  construction.verified_loops: [500]
  construction.judged_examples: [65]
contrastive:
  stages.data.dimension: [36]
  trained_thresholds.data.activity: [50.0]
  scaling.sizes.0.atoms => scaling.sizes.0.dimension: [1024]
  scaling.sizes.0.arms => scaling.sizes: [[masked]]
  identities.wide.dimensions: [[64, 32]]
  ablations.arms.wide => ablations.arms: [null]
  images.shapes.shapes.glyph_size: [[10, 40]]
  images.shapes.figures.fig_1: [cnm]
  images.shapes.embedding.perplexity: [4000]
  images.shapes.firing.images: [1000000]
  images.shapes.shapes: [null]
mrp:
  headline.data.patches: [7]
  headline.data.dimension: [7]
  headline.data.sparsity: [40]
  headline.data.main_strength: [[1.5, 1.0]]
  growth.data.main_strength: [[0.0, 0.0]]
  headline.pretraining.record_every: [1000000]
  growth.target: [0.11]
  finetuning.first_head_rates: [[1, 3]]
  clean.replicates: [2]
  classes.classes: [[20, 10]]
  classes.network.q: [2]
  transfer.cases.3-overlap.old_classes: [11]
  transfer.cases.3-overlap.new_classes: [40]
images:
  comparison.labels: [[12, 25]]
  gain.labels: [5]
  pretraining.simmim.encoder: [resnet]
  world.part_size: [16]
  detection.scenes.object_size: [[0.6, 0.4]]
  augmentation: [{preset: flip-crop, steps: [{op: flip}]}]
eigencam:
  pictures: [1000000]
  shown.classes: [[1, 2, 40]]
icl:
  regression.ranks: [[1, 2, 40], [1, 2], [1, 4]]
  parity.judged_examples: [65]
  parity.shares: [[0, 0.5]]
  parity.training.heads: [[2, 8], [4]]
  parity.sizes: [[[1, 3]], [[1, 2], [3, 3]]]
  parity.sampled: [[3, 2]]
  small.corpora: [{chat: 0.1}]
  small.sizes.large.width: [33]
  small.shown: [1000000]
  language.models: [{base: {7B: nowhere/llama}}]
  language.texts: [{sst: {file: nowhere.jsonl}}]
nuclear:
  theory.rank.r: [10]
  theory.featuriser.r: [400]
  domains.domains.name: [MNIST]
  domains.weights: [nowhere.pt]
  domains.arms.ERM-NU => domains.arms: [null]
  domains.arms.ERM-Frobenius => domains.arms.ERM-NU: [{nu: [0.0003, 0.001, 0.002]}]
  domains.sweep.weights: [[0.1]]
  domains.training.checkpoint_every: [1000000]
  domains.domains.data.kind => domains.domains.data.path: [folder]
universality:
  theory.probe.labels: [[400, 640]]
  theory.probe.tasks: [[3]]
  foundation.tasks: [[0, 8]]
  foundation.copies: [[2, 10]]
  ladders.mixtures: [[2, 4, 6, 8], [1, 4, 2, 8], [1, 4, 8, 9]]
  ladders.class_weights: [[1, 2]]
  ladders.alone: [8]
  ladders.worlds: [{odd: {shared: 1, private: 1}}]
  ladders.labels: [[1, 2, 3, 4, 5]]
  pictures.sets:
    - [{name: odd}]
    - [{name: one, made: glyphs}, {name: one, made: glyphs}]
    - [{name: one, data: {path: x}}]
  residual.sets: [[{name: odd, made: glyphs, data: {kind: digits}}]]
  foundation.models:
    - {m: {encoder: {kind: resnet18}, weights: w, augmentation: {}, targets: {t: {kind: digits}}}}
    - {m: {encoder: {kind: text}, weights: w, augmentation: {}, targets: {t: {kind: digits}}}}
    - {m: {encoder: {kind: timm}, weights: w, augmentation: {}, targets: {t: {kind: digits}}}}
gemfilter:
  language.kept: [[32, 64]]
  trained.filter_layer: [3]
  wired.filter_layer: [8]
  wired.vocabulary.keys => wired.vocabulary: [3]
  trained.width: [60]
  trained.heads: [3]
  costs.models:
    - x.1: &llama {words: 9, width: 8, layers: 4, heads: 4, key_value_heads: 3, head_width: 2,
                   hidden: 8, filter_layer: 1}
    - x.1: {<<: *llama, key_value_heads: 2, filter_layer: 4}
  costs.lengths: [[1024, 9000]]
  language.haystack: [nowhere]
  language.longbench: [nowhere]
  language.models:
    - {x: {folder: nowhere/llama, filter_layer: 3}}
    - {wired: {folder: nowhere/llama, filter_layer: 3}}
""")


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
    ("section", "path", "value"),
    [(section, path, value) for section, keys in WRONG.items() for path in keys
     for value in keys[path]],
)  # fmt: skip
def test_a_contradiction_names_its_key_and_its_value(section, path, value):
    config = loaded(SCALES.get(section, "desk"))
    config = {**config, section: copy.deepcopy(config[section])}
    assert faults(section, config) == []
    path, _, told = path.partition(" => ")
    *groups, key = path.split(".")
    group = functools.reduce(
        lambda whole, name: whole[int(name) if isinstance(whole, list) else name],
        groups,
        config[section],
    )
    if value is None:
        del group[key]
    else:
        group[key] = value
    wanted = rf"{section}\.{re.escape(told or path)}(\.\S+)? must be .*, got "
    lines = faults(section, config)
    assert any(re.match(wanted, line) for line in lines), lines


@pytest.mark.parametrize(
    "images", [None, {"augmentation": None}, {"gain": {"augmentation": None}}, {"detection": None}]
)
def test_pictures_that_a_layer_takes_away_are_those_by_default(images):
    config = load({"scale": "smoke", "images": images}, ROOT)
    assert image_config.faults(config["images"]) == []
    assert config["images"]["augmentation"]["preset"] == "none"
    assert config["images"]["detection"]["scenes"]["image_size"] in (32, 64)

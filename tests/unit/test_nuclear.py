"""Chapter 6: closed forms against enumeration and autograd, the trainer, domains in folders."""

import json
import math
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
import torch
import yaml
from safetensors.torch import save_file
from scipy.integrate import quad
from scipy.optimize import minimize
from scipy.special import spence

from featlearn.core.errors import FeatlearnError
from featlearn.core.evidence.claims import declared
from featlearn.core.evidence.frames import tidy
from featlearn.core.run.config import load
from featlearn.core.seeds import generator, seeded
from featlearn.core.training.loops import Loop
from featlearn.images.data.datasets import Labelled
from featlearn.images.encoders import build_encoder
from featlearn.images.nuclear_norm import nuclear_norm, stable_ranks
from featlearn.images.worlds.domains import MADE, Part, Rows, open_domains, training_parts
from featlearn.nuclear import config, model, toy
from featlearn.nuclear.analysis import domains as analysis
from featlearn.nuclear.config import faults, missing, state
from featlearn.nuclear.experiments import domains
from featlearn.nuclear.penalties import Mixed, losses
from featlearn.nuclear.stacks import stacks
from featlearn.nuclear.swad import Average, Swad
from featlearn.nuclear.training import Net, Stack, Trial, train
from image_folders import grow
from unit import ROOT, job_of


@pytest.mark.parametrize("shape", [(5, 9), (9, 5), (2, 6, 4)])
def test_nuclear_norm_and_gradient_are_those_of_the_svd(shape):
    x = torch.randn(*shape, generator=generator(0, "norm"), dtype=torch.float64, requires_grad=True)
    wanted = torch.linalg.svdvals(x).sum(-1)
    torch.testing.assert_close(nuclear_norm(x), wanted)
    own = torch.autograd.grad(nuclear_norm(x).sum(), x)[0]
    torch.testing.assert_close(own, torch.autograd.grad(wanted.sum(), x)[0])


def test_nuclear_norm_without_full_rank_and_stable_ranks():
    x = torch.ones(6, 10, requires_grad=True)
    nuclear_norm(x).backward()
    torch.testing.assert_close(x.grad, torch.full((6, 10), 1 / math.sqrt(60)))
    zero = torch.zeros(3, 4, requires_grad=True)
    nuclear_norm(zero).backward()
    assert torch.equal(zero.grad, torch.zeros(3, 4))
    ranks = stable_ranks(2 * torch.eye(4))
    assert ranks["standard"] == pytest.approx(4)
    assert ranks["printed"] == pytest.approx(8)
    assert ranks["centred"] == pytest.approx(3)


def test_newton_ends_where_descent_on_all_coordinates_would():
    seen = model.sums(2000, 50, 298, 0.45, generator(0, "sums"))
    alpha, beta = model.optimum(seen, 50, 298, 1e-2)
    assert 0 < beta < alpha < 50**-0.5
    assert 1 / 0.9 * 0.98 <= alpha / beta <= 1.03 / 0.9
    # the optimum in expectation, to what 2,000 draws tell
    assert alpha == pytest.approx(0.0548, rel=0.02)
    z = model.signed_uniform(200_000, 1, 0.3, generator(0, "moments"))
    assert float(z.mean()) == pytest.approx(0.3, abs=0.01)
    assert float(z.square().mean()) == pytest.approx(1 / 3, abs=0.01)


@pytest.mark.parametrize(
    ("kind", "penalty", "ratio", "sheet"),
    [("l2", 0.1, 1.7072, (0.0764, 0.0447)), ("nuclear", 0.01, 4.8906, (0.0904, 0.0470)),
     ("nuclear", 0.1, 4.8738, (0.0610, 0.0162))],
)  # fmt: skip
def test_optima_of_the_featuriser_are_those_of_a_search_without_derivatives(
    kind, penalty, ratio, sheet
):
    alpha, beta = model.optimum(model.laws(40, 240, 0.3), 40, 240, penalty, kind)
    assert alpha / beta == pytest.approx(ratio, abs=2e-4)
    # nothing shared with it: draws in place of the law, another loss function, another search
    random = np.random.default_rng(0)
    s = random.uniform(size=(20_000, 40)).sum(1)
    u = random.uniform(size=(20_000, 200)).sum(1) - random.binomial(200, 0.2, size=20_000)
    root = math.sqrt if kind == "nuclear" else float

    def loss(w):
        size = 40 * w[0] ** 2 + 200 * w[1] ** 2
        if kind == "nuclear":
            size = 40 * w[0] ** 2 / 12 + 200 * w[1] ** 2 * (1 / 3 - 0.09)
            size += (20 * w[0] + 60 * w[1]) ** 2
        share = 1 if kind == "nuclear" else 0.5
        return np.logaddexp(0, -(w[0] * s + w[1] * u)).mean() + share * penalty * root(size)

    found = minimize(loss, (0.1, 0.03), method="Nelder-Mead", options={"xatol": 1e-6}).x
    assert (alpha, beta) == pytest.approx(tuple(found), rel=0.05)
    assert loss((alpha, beta)) < loss(sheet) + 1e-6


def test_gaussian_accuracy_crosses_a_half_at_the_threshold():
    r, gamma = 4000, 0.3
    d = r + round(model.threshold(r, gamma))
    assert model.gaussian_accuracy(1 / (2 * gamma), r, d, -gamma) == pytest.approx(0.5, abs=0.02)
    d = r + round(r * (1 - 3 * gamma**2) / gamma**2)
    ratio = model.whitened_ratio(gamma)
    assert model.gaussian_accuracy(ratio, r, d, -gamma) == pytest.approx(0.5, abs=0.02)


def test_best_supports_hold_invariant_coordinates():
    g = generator(0, "rank")
    z = torch.cat(
        [torch.rand(1000, 2, generator=g).double(), model.signed_uniform(1000, 3, 0.2, g)], 1
    )
    found = {budget: one[0] for budget, one in model.best_supports(z, [1, 2], 1e-2).items()}
    assert found[2] == (0, 1)
    assert found[1][0] < 2


def test_toy_accuracies_are_those_of_many_points_and_the_printed_ones_need_other_slopes():
    for slope in (-1.7, -0.4, 0.25, 0.9, 2.0):
        for agrees in (toy.ID, toy.OOD):
            x, y = toy.draw(200_000, agrees, [generator(0, "toy", agrees)])
            right = ((x[0] @ torch.tensor([1.0, slope]).double()) * y[0] > 0).double().mean()
            assert toy.accuracy(slope, agrees) == pytest.approx(float(right), abs=0.006)
    assert toy.accuracy(0.686, toy.OOD) == pytest.approx(0.76, abs=1e-3)
    assert toy.accuracy(0.686, toy.ID) == pytest.approx(0.897, abs=1e-3)
    # ever stronger penalties: mu for l2, Sigma^-1 mu for the nuclear norm
    mean, moments = np.array([0.5, 0.2]), np.array([[1 / 3, 0.1], [0.1, 1 / 3]])
    for limit, accuracy in ((mean, 0.86), (np.linalg.solve(moments, mean), 0.9602)):
        assert toy.accuracy(limit[1] / limit[0], toy.OOD) == pytest.approx(accuracy, abs=1e-4)


def test_a_weak_l2_leaves_the_toy_with_a_slope_of_0446():
    # the inner integral by the dilogarithm, the outer one adaptive, and no derivatives
    def loss(w):
        def inner(first):
            def between(low, high):
                ends = (1 + np.exp(-w[0] * first - w[1] * at) for at in (high, low))
                return np.subtract(*(spence(end) for end in ends)) / w[1]

            return toy.ID * between(0, 1) + (1 - toy.ID) * between(-1, 0)

        whole = quad(inner, 0, 1, epsabs=1e-13, points=[0.05, 0.2, 0.5], limit=200)[0]
        return whole + 1e-4 / 2 * (w[0] ** 2 + w[1] ** 2)

    found = minimize(loss, (18, 0.8), method="Nelder-Mead", options={"xatol": 1e-6, "fatol": 1e-14})
    assert tuple(found.x) == pytest.approx((19.6800, 0.87804), rel=1e-4)
    # in the same flat valley, and worse
    assert loss((17.45, 0.879)) > loss(found.x) + 8e-4


def test_swad_averages_the_valley():
    swad = Swad(converge=2, tolerance=2, ratio=0.1)
    # high, then a valley of three, then high again: the high ends stay out
    for value, loss in enumerate((9.0, 8.0, 1.0, 1.02, 1.01, 5.0, 6.0, 7.0)):
        segment = Average()
        segment.add({"w": torch.tensor([float(value)])})
        swad.add(segment, loss)
    state, count = swad.finish()
    assert swad.dead
    assert count == 3
    assert float(state["w"]) == pytest.approx(3.0)


def test_swad_without_convergence_gives_the_last_segment():
    swad = Swad(3, 6, 0.3)
    for value in (3.0, 2.0, 1.0):
        segment = Average()
        segment.add({"w": torch.tensor([value])})
        swad.add(segment, value)
    state, count = swad.finish()
    assert (float(state["w"]), count) == (1.0, 0)


@pytest.mark.parametrize("seed", range(4))
def test_swad_goes_on_from_wherever_it_was(seed):
    """Before the valley, within it and behind it: what is kept ends in the same bytes."""
    g = generator(seed, "valleys")
    # losses fall, then rise
    losses = (torch.arange(14) - 6).abs() / 4 + torch.rand(14, generator=g) / 5
    weights = torch.rand(14, 3, generator=g)

    def taken(valley, first, last):
        for i in range(first, last):
            valley.add(Average.of({"w": weights[i].clone()}, i + 1), float(losses[i]))
        return valley

    whole, phases = taken(Swad(2, 4, 0.1), 0, 14).finish(), set()
    for cut in range(15):
        tensors, plain = taken(Swad(2, 4, 0.1), 0, cut).kept()
        phases.add((plain["threshold"] is not None, plain["dead"]))
        valley = Swad(2, 4, 0.1)
        valley.go_on(tensors, json.loads(json.dumps(plain)))
        found = taken(valley, cut, 14).finish()
        assert torch.equal(found[0]["w"], whole[0]["w"])
        assert found[1] == whole[1]
    assert phases == {(False, False), (True, False), (True, True)}


def test_penalty_is_added_as_printed_and_as_released():
    g = generator(0, "batch")
    x, y = torch.randn(12, 3, 2, 2, generator=g), torch.arange(12) % 3
    released = {"nu": 0.5, "nu_scale": "batch", "nu_start_step": 100}
    arms = [{}, {"nu": 0.5}, released, {"nu": 0.5, "norm": "frobenius"}, {"coral": 2.0}]
    batch = Mixed.of(x, y, 3, arms, (0, "step"))
    phi = x.flatten(1).expand(5, -1, -1)
    head = torch.randn(12, 3, generator=g)
    plain, printed, early, frobenius, aligned = losses(phi, phi @ head, batch, arms, 1, 99)
    norm = nuclear_norm(phi[0])
    torch.testing.assert_close(plain, torch.nn.functional.cross_entropy(phi[0] @ head, y))
    torch.testing.assert_close(printed, plain + 0.5 * norm)
    torch.testing.assert_close(early, plain)
    torch.testing.assert_close(frobenius, plain + 0.5 * phi[0].norm())
    late = losses(phi, phi @ head, batch, arms, 1, 100)[2]
    torch.testing.assert_close(late, plain + 0.5 * norm / 12)
    parts = phi[0].split(4)
    pairs = [(0, 1), (0, 2), (1, 2)]
    apart = [(parts[i].mean(0) - parts[j].mean(0)).square().mean()
             + (torch.cov(parts[i].T) - torch.cov(parts[j].T)).square().mean()
             for i, j in pairs]  # fmt: skip
    torch.testing.assert_close(aligned, plain + 2 * torch.stack(apart).mean())


def test_mixup_mixes_each_domain_with_another():
    domain = torch.arange(3).repeat_interleave(4)
    x = domain.float().view(-1, 1, 1, 1).expand(-1, 3, 2, 2)
    arms = [{}, {"mixup": 0.2}, {"mixup": 0.2, "nu": 1.0}]
    batch = Mixed.of(x, domain, 3, arms, (0, "ring"))
    assert torch.equal(batch.images[0], x)
    assert torch.equal(batch.images[1], batch.images[2])
    assert sorted(batch.others[1, ::4].tolist()) == [0, 1, 2]
    assert not (batch.others == batch.labels).any()
    mixed = batch.own[1] * batch.labels[1] + (1 - batch.own[1]) * batch.others[1]
    torch.testing.assert_close(batch.images[1, :, 0, 0, 0], mixed)


@pytest.mark.parametrize("norm", ["group", "batch"])
def test_networks_of_a_stack_train_as_each_would_alone(norm):
    g = generator(0, "stack")
    data = [Labelled(torch.randint(256, (12, 3, 8, 8), dtype=torch.uint8, generator=g),
                     torch.arange(12) % 3) for _ in range(3)]  # fmt: skip
    trials = [Trial(data, data[0], (0, "trial", i)) for i in range(2)]
    arms = [{}, {"nu": 0.01}, {"mixup": 0.2, "nu": 0.01}]

    def start() -> Net:
        with seeded(0, "start"):
            made = build_encoder({"kind": "small_resnet", "widths": [8], "norm": norm}, 8)
            return Net(made, 8, 3, "map")

    def sight(images, draws):
        return images.float() / 255

    loop = Loop("stack", {})  # outside of a job it keeps nothing
    every = train(
        Stack([start() for _ in range(6)], "cpu"), trials, arms, TRAINING, sight, loop
    ).last
    alone = train(Stack([start()], "cpu"), trials[1:], arms[2:], TRAINING, sight, loop).last
    for key, value in alone.items():
        torch.testing.assert_close(every[key][5].float(), value[0].float(), rtol=1e-3, atol=1e-4)


TRAINING = {
    "steps": 4, "rate": 1e-3, "weight_decay": 0.0, "batch_size": 4, "checkpoint_every": 2,
    "frozen_norms": False, "at_once": 8,
    "swad": {"converge": 3, "tolerance": 6, "ratio": 0.3},
}  # fmt: skip


def _job(root: Path, settings: dict) -> SimpleNamespace:
    whole = load({"papers": ["nuclear"], "scale": "desk", **settings}, ROOT)
    assert not list(faults(whole["nuclear"]))
    params = SimpleNamespace(cache="cache", state=state(whole["nuclear"]))
    config = whole["nuclear"]["domains"]
    return job_of(config, results=root, params=params, wildcards={"stack": "0"})


def _tiny(root: Path, **more) -> SimpleNamespace:
    for domain in ("art", "photo", "sketch"):
        grow(root / "data" / domain, {"cat": 100, "dog": 150}, 10)
    settings = {
        "trials": 1, "opponents": {"pixels": 2, "features": 4},
        "sweep": {"weights": [0, 0.001, 0.01]},
        "encoder": {"kind": "small_resnet", "widths": [4]},
        "domains": {"made": "folders", "data": {"kind": "folder", "size": 12,
                                                "path": str(root / "data")}},
        "arms": {"ERM": {}, "ERM-NU": {"nu": 0.01}, "CORAL": {"coral": 1.0}},
        "training": {"steps": 3, "checkpoint_every": 2, "batch_size": 4, "at_once": 2}, **more,
    }  # fmt: skip
    settings = {key: value for key, value in settings.items() if value is not None}
    return _job(root, {"nuclear": {"domains": settings}})


def test_domains_begin_with_the_weights_of_a_file_and_all_their_claims_are_measured(tmp_path):
    with seeded(0, "weights"):
        encoder = build_encoder({"kind": "small_resnet", "widths": [4]}, 12)
    save_file(encoder.state_dict(), tmp_path / "weights.safetensors")
    training = {"steps": 4, "batch_size": 4, "checkpoint_every": 2, "at_once": 5,
                "frozen_norms": True}  # fmt: skip
    job = _tiny(tmp_path, arms=None, sweep=None, features="mean", training=training,
                weights=f"{tmp_path}/weights.safetensors",
                augmentation={"steps": [{"op": "flip"}]})  # fmt: skip
    first = next((tmp_path / "data" / "photo").iterdir())
    (first / "broken.jpg").write_bytes(b"no picture")  # is left out
    split = domains._Split(open_domains(job.config["domains"], tmp_path / "cache", (0,), "key"),
                           0, 0.2, (0,))  # fmt: skip
    for name, value in encoder.state_dict().items():
        torch.testing.assert_close(split.start(job.config).encoder.state_dict()[name], value)
    trained = []
    for place in range(len(stacks(job.config))):
        job.wildcards = {"stack": str(place)}
        trained.append(domains.train_stack(job)["trained"])
    job.frame = lambda _: pd.concat(trained, ignore_index=True)
    found = domains.measure(job)
    accuracies = found["accuracies"]
    assert set(accuracies["domain"]) == {"art", "photo", "sketch"}
    # nine arms with two averages each, and three opponents
    assert len(accuracies) == 3 * (9 * 2 + 3)
    for claim in declared(analysis, {}):
        assert np.isfinite(claim.measure(found)).all()


def test_other_weights_make_another_run_and_missing_files_are_told(tmp_path):
    own = {"made": "folders", "data": {"path": str(tmp_path / "PACS")}}
    weights = "torchvision:ResNet50_Weights.IMAGENET1K_V1"
    named = {"domains": own, "weights": weights, "weights_folder": str(tmp_path)}
    told = list(missing({"domains": named}))
    assert told[0].startswith("nuclear.domains.domains.data.path must be a folder")
    assert f"nuclear.domains.weights {weights}: not here" in told[1]
    (tmp_path / "resnet50-0676ba61.pth").touch()
    assert len(list(missing({"domains": named}))) == 1
    file = tmp_path / "own.safetensors"
    settings = {"nuclear": {"domains": {"weights": str(file)}}}
    whole = load({"papers": ["nuclear"], "scale": "desk", **settings}, ROOT)
    assert [fault.split()[0] for fault in faults(whole["nuclear"])] == ["nuclear.domains.weights"]
    file.write_bytes(b"1")
    before = _job(tmp_path, settings).params.state
    file.write_bytes(b"12")
    assert _job(tmp_path, settings).params.state != before


def test_images_that_are_read_when_needed_give_what_copies_give(tmp_path, monkeypatch):
    job = _tiny(tmp_path, arms={"ERM": {}, "ERM-NU": {"nu": 0.01}})
    lazy = domains.train_stack(job)["trained"]

    def copied(own, share, name):
        parts = training_parts(own, share, name)
        assert all(part.images.parts[0][0] is own.images for part in parts)
        return tuple(
            Part(Rows([(p.images[:], torch.arange(len(p.labels)))]), p.labels) for p in parts
        )

    monkeypatch.setattr(domains, "training_parts", copied)
    copies = domains.train_stack(job)["trained"]
    pd.testing.assert_frame_equal(copies, lazy, check_exact=True)


def test_ranks_and_accuracies_are_judged_up_to_the_weight_that_no_longer_learns():
    claims = {own.claim: own for own in declared(analysis, {})}
    ranks = [(4.0, 3, 2, 1), (2.0, 3, 4, 1)]
    frame = pd.DataFrame([
        {"domain": domain, "replicate": replicate, "weight": weight, "standard": rank,
         "trained": 0.5 if weight == 0.01 else 1.0, "value": value}
        for domain in "ab"
        for replicate, own in enumerate(ranks)
        for weight, rank, value in zip((0, 0.0001, 0.001, 0.01), own, (0.5, 0.5, 0.7, 0.1),
                                       strict=True)
    ])  # fmt: skip

    def measured(name, **changed):
        return claims[f"nuclear/{name}"].measure({"swept": frame.assign(**changed)}).tolist()

    assert measured("rank-trend-standard") == pytest.approx([-1, 1])
    assert measured("rank-trend-standard", trained=1.0) == pytest.approx([-1, -0.2])
    assert measured("accuracy-peaks") == pytest.approx([0.2, 0.2])


def test_a_folder_with_a_name_is_no_benchmark(tmp_path, monkeypatch):
    settings = yaml.safe_load((ROOT / "config/scale/paper.yaml").read_text())["nuclear"]["domains"]
    settings["domains"]["data"]["path"] = str(tmp_path)
    for domain in ("art", "cartoon", "photo", "sketch"):
        grow(tmp_path / domain, {"cat": 100, "dog": 150}, 10)
    pacs = config.SETS["PACS"]._replace(classes=2, images=80)
    whole = load({"papers": ["nuclear"], "scale": "desk", "nuclear": {"domains": settings}}, ROOT)
    own = whole["nuclear"]["domains"]
    assert not config.met(own)
    monkeypatch.setitem(config.SETS, "PACS", pacs)
    assert config.met(own) == {"pacs", "resnet50-imagenet"}
    for wrong in (
        {"weights": ""},
        {"training": {**own["training"], "steps": 40}},
        {"arms": {**own["arms"], "Mixup-NU": None}},
        {"encoder": {"kind": "small_resnet"}},
    ):
        assert not config.met({**own, **wrong})
    monkeypatch.setitem(config.SETS, "PACS", pacs._replace(images=100))
    assert not config.met(own)


def test_the_table_of_a_benchmark_has_both_numbers_in_a_row():
    domains = ["art_painting", "cartoon", "photo", "sketch"]
    axes = {"arm": ["ERM"], "averaging": ["best"], "domain": domains, "replicate": range(3)}
    frame = tidy(axes, value=0.5)
    values = yaml.safe_load((ROOT / "config/paper_values/nuclear.yaml").read_text())
    own = {"domains": {"made": "folders", "name": "PACS"}, "trials": 3}
    made = analysis.printed_and_measured(frame, values, own, "table-e-2", "").frame
    both = made[made["measured"].notna() & made["paper_value"].notna()]
    assert set(both["column"]) == {"A", "C", "P", "S", "Avg"}


def test_too_few_domains_are_refused(tmp_path):
    (tmp_path / "one").mkdir()
    settings = {"made": "folders", "data": {"path": str(tmp_path), "size": 8}}
    with pytest.raises(FeatlearnError, match="at least three domains"):
        open_domains(settings, tmp_path / "cache", (0,), "key")


def test_digits_are_split_between_domains_and_the_cue_flips(tmp_path):
    data = {"kind": "digits", "size": 8, "shares": {"test": 0.2}}
    settings = {"made": "digits", "data": data, "cue": 1.0}
    found = open_domains(settings, tmp_path, (0, "d"), "key")
    assert tuple(found.images) == MADE["digits"]
    assert sum(len(one.labels) for one in found.images.values()) == 1797

    def corner(domain: str, label: int) -> torch.Tensor:
        own = found.images[domain]
        return own.images[own.labels == label][:, :, :2, 0].float().mean((0, 2))

    flipped, shifted = corner("hue", 2), corner("contrast", 7)
    # seven wears in the other domains what two wears in "hue"
    assert int(flipped.argmax()) == int(shifted.argmax())

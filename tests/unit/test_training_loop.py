"""The training loop: order of the data, steps, precision, history, messages."""

import copy

import numpy as np
import pytest
import torch
from torch import nn

from featlearn.core.errors import ConfigError, DivergedError, FeatlearnError
from featlearn.core.files import write_parquet
from featlearn.core.training import optimisers
from featlearn.images.train.distributed import Processes
from featlearn.images.train.loop import fit
from featlearn.images.train.objective import Objective, layers
from featlearn.images.train.plan import Batches, Plan, Training
from unit.tiny_training import NAME, SETTINGS, TinyClassifier, data, noisy, plain, same, train

ALONE = Processes()


def batches(processes=ALONE, images=29, **settings):
    plan = Plan(Training(**{"batch_size": 8, "learning_rate": 1, "epochs": 2, **settings}), images)
    pictures = torch.arange(images).view(-1, 1, 1, 1).expand(-1, 3, 2, 2).to(torch.uint8)
    made = Batches(pictures, torch.arange(images), plan, NAME, processes, torch.device("cpu"))
    return list(made.steps(0))


def test_each_image_is_seen_once_an_epoch_in_another_order_each_time():
    seen = [part.labels for step in batches() for part in step]
    first, second = torch.cat(seen[:4]), torch.cat(seen[4:])
    for epoch in (first, second):
        assert sorted(epoch.tolist()) == list(range(29))
        assert epoch.tolist() != list(range(29))
    assert not torch.equal(first, second)
    assert [len(part) for part in seen] == [8, 8, 8, 5] * 2


@pytest.mark.parametrize("accumulate", [1, 3])
@pytest.mark.parametrize("count", [2, 3])
def test_parts_and_processes_split_a_batch_without_rest(count, accumulate):
    whole = batches()
    split = [batches(Processes(rank, count), accumulate=accumulate) for rank in range(count)]
    for step, own in zip(whole, zip(*split, strict=True), strict=True):
        parts = [part for process in own for part in process]
        assert torch.equal(torch.cat([part.labels for part in parts]), step[0].labels)
        assert sum(part.share for part in parts) == pytest.approx(1)
        drawn = torch.cat([part.draws.uniform("crop") for part in parts])
        assert torch.equal(drawn, step[0].draws.uniform("crop"))


def test_a_run_repeats_itself_to_the_byte(tmp_path):
    torch.manual_seed(1)
    first, one = train()
    torch.manual_seed(2)  # what was drawn elsewhere before does not matter
    expected = torch.rand(3)
    torch.manual_seed(2)
    second, two = train()
    assert torch.equal(torch.rand(3), expected)  # nor is it moved
    for name, history in (("a", first), ("b", second)):
        write_parquet(history, tmp_path / name)
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()
    assert same(one, two)


def test_a_training_is_the_plain_loop_of_pytorch():
    # no batch norm: behind it a bias has no gradient but rounding, which AdamW blows up
    ours, theirs = (TinyClassifier(norm=False, dropout=0) for _ in range(2))
    train(ours, augment=plain, weight_decay=0.1, clip=0.05)
    plan = Plan(Training(**SETTINGS), 29)
    images, labels = data()
    order = Batches(images, labels, plan, NAME, ALONE, torch.device("cpu")).order
    groups = theirs.parameter_groups(0.1)
    optimiser = torch.optim.AdamW(groups, foreach=False, fused=False)
    for step in range(plan.steps):
        epoch, start, size = plan.place(step)
        rows = order(epoch)[start : start + size]
        for group in optimiser.param_groups:
            group["lr"] = 0.005 * (1 + np.cos(np.pi * step / plan.steps))
        optimiser.zero_grad()
        theirs(plain(images[rows], None), labels[rows], None)["loss"].backward()
        nn.utils.clip_grad_norm_(theirs.parameters(), 0.05)
        optimiser.step()
        theirs.after_step(step + 1, plan.steps)
    assert ours.steps == [(step, 12) for step in range(1, 13)]
    assert not ours.training
    for name, value in ours.state_dict().items():
        torch.testing.assert_close(value, theirs.state_dict()[name], rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("optimiser", ["adamw", "sgd"])
def test_accumulated_parts_make_the_step_of_the_whole_batch(optimiser):
    """Without batch norm and dropout, which see a part only."""
    runs = [
        train(TinyClassifier(norm=False, dropout=0), optimiser=optimiser, accumulate=parts, clip=1)
        for parts in (1, 3)
    ]
    torch.testing.assert_close(runs[0][0].to_numpy(), runs[1][0].to_numpy(), rtol=1e-4, atol=1e-5)
    for one, two in zip(runs[0][1].parameters(), runs[1][1].parameters(), strict=True):
        torch.testing.assert_close(one, two, rtol=1e-3, atol=1e-5)


def test_weights_stay_in_float32_under_bfloat16():
    seen = []

    class Watched(TinyClassifier):
        def forward(self, images, labels, draws):
            seen.append((self.encoder.conv1(images).dtype, images.is_contiguous()))
            return super().forward(images, labels, draws)

    history, objective = train(Watched(), precision="bfloat16")
    assert {dtype for dtype, _ in seen} == {torch.bfloat16}
    assert {value.dtype for value in objective.parameters()} == {torch.float32}
    single, _ = train()
    assert history["loss"].to_numpy() == pytest.approx(single["loss"].to_numpy(), abs=0.05)
    assert not any(plain_order for _, plain_order in seen)  # channels last


def test_labels_are_optional_and_images_may_be_mapped_from_a_file(tmp_path):
    images, _ = data()
    mapped = np.lib.format.open_memmap(
        tmp_path / "images.npy", mode="w+", dtype=np.uint8, shape=tuple(images.shape)
    )
    mapped[:] = images.numpy()

    class Reconstruction(Objective):
        def __init__(self):
            super().__init__()
            self.encoder = nn.Conv2d(3, 3, 1)

        def forward(self, images, labels, draws):
            assert labels is None
            return {"loss": (self.encoder(images) - images).abs().mean()}

    torch.manual_seed(0)
    objective = Reconstruction()
    other = copy.deepcopy(objective)
    runs = [
        fit(model, source, None, noisy, SETTINGS, NAME)
        for model, source in ((objective, images), (other, torch.from_numpy(mapped)))
    ]
    assert runs[0].equals(runs[1])


def test_without_a_compiler_a_training_goes_on_uncompiled(monkeypatch, capsys):
    monkeypatch.setenv("CXX", "no-such-compiler")
    history, _ = train(compile=True)
    assert "no C++ compiler" in capsys.readouterr().err
    assert history.equals(train()[0])


def test_a_history_says_where_the_training_is_with_means_over_images():
    history, _ = train(epochs=2, record_every=3, clip=1.0)
    assert list(history) == [
        *("step", "epoch", "images", "learning_rate", "loss", "accuracy", "gradient_norm")
    ]
    given = train(epochs=None, steps=7, record_every=3)[0]
    assert given["step"].tolist() == [3, 6, 7]
    assert history["step"].tolist() == [3, 6, 8]
    assert history["epoch"].tolist() == [0.75, 1.5, 2.0]
    assert history["images"].tolist() == [24, 45, 58]
    rates = 0.005 * (1 + np.cos(np.pi * np.array([2, 5, 7]) / 8))
    assert history["learning_rate"].to_numpy() == pytest.approx(rates)
    assert history["step"].dtype == "int64"

    class Numbers(TinyClassifier):
        def forward(self, images, labels, draws):
            scores = super().forward(images, labels, draws)
            return {**scores, "label": labels.double().mean()}

    history, _ = train(Numbers(), record_every="epoch")
    _, labels = data()
    assert history["label"].to_numpy() == pytest.approx([float(labels.double().mean())] * 3)


def test_scalars_that_come_and_go_and_lost_parameters_are_named():
    class Fickle(TinyClassifier):
        def forward(self, images, labels, draws):
            scalars = super().forward(images, labels, draws)
            return scalars if draws.step < 2 else {"loss": scalars["loss"]}

    with pytest.raises(FeatlearnError, match=r"step 2: the objective gave \['loss'\]"):
        train(Fickle())

    class Forgetful(TinyClassifier):
        def parameter_groups(self, weight_decay, layer_decay=None):
            return Objective.parameter_groups(self.encoder, weight_decay)

    with pytest.raises(FeatlearnError, match=r"parameter head\.weight: .* found in 0"):
        train(Forgetful())


class Lost(TinyClassifier):
    def forward(self, images, labels, draws):
        scalars = super().forward(images, labels, draws)
        factor = float("nan") if draws.step == 4 else 1.0
        return {**scalars, "loss": scalars["loss"] * factor}


@pytest.mark.parametrize("every", [1, "epoch", 100])
def test_a_loss_that_is_not_finite_is_told_with_its_step_and_rate_and_not_kept(every, tmp_path):
    rate = 0.005 * (1 + np.cos(np.pi * 4 / 12))
    expected = rf"step 5 of 12: the loss is not finite, at learning rate {rate:.3g}\. Lower"
    with pytest.raises(DivergedError, match=expected):
        train(Lost(), folder=tmp_path, record_every=every, checkpoint_every={"steps": 2})
    assert max(tmp_path.glob("*.safetensors")).name.endswith("000000004.safetensors")


@pytest.mark.parametrize(("settings", "told"), [
    ({"epoch": 3}, "unknown key 'epoch'"),
    ({"steps": 3}, "one of epochs and steps"),
    ({"epochs": None}, "one of epochs and steps"),
    ({"epochs": 0}, "epochs: 0; expected more than 0"),
    ({"batch_size": 0}, "batch_size: 0; expected at least 1"),
    ({"batch_size": 30, "drop_last": True}, "batch_size: 30; expected at most the 29 images"),
])  # fmt: skip
def test_an_impossible_setting_is_named(settings, told):
    with pytest.raises(ConfigError, match=told):
        train(**settings)


class Deep(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = nn.Module()
        self.encoder.cls_token = nn.Parameter(torch.zeros(1, 1, 4))
        self.encoder.pos_embed = nn.Parameter(torch.zeros(1, 5, 4))
        self.encoder.patch_embed = nn.Sequential(nn.Linear(12, 4))
        self.encoder.blocks = nn.Sequential(nn.Linear(4, 4), nn.LayerNorm(4), nn.Linear(4, 4))
        self.encoder.norm = nn.LayerNorm(4)
        self.head = nn.Linear(4, 2)


def test_layer_decay_slows_a_layer_and_its_rate_by_its_depth():
    module = Deep()
    names = {id(parameter): name for name, parameter in module.named_parameters()}
    scales = {names[id(p)]: group["lr_scale"]
              for group in Objective.parameter_groups(module, 0.05, layer_decay=0.5)
              for p in group["params"]}  # fmt: skip
    assert scales["encoder.cls_token"] == scales["encoder.patch_embed.0.bias"] == 0.5**4
    assert [scales[f"encoder.blocks.{n}.weight"] for n in range(3)] == [0.5**3, 0.5**2, 0.5]
    assert scales["encoder.norm.weight"] == scales["head.bias"] == 1.0
    names = ["conv1", "layer1.0.conv1", "layer1.0.downsample.0", "layer1.1.conv1", "layer2.0.conv1",
             "encoder_layer_7.mlp.0"]  # fmt: skip
    names = [*(f"encoder.{name}.weight" for name in names), "head.0.weight"]
    found, head = layers(names)
    assert [found.get(name) for name in names] == [0, 1, 1, 2, 3, 4, None]
    assert head == 5
    optimiser = optimisers.build("sgd", Objective.parameter_groups(module, 0.0, layer_decay=0.5))
    optimisers.set_rate(optimiser, 0.8)
    rates = {group["lr"] for group in optimiser.param_groups}
    assert rates == {0.8 * 0.5**n for n in range(5)}


def stepped(kind, steps=5, **options):
    torch.manual_seed(0)
    module = nn.Sequential(nn.Linear(4, 3), nn.LayerNorm(3), nn.Linear(3, 2)).double()
    start = {name: value.detach().clone() for name, value in module.named_parameters()}
    groups = Objective.parameter_groups(module, 0.1)
    optimiser = optimisers.build(kind, groups, **options)
    gradients = []
    for step in range(steps):
        optimisers.set_rate(optimiser, 0.1 / (step + 1))
        for parameter in module.parameters():
            parameter.grad = torch.randn_like(parameter)
        gradients.append({name: p.grad.clone() for name, p in module.named_parameters()})
        optimiser.step()
    return module, start, gradients


@pytest.mark.parametrize(("kind", "options", "rival", "theirs"), [
    ("adamw", {"betas": (0.8, 0.95)}, torch.optim.AdamW, {"betas": (0.8, 0.95)}),
    ("adam", {"betas": (0.8, 0.95)}, torch.optim.Adam, {"betas": (0.8, 0.95)}),
    ("sgd", {"momentum": 0.8}, torch.optim.SGD, {"momentum": 0.8}),
])  # fmt: skip
def test_adam_and_sgd_are_those_of_pytorch(kind, options, rival, theirs):
    module, start, gradients = stepped(kind, **options)
    for name, value in module.named_parameters():
        single = nn.Parameter(start[name].clone())
        decay = 0.1 if value.ndim > 1 else 0.0
        optimiser = rival([single], lr=0.1, weight_decay=decay, foreach=False, **theirs)
        for step, gradient in enumerate(gradients):
            optimiser.param_groups[0]["lr"] = 0.1 / (step + 1)
            single.grad = gradient[name]
            optimiser.step()
        torch.testing.assert_close(value, single, rtol=1e-12, atol=1e-12)

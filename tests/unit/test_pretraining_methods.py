"""Pre-training methods: what their losses look at, and what moves."""

import copy
import math
from fractions import Fraction

import pytest
import torch
import torch.nn.functional as F

from featlearn.core.errors import ConfigError
from featlearn.core.seeds import seeded
from featlearn.images.encoders import build_encoder
from featlearn.images.methods import build_method
from featlearn.images.methods.masked import cells, masked_count, masked_share, random_mask, upsample
from featlearn.images.methods.reconstruction import take
from featlearn.images.methods.teachers import average_normalised
from featlearn.images.rng import Draws

SIZE = 16
CNN = {"kind": "small_resnet", "widths": [8, 12, 16]}  # stride 4
VIT = {"kind": "vit", "patch": 4, "width": 16, "depth": 3, "heads": 2}
LIGHT = {"decoder_width": 16, "decoder_depth": 2, "decoder_heads": 2}
SIMMIM = {"kind": "simmim", "mask_size": 4, **LIGHT}
MAE = {"kind": "mae", **LIGHT}
DATA2VEC = {"kind": "data2vec", "mask_size": 4, "top_blocks": 1}
EVERY = [
    (CNN, SIMMIM),
    (CNN, DATA2VEC),
    (VIT, SIMMIM),
    (VIT, MAE),
    (VIT, DATA2VEC | {"top_blocks": 2}),
]
BATCH = 6


def pictures(count=BATCH, size=SIZE, seed=0):
    return torch.randn(count, 3, size, size, generator=torch.Generator().manual_seed(seed))


def draws(step=0, size=BATCH, rows=None):
    return Draws((0, "methods"), step, size, rows)


def build(encoder, method, size=SIZE):
    with seeded(0, "methods"):
        return build_method(method, build_encoder(encoder, size))


def mask_of(objective, x):
    return objective.draw_mask(x, draws())


def masked(encoder, method):
    objective, x = build(encoder, method), pictures()
    return objective, x, mask_of(objective, x)


def predicted_of(objective, x, mask):
    return objective.predict(objective.encoder.body(objective.mask(objective.encoder, x, mask)))


@pytest.mark.parametrize(("encoder", "method"), EVERY)
def test_a_few_steps_lower_the_loss_and_reach_every_parameter(encoder, method):
    objective, x = build(encoder, method), pictures()
    optimiser = torch.optim.Adam([p for p in objective.parameters() if p.requires_grad], 3e-3)
    losses = []
    for step in range(30):
        optimiser.zero_grad()
        loss = objective(x, None, draws())["loss"]
        loss.backward()
        if step == 0:
            missed = [
                n for n, p in objective.named_parameters() if p.requires_grad and p.grad is None
            ]
            assert not missed
        optimiser.step()
        losses.append(float(loss.detach()))
    assert losses[-1] < 0.9 * losses[0]


@pytest.mark.parametrize(("encoder", "method"), EVERY)
def test_two_processes_have_the_loss_of_one_between_them(encoder, method):
    encoder = encoder | {"norm": "group"} if encoder is CNN else encoder
    objective, x = build(encoder, method), pictures()
    whole = objective(x, None, draws())["loss"]
    halves = [
        objective(x[rows], None, draws(rows=rows))["loss"] for rows in (slice(0, 3), slice(3, 6))
    ]
    torch.testing.assert_close(sum(halves) / 2, whole)


@pytest.mark.parametrize(("encoder", "method"), EVERY)
def test_the_same_draws_give_the_same_loss_in_any_layout_and_about_it_in_bfloat16(encoder, method):
    objective, x = build(encoder, method), pictures()
    wanted = objective(x, None, draws())["loss"]
    assert torch.equal(build(encoder, method)(x, None, draws())["loss"], wanted)
    with torch.autocast("cpu", torch.bfloat16):
        rough = build(encoder, method)(x, None, draws())["loss"]
    assert rough.dtype == torch.float32
    torch.testing.assert_close(rough, wanted, rtol=0.05, atol=0)
    last = build(encoder, method).to(memory_format=torch.channels_last)
    loss = last(x.contiguous(memory_format=torch.channels_last), None, draws())["loss"]
    torch.testing.assert_close(loss, wanted, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize(("encoder", "method"), [EVERY[0], EVERY[3], EVERY[4]])
def test_the_loss_is_one_graph(encoder, method):
    objective, x = build(encoder, method), pictures()
    wanted = objective(x, None, draws())["loss"]
    objective = build(encoder, method)
    objective.compile(backend="eager", fullgraph=True)
    assert torch.equal(objective(x, None, draws())["loss"], wanted)


@pytest.mark.parametrize(("encoder", "method"), EVERY)
def test_tokens_and_biases_do_not_decay_and_a_teacher_is_in_no_group(encoder, method):
    objective = build(encoder, method)
    groups = objective.parameter_groups(0.05, 0.9)
    grouped = {id(p): group["weight_decay"] for group in groups for p in group["params"]}
    for name, parameter in objective.named_parameters():
        if name.startswith("teacher."):
            assert id(parameter) not in grouped
        else:
            small = parameter.ndim < 2 or name.endswith(("token", "pos_embed"))
            assert grouped[id(parameter)] == (0 if small else 0.05)


class Constant(torch.nn.Module):
    """A decoder that predicts a given picture."""

    def __init__(self, picture):
        super().__init__()
        self.picture = torch.nn.Parameter(picture)

    def forward(self, features):
        return self.picture


@pytest.mark.parametrize("encoder", [CNN, VIT])
def test_simmim_looks_at_masked_pixels_only(encoder):
    objective, x, mask = masked(encoder, SIMMIM)
    hidden = upsample(mask, 4)[:, None].expand_as(x)
    objective.decoder = Constant(pictures(seed=3))
    loss = objective.loss(x, mask)
    loss.backward()
    gradient = objective.decoder.picture.grad
    assert (gradient[~hidden] == 0).all()
    assert (gradient[hidden].abs() == gradient[hidden].abs()[0]).all()
    wanted = (pictures(seed=3) - x).abs()[hidden].mean()
    torch.testing.assert_close(loss, wanted)
    assert torch.equal(objective.loss(torch.where(hidden, x, x + 7), mask), loss)


@pytest.mark.parametrize("encoder", [CNN, VIT])
def test_the_token_stands_in_every_masked_cell_and_nowhere_else(encoder):
    objective, x = build(encoder, SIMMIM), pictures()
    mask, token = mask_of(objective, x), objective.mask.token
    seen = objective.mask(objective.encoder, x, mask)
    if encoder is VIT:
        hidden = upsample(mask, 4 // objective.encoder.stem_stride)[:, None]
        clean = objective.encoder.stem(x)
        assert torch.equal(seen, torch.where(hidden, token, clean))
    else:
        hidden = upsample(mask, 4)[:, None]
        assert torch.equal(seen, objective.encoder.stem(torch.where(hidden, token, x)))


def test_mask_token_starts_as_in_simmim():
    token = build(VIT | {"width": 1024, "depth": 1}, SIMMIM).mask.token
    assert float(token.detach().std()) == pytest.approx(0.02, rel=0.1)
    assert token.requires_grad


@pytest.mark.parametrize("cell", [2, 4, 8])
@pytest.mark.parametrize("stem_stride", [1, 2])
def test_mask_cells_need_not_be_the_cells_of_the_encoder(cell, stem_stride):
    settings = SIMMIM | {"mask_size": cell}
    objective, x, mask = masked(CNN | {"stem_stride": stem_stride}, settings)
    assert objective.reconstruct(x, mask).shape == x.shape
    assert objective.loss(x, mask).isfinite()


def test_a_cell_of_the_decoder_paints_its_own_place():
    decoder = build(CNN, SIMMIM | {"decoder_depth": 0}).decoder
    features = torch.zeros(1, 16, 4, 4)
    plain = decoder(features)
    features[0, :, 1, 2] = torch.randn(16)
    changed = (decoder(features) != plain).any(1)[0].nonzero()
    assert tuple(changed.amin(0)) == (4, 8)
    assert tuple(changed.amax(0)) == (7, 11)


def test_mae_is_the_one_that_puts_the_tokens_back_in_place():
    objective, x = build(VIT, MAE).double(), pictures().double()
    order = mask_of(objective, x)
    encoder, visible = objective.encoder, objective.visible(order)
    tokens = encoder.embed(encoder.stem(x))
    latent = objective.embed(encoder.encode(take(tokens, order[:, :visible])))
    shuffled = torch.cat([latent[:, 1:], objective.token.expand(BATCH, 16 - visible, -1)], 1)
    placed = take(shuffled, order.argsort(1)) + objective.places
    decoded = objective.head(
        objective.norm(objective.blocks(torch.cat([latent[:, :1], placed], 1)))
    )
    wanted = take(decoded[:, 1:], order[:, visible:])
    torch.testing.assert_close(objective.predict(x, order), wanted)


def test_mae_looks_at_masked_patches_only_and_sees_the_others():
    objective, x, order = masked(VIT, MAE)
    hidden = torch.zeros(BATCH, 16, dtype=torch.bool).scatter_(1, order[:, 4:], True)
    pixels = upsample(hidden.view(-1, 4, 4), 4)[:, None]
    other = torch.where(pixels, x + torch.randn_like(x), x)
    assert torch.equal(objective.predict(x, order), objective.predict(other, order))
    predicted = objective.predict(x, order)
    target = take(F.unfold(x, 4, stride=4).mT, order[:, 4:])
    normal = (target - target.mean(-1, keepdim=True)) / (target.var(-1, keepdim=True) + 1e-6).sqrt()
    torch.testing.assert_close(objective.loss(x, order), (predicted - normal).square().mean())


@pytest.mark.parametrize("encoder", [CNN, VIT])
def test_no_gradient_reaches_the_teacher_and_the_student_does_not_change_the_target(encoder):
    objective, x = build(encoder, DATA2VEC), pictures()
    target = objective.target(x)
    assert not target.requires_grad
    objective(x, None, draws())["loss"].backward()
    assert all(p.grad is None and not p.requires_grad for p in objective.teacher.parameters())
    with torch.no_grad():
        for parameter in objective.encoder.parameters():
            parameter.add_(1)
    assert torch.equal(objective.target(x), target)


def test_the_teacher_is_the_moving_average():
    objective = build(VIT, DATA2VEC | {"tau_start": 0.5, "tau_end": 0.9, "tau_share": 0.5})
    wanted = {k: v.clone() for k, v in objective.teacher.state_dict().items()}
    for step, tau in ((1, 0.6), (2, 0.7), (4, 0.9), (7, 0.9)):
        with torch.no_grad():
            for parameter in objective.encoder.parameters():
                parameter.add_(torch.randn_like(parameter))
        assert objective.tau(step, 8) == pytest.approx(tau)
        objective.after_step(step, 8)
        for name, value in objective.encoder.named_parameters():
            wanted[name] = tau * wanted[name] + (1 - tau) * value
    for name, value in objective.teacher.state_dict().items():
        torch.testing.assert_close(value, wanted[name])


def test_the_target_is_the_average_of_the_normalised_last_blocks():
    objective, x = build(VIT, DATA2VEC | {"top_blocks": 2}), pictures()
    teacher = objective.teacher
    first = (teacher.cls_token + teacher.pos_embed[:, :1]).expand(BATCH, -1, -1)
    tokens = torch.cat([first, teacher.embed(teacher.stem(x))], 1)
    outputs = []
    for block in teacher.blocks:
        tokens = block(tokens)
        outputs.append(F.layer_norm(tokens[:, 1:], (16,)))
    wanted = (outputs[-1] + outputs[-2]) / 2
    torch.testing.assert_close(objective.target(x).flatten(2).transpose(1, 2), wanted)
    encoder = CNN | {"blocks": 2}
    objective, x = build(encoder, DATA2VEC | {"top_blocks": 6}), pictures()
    copied = copy.deepcopy(objective.teacher)
    outputs = copied.block_maps(copied.stem(x))
    torch.testing.assert_close(objective.target(x), average_normalised(outputs[-2:]))


def test_data2vec_looks_at_masked_positions_only(monkeypatch):
    objective, x = build(VIT, DATA2VEC), pictures()
    mask, target = mask_of(objective, x), objective.target(x)
    loss = objective.loss(x, mask)
    monkeypatch.setattr(objective, "target", lambda _: torch.where(mask[:, None], target, 9.0))
    assert torch.equal(objective.loss(x, mask), loss)
    predicted = predicted_of(objective, x, mask)
    gap = (predicted - target).movedim(1, -1)[mask].abs()
    wanted = torch.where(gap < 2, gap.square() / 4, gap - 1).mean()
    torch.testing.assert_close(loss, wanted)


def test_positions_count_by_their_share_of_masked_cells_on_any_grid():
    objective, x, mask = masked(CNN | {"stem_stride": 2}, DATA2VEC)
    shares = masked_share(mask, 4, 8)
    predicted = predicted_of(objective, x, mask)
    gap = F.smooth_l1_loss(predicted, objective.target(x), reduction="none", beta=2.0).mean(1)
    torch.testing.assert_close(objective.loss(x, mask), (gap * shares).sum() / shares.sum())
    mask = torch.tensor([[[True, False], [False, False]]])
    assert torch.equal(masked_share(mask, 4, 8), torch.tensor([[[0.25]]]))
    assert torch.equal(masked_share(mask, 4, 4), mask.float())
    assert torch.equal(masked_share(mask, 4, 2), upsample(mask, 2).float())
    with pytest.raises(ConfigError, match="cells of 4 px over a map of 6 px"):
        masked_share(mask, 4, 6)


@pytest.mark.parametrize(("encoder", "method", "message"), [
    (CNN, {"kind": "simim"}, "pretraining.kind: 'simim'; expected one of simmim, mae"),
    (CNN, SIMMIM | {"decoder_deep": 3}, "pretraining.decoder_deep: unknown option of simmim"),
    (VIT, SIMMIM | {"mask_size": 2}, "pretraining.mask_size: 2; expected a multiple of the 4"),
    (VIT | {"positions": "relative"}, MAE, "encoder.positions: relative; mae drops patches"),
    (CNN, MAE, "mae needs a vision transformer, not SmallResNet"),
    (VIT, DATA2VEC | {"top_blocks": 4}, "pretraining.top_blocks: 4; expected 1 to 3"),
    (VIT, DATA2VEC | {"tau_start": 1.1}, "pretraining.tau_start: 1.1"),
])  # fmt: skip
def test_impossible_settings_are_named(encoder, method, message):
    with pytest.raises(ConfigError, match=message):
        build(encoder, method)


def test_images_must_be_whole_cells():
    assert cells((32, 48), 8) == (4, 6)
    objective = build(CNN | {"stem_stride": 2}, SIMMIM)
    x = pictures(size=20)
    with pytest.raises(ConfigError, match="cells of 8 px do not fill an image of 20x20 px"):
        objective(x, None, draws())
    with pytest.raises(ConfigError, match="cells of 4 px do not fill an image of 18x18 px"):
        objective(pictures(size=18), None, draws())


def many(size=64, step=0, rows=None):
    return Draws((0, "masking"), step, size, rows)


@pytest.mark.parametrize("ratio", [0.1, 0.4, 0.55, 0.6, 0.75])
@pytest.mark.parametrize("grid", [(4, 4), (8, 8), (3, 5), (10, 10)])
def test_every_image_has_exactly_the_rounded_up_number_of_masked_cells(ratio, grid):
    wanted = math.ceil(Fraction(str(ratio)) * grid[0] * grid[1])
    mask = random_mask(many(), grid, ratio)
    assert mask.shape == (64, *grid)
    assert mask.dtype == torch.bool
    assert (mask.sum((1, 2)) == wanted).all()


def test_a_mask_hides_every_cell_as_often_and_alike_in_every_process():
    mask = random_mask(many(8000), (4, 4), 0.25).double().mean(0)
    assert (mask - 0.25).abs().max() < 5 * math.sqrt(0.25 * 0.75 / 8000)
    whole = random_mask(many(10), (4, 4), 0.6)
    parts = [random_mask(many(10, rows=rows), (4, 4), 0.6) for rows in (slice(0, 7), slice(7, 10))]
    assert torch.equal(torch.cat(parts), whole)
    assert not torch.equal(random_mask(many(10, step=1), (4, 4), 0.6), whole)


@pytest.mark.parametrize(("ratio", "number"), [(0.0, 16), (1.0, 16), (0.99, 4)])
def test_a_ratio_that_hides_nothing_or_all_is_refused(ratio, number):
    with pytest.raises(ConfigError, match=f"mask ratio {ratio}"):
        masked_count(ratio, number)

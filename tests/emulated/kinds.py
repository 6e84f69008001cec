"""A small piece of each kind of job; prints a digest of what each gives. Run by test_processors."""

import contextlib
import hashlib
import json
import tempfile
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import torch
from snakemake.iocontainers import Namedlist

from featlearn.core.run.job import Job
from featlearn.core.seeds import Streams, generator
from featlearn.core.training.devices import prepare
from featlearn.core.training.optimisers import build

STREAM = torch.Generator().manual_seed(0)


def numbers(*shape):
    return torch.randn(shape, generator=STREAM)


def closed_forms():
    """Prompts in float64: square roots, spectra. A rule that asks for no device computes them."""
    from featlearn.looped.data import draw
    from featlearn.looped.experiments.construction import ablated, shortcut, spectrum

    config = {"shortcut_examples": [1, 4, 16], "dimension": 4, "prompts": 40}
    prompts = draw(16, 4, Streams(0, "portable", "prompts", range(40))("prompt"))
    rows = [*ablated(prompts, 10), *shortcut(config, 0)]
    found = [value for row in rows for value in row.values() if isinstance(value, float)]
    return [torch.tensor(found, dtype=torch.float64), spectrum(prompts).kappa.sqrt()]


def theory():
    """Descents of mrp, in several steps: matrix products, powers, softmax."""
    from featlearn.mrp.gradients import classification_descent, mae_descent, teacher_student_descent
    from featlearn.mrp.model import Activation, fixed_block_head

    x, w, act = 0.3 * numbers(2, 40, 8, 20), 0.1 * numbers(2, 12, 20), Activation(q=4, varrho=0.3)
    y = torch.randint(4, (2, 40), generator=STREAM)
    for _ in range(3):
        w = w + 0.1 * mae_descent(x, w, 0.5, act)
        w = w + 0.1 * teacher_student_descent(x, w, 0.5, act, tau=2.0)
        w = w + 0.1 * classification_descent(x, y, w, fixed_block_head(4, 12, 2), act).w
    return [w]


def images():
    """Steps of a small residual network: convolutions, batch norm, their gradients, AdamW."""
    from featlearn.images.encoders import build_encoder

    torch.manual_seed(0)
    net = build_encoder({"kind": "small_resnet", "widths": [8, 16]}, 16)
    net.to(memory_format=torch.channels_last)
    x = numbers(8, 3, 16, 16).contiguous(memory_format=torch.channels_last)
    optimiser = build("adamw", [{"params": list(net.parameters()), "lr": 1e-3}])
    for _ in range(2):
        optimiser.zero_grad()
        net(x).square().mean().backward()
        optimiser.step()
    return list(net.parameters())


def probe():
    from featlearn.images.probes import fit_path

    y = torch.randint(4, (120,), generator=STREAM)
    found = fit_path(numbers(120, 24), y, 4, [1e-2])
    return [found[0].weight, found[0].bias]


def eigen():
    import scipy.linalg
    from scipy.special import erf, gammaln

    from featlearn.images.cam.eigencam import eigen_cam

    a = numbers(60, 60).double()
    each = scipy.linalg.eigh((a @ a.T).numpy())
    special = [erf(a.numpy()), gammaln(np.abs(a.numpy()) + 1)]
    cam = eigen_cam(numbers(3, 64, 7, 7).relu())
    return [cam.maps, cam.found, cam.share, cam.gap, torch.linalg.svdvals(a),
            *torch.linalg.eigh(a + a.T), *each, *special]  # fmt: skip


def decoder():
    from featlearn.transformers.decoder import Decoder, Shape, start

    shape = Shape(words=24, width=32, layers=2, heads=4, head_width=8, hidden=64, length=4)
    drawn = start(shape, Streams(0, "portable", "decoder", range(2))("start"))
    weights = {name: w.requires_grad_() for name, w in drawn.items()}
    tokens = torch.randint(24, (2, 16, 4), generator=generator("portable"))
    optimiser = build("adamw", [{"params": list(weights.values()), "lr": 1e-3}])
    for _ in range(2):
        optimiser.zero_grad()
        logits = Decoder(shape, weights)(tokens, last=1)[:, :, 0]
        torch.nn.functional.cross_entropy(logits.flatten(0, 1), tokens[..., 0].flatten()).backward()
        optimiser.step()
    return list(weights.values())


def functions():
    """Elementary functions and powers, in both precisions; MKL has others by processor."""
    found = []
    for x in (numbers(20_000), numbers(20_000).double()):
        positive, share = x.abs() + 1e-3, x.sigmoid()
        for name in ("sqrt", "exp", "log", "log1p", "log10", "sin", "cos", "tan", "atan", "tanh",
                     "erf", "erfc", "lgamma", "rsqrt", "softmax"):  # fmt: skip
            found.append(getattr(torch, name)(positive, *([0] if name == "softmax" else [])))
        found += [share.asin(), share.acos(), share.logit(), share.erfinv()]
        found += [positive**power for power in (-1, -0.5, 0.3, 0.5, 1.5, 2, 3, 4)]
        found += [torch._foreach_sqrt([positive])[0], positive.clone().sqrt_()]
        table = x.view(100, 200)
        found += [torch.cdist(table, table), table.std(0), table.norm(dim=1)]
    return found


def loops():
    """NumPy's own loops and products, which dispatch by themselves."""
    x = np.random.default_rng(0).standard_normal((200, 120))
    short = x.astype(np.float32)
    return [np.exp(x), np.log(np.abs(x)), np.sin(x), np.tanh(short), np.power(np.abs(x), 0.3),
            x @ x.T, short @ short.T, x.sum(0), short.std(1), np.linalg.svd(x)[1]]  # fmt: skip


def drawn():
    from featlearn.core.drawing.plots import canvas, save

    figure = canvas(4, 2)
    left, right = figure.subplots(1, 2)
    left.plot(np.linspace(0, 6, 50), np.sin(np.linspace(0, 6, 50)), label="sine")
    left.set(title="a title", xlabel=r"$\mu$", ylabel="y")
    left.legend()
    right.imshow(np.random.default_rng(0).random((20, 20)), cmap="viridis")
    with tempfile.TemporaryDirectory() as folder:
        files = Path(folder, "a.svg"), Path(folder, "a.png")
        save(figure, *files)
        return [np.frombuffer(file.read_bytes(), dtype=np.uint8) for file in files]


def digest(parts):
    total = hashlib.sha256()
    for part in parts:
        if isinstance(part, torch.Tensor):
            part = part.detach().contiguous().numpy()
        assert part.dtype != object, "pointers are not a result"
        total.update(np.ascontiguousarray(part).tobytes())
    return total.hexdigest()


def framed():
    """The frame that stands around a rule's script, of a rule that asks for no device."""
    files = Namedlist()
    return Job(
        SimpleNamespace(
            rule="portable", input=files, output=files, log=files, wildcards={},
            params={"threads": 1}, config={"results": "results", "portable": True},
        )
    )  # fmt: skip


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as place, contextlib.chdir(place), framed():
        found = {kind.__name__: digest(kind()) for kind in (closed_forms, functions)}
    prepare("cpu", 1)
    kinds = (theory, images, probe, eigen, decoder, loops, drawn)
    print(json.dumps(found | {kind.__name__: digest(kind()) for kind in kinds}))

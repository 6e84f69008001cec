"""Chapter 7: similarity of many features in bounded memory, NT-Xent of many networks at once.

lightly's loss is compared where lightly is installed.
"""

from __future__ import annotations

from importlib.util import find_spec

import pandas as pd
import torch

from bench.timing import peak_memory, ratio, side_by_side
from featlearn.core.seeds import generator
from featlearn.universality.adapters import nt_xent
from featlearn.universality.similarity import Similarity

#: Features of the training split of a target, as in Figure 7.5.
SAMPLES, WIDTH, BLOCK = 28_000, 512, 1000
#: Networks of a tensor axis, samples of a batch, width.
NETWORKS, BATCH, OUT = 20, 64, 64

_CODE = """
from featlearn.universality.similarity import Similarity
random = torch.Generator().manual_seed(0)
cka = Similarity()
for _ in range({samples} // {block}):
    cka.add([torch.randn({block}, {width}, generator=random) for _ in range(2)])
cka.matrix()
"""


def similarities() -> pd.DataFrame:
    """Peak memory of the process with many samples over that with one block, and seconds."""
    rows = []
    for samples in (BLOCK, SAMPLES):
        code = _CODE.format(samples=samples, block=BLOCK, width=WIDTH)

        def run(samples: int = samples) -> None:
            random = generator(0, "bench", "cka")
            cka = Similarity()
            for _ in range(samples // BLOCK):
                cka.add([torch.randn(BLOCK, WIDTH, generator=random) for _ in range(2)])
            cka.matrix()

        timed = side_by_side({"one pass": run}, turns=1)
        rows.append({"samples": samples, "width": WIDTH, "peak_mb": peak_memory(code),
                     "seconds": float(timed["seconds"].median())})  # fmt: skip
    found = pd.DataFrame(rows)
    found.insert(0, "what", f"CKA of {SAMPLES} features, peak memory / that of {BLOCK}")
    found.insert(1, "ratio", found["peak_mb"] / found["peak_mb"].iloc[0])
    return found.assign(wanted="<= 1.1").iloc[1:]


def contrastive_losses() -> pd.DataFrame:
    """NT-Xent with its gradient: all networks at once, one after the other, and lightly's."""
    random = generator(0, "bench", "nt-xent")
    a, b = (torch.randn(NETWORKS, BATCH, OUT, generator=random).requires_grad_() for _ in range(2))

    def at_once() -> None:
        torch.autograd.grad(nt_xent(a, b).sum(), (a, b))

    def each() -> None:
        for one, two in zip(a.detach(), b.detach(), strict=True):
            x, y = one[None].requires_grad_(), two[None].requires_grad_()
            torch.autograd.grad(nt_xent(x, y).sum(), (x, y))

    rivals = {"at once": at_once, "each": each}
    if find_spec("lightly") is not None:
        from lightly.loss import NTXentLoss

        loss = NTXentLoss(temperature=0.5)

        def lightly() -> None:
            for one, two in zip(a.detach(), b.detach(), strict=True):
                x, y = one.requires_grad_(), two.requires_grad_()
                torch.autograd.grad(loss(x, y), (x, y))

        rivals["lightly"] = lightly
    timed = side_by_side(rivals)
    return pd.DataFrame([
        {"what": f"NT-Xent of {NETWORKS} networks and its gradient: {name} / at once",
         "ratio": ratio(timed, name, "at once"), "wanted": ">= 1"}
        for name in rivals if name != "at once"
    ])  # fmt: skip


BENCHMARKS = {"similarities": similarities, "contrastive_losses": contrastive_losses}

"""The toy paper with trainings: jobs long enough to be interrupted, and jobs that need them."""

from .toy import PACKAGE, RULES, Toy

RESULTS = "results/smoke"
#: What the rules make; all of it, below the results.
PRETRAINED = "toy/weights/pretrained.safetensors"
GROWTH = "toy/measurements/growth.parquet"
SUPERVISED = "toy/weights/supervised.safetensors"
DOWNSTREAM = "toy/measurements/downstream.parquet"
PURITY = "toy/measurements/purity.parquet"
ALIGNMENT = "toy/measurements/averaging.parquet"
FIGURE = "toy/figures/alignment.svg"
TABLE = "toy/tables/alignment.md"
LEDGER = "toy/claims/averaging.parquet"
SHOWN = (FIGURE, FIGURE.replace("svg", "png"), TABLE.replace("md", "parquet"), TABLE)

#: As a paper would have it: a loop that can go on, under a job that tells how far it is.
TRAINING = '''"""Forty steps of a training, alone in a module: an edit here is one of a formula."""

import torch

from featlearn.core.errors import FeatlearnError
from featlearn.core.training.loops import Loop
from featlearn.core.run.progress import Progress
from featlearn.core.seeds import derive_seed

STEPS = 40


def trained(rule, seed, rate):
    """Weights, and their length after each step."""
    stream = torch.Generator().manual_seed(derive_seed(seed, "toy", rule))
    target = torch.randn(32, generator=stream)
    w, lengths, step = torch.zeros(32), torch.zeros(STEPS), 0
    told = Progress(rule, STEPS)
    with Loop(rule, {"target": target}) as loop:
        if saved := loop.latest():
            step, w, lengths = saved.step, saved.tensors["w"], saved.tensors["lengths"]
        while step < STEPS:
            w = w + rate * (target - w)
            if not w.norm() < 1e6:
                raise FeatlearnError(f"step {step}: weights out of bounds; lower the learning rate")
            lengths[step] = w.norm()
            step += 1
            told.report(step, dict)
            loop.after(step, lambda: ({"w": w, "lengths": lengths}, {}))
    return w, lengths
'''
JOBS = """

def pretrain(job):
    w, lengths = trained("toy_pretrain", job.seed, job.config["rate"])
    growth = pd.DataFrame({"step": range(len(lengths)), "value": lengths.double().numpy()})
    return {"weights": {"w": w}, "growth": growth}


def supervise(job):
    return {"weights": {"w": trained("toy_supervise", job.seed, job.config["rate"])[0]}}


def downstream(job):
    value = float(job.tensors("pretrained")["w"].double().norm())
    return {"values": pd.DataFrame({"replicate": [0], "value": [value]})}
"""
IMPORT = "from featlearn.toy.data import predicted_cosine, summed_views\n"
SAVED = """

use rule compute as toy_pretrain with:
    output:
        **outputs("toy", "growth", weights="pretrained"),
    params:
        **by("toy.experiments:pretrain", {"rate": config["toy"]["rate"]}),


use rule compute as toy_supervise with:
    output:
        **outputs("toy", weights="supervised"),
    params:
        **by("toy.experiments:supervise", {"rate": 0.1}),


use rule compute as toy_downstream with:
    input:
        pretrained=rules.toy_pretrain.output.weights,
    output:
        **outputs("toy", values="downstream"),
    params:
        **by("toy.experiments:downstream"),


use rule toy_downstream as toy_purity with:
    output:
        **outputs("toy", values="purity"),
    params:
        **by("toy.experiments:downstream", {"what": "purity"}),
"""
SIZE = "rate: { type: number, default: 0.1, means: learning rate }\n"


def trained(toy: Toy) -> Toy:
    """Add two trainings, and two jobs that read the weights of one of them."""
    (toy / f"{PACKAGE}/training.py").write_text(TRAINING, encoding="utf-8")
    more = "from featlearn.toy.training import trained\nimport pandas as pd\n"
    toy.replace(f"{PACKAGE}/experiments.py", IMPORT, IMPORT + more)
    toy.edit(f"{PACKAGE}/experiments.py", JOBS)
    toy.edit(RULES, SAVED)
    toy.edit("workflow/schemas/toy.schema.yaml", SIZE)
    return toy

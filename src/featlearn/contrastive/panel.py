"""The panel of baselines beside the trainings of the stages: methods that learn no features."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pandas as pd

from featlearn.contrastive.closed_forms import bias_at_t1
from featlearn.contrastive.experiment import Downstream, Experiment
from featlearn.contrastive.measure import Task, split
from featlearn.contrastive.model import symmetrised_relu
from featlearn.core.evidence import baselines

if TYPE_CHECKING:
    from featlearn.core.run.job import Job
    from featlearn.core.run.outputs import Results

#: Members of the panel that this data model goes without, and why.
LEFT_OUT = {
    **dict.fromkeys(
        ("patch maximum", "patch minimum", "patch second moments"), "inputs have no patches"
    ),
    **dict.fromkeys(
        ("quadratic kernel", "quartic kernel"),
        "the response is odd in the input, whose law is even: even powers carry nothing",
    ),
    "tangent kernel": "thresholds start at zero, where the network is linear",
    "shuffled labels": "no label enters the training",
}


def measure(job: Job) -> Results:
    """NMSE of the panel of baselines on the labels of the probes: a row a member and replicate.

    Its own start has the weights of the arms' start and the thresholds of T1.
    """
    experiment = Experiment("stages", job.config, job.seed)
    downstream = Downstream(experiment)
    task = Task(downstream.train.x, downstream.y_train, downstream.test.x, downstream.y_test)
    (x, y), rest = split(task)
    start = experiment.initial_weights(job.config["network"]["norm"]).double()
    threshold = bias_at_t1(experiment.spec.atoms) * start.norm(dim=-1)

    def own_start(place: int) -> baselines.Kernel:
        w, b = start[place], threshold[place]
        return baselines.of_features(lambda x: symmetrised_relu(x @ w.mT, b))

    found = list[dict[str, Any]]()
    for place, stream in enumerate(experiment.streams("panel")):
        parts = ((x, y), rest, (task.test, task.y_test))
        sets = [baselines.Data(inputs[place], labels[place]) for inputs, labels in parts]
        members = baselines.kernels(sets[0].x, stream) | {"own start": [own_start(place)]}
        scores, best = baselines.panel(members, LEFT_OUT, sets, baselines.error_share, best=min)
        found += [{"replicate": place, "method": name, "best": name == best, "train": score.train,
                   "validation": score.validation, "value": score.test}
                  for name, score in scores.items()]  # fmt: skip
    return {"panel": pd.DataFrame(found)}

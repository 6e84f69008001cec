"""Train by Algorithm 1 in all variants; follow the population flow from the same start."""

from featlearn.core.job import Job

with Job(snakemake) as job:
    device = job.device(job.params.device)
    import pandas as pd

    from featlearn.core.files import write_parquet
    from featlearn.core.progress import Progress
    from featlearn.noncontrastive.algorithm import COLUMNS, flow_rows, run

    progress = Progress(job.rule, job.config["training"]["steps"])
    rows = []
    for snapshot, own in run(job.config, job.params.seed, device):
        rows += own
        losses = snapshot.loss.mean(1).tolist()
        progress.report(snapshot.step, lambda losses=losses: {"loss": f"{losses[0]:.3f}"})
    write_parquet(pd.DataFrame(rows, columns=COLUMNS), job.output.history)
    flow = pd.DataFrame(flow_rows(job.config), columns=["variant", "time", "quantity", "value"])
    write_parquet(flow, job.output.flow)

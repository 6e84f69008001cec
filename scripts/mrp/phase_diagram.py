"""Train one kind of network at every cell of the phase diagram and measure it."""

from itertools import product

from featlearn.core.job import Job

with Job(snakemake) as job:
    device = job.device(job.params.device)
    import pandas as pd

    from featlearn.core.files import write_parquet
    from featlearn.core.progress import Progress
    from featlearn.mrp.lottery import MEASURED
    from featlearn.mrp.sweep import Batch, at

    grid, measured = job.config["grid"], MEASURED[job.wildcards.model]
    shares = grid["single_view_share"]
    # a GPU trains all shares of one sigma_0 at once; the replicates of one cell fill a cache
    together = [[share] for share in shares] if device.type == "cpu" else [shares]
    frames = []
    for sigma_0, part in product(grid["sigma_0"], together):
        cells = [at(job.config, sigma_0=sigma_0, single_view_share=share) for share in part]
        batch = Batch("phase-diagram", cells, job.params.seed, device)
        progress = Progress(f"{job.rule}, sigma_0 = {sigma_0}", measured.most_steps(job.config))
        rows = measured.rows(batch, job.config, progress.report)
        frames.append(batch.frame(rows, ["sigma_0", "single_view_share"]))
    write_parquet(pd.concat(frames, ignore_index=True), job.output[0])

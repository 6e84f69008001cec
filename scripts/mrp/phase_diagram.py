"""Train one kind of network at every cell of the phase diagram and measure it."""

from featlearn.core.job import Job

with Job(snakemake) as job:
    device = job.device(job.params.device)
    import pandas as pd

    from featlearn.core.files import write_parquet
    from featlearn.core.progress import Progress
    from featlearn.mrp.comparison import MEASURED
    from featlearn.mrp.sweep import Batch, at

    grid, measured = job.config["grid"], MEASURED[job.wildcards.model]
    frames = []
    # the shares of single-view data train together; a larger sigma_0 ends much sooner
    for sigma_0 in grid["sigma_0"]:
        cells = [
            at(job.config, sigma_0=sigma_0, single_view_share=share)
            for share in grid["single_view_share"]
        ]
        batch = Batch("phase-diagram", cells, job.params.seed, device)
        progress = Progress(f"{job.rule}, sigma_0 = {sigma_0}", measured.most_steps(job.config))
        rows = measured.rows(batch, job.config, progress.report)
        frames.append(batch.frame(rows, ["sigma_0", "single_view_share"]))
    write_parquet(pd.concat(frames, ignore_index=True), job.output[0])

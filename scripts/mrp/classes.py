"""Train the supervised network at growing numbers of classes and measure its lottery."""

from featlearn.core.job import Job

with Job(snakemake) as job:
    device = job.device(job.params.device)
    import pandas as pd

    from featlearn.core.files import write_parquet
    from featlearn.core.progress import Progress
    from featlearn.mrp.classes import lottery_rows, section_of
    from featlearn.mrp.sweep import Batch

    config = job.config
    frames = []
    for classes in config["classes"]:
        section = section_of(config["scaling"], config["network"], classes, config["replicates"])
        batch = Batch(f"classes-{classes}", [section], job.params.seed, device)
        progress = Progress(f"{job.rule}, k = {classes}", config["training"]["max_steps"])
        rows = lottery_rows(batch, config["training"], progress.report)
        frames.append(batch.frame(rows, ["classes", "sigma_0"]))
    write_parquet(pd.concat(frames, ignore_index=True), job.output[0])

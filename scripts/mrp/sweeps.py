"""Vary one parameter at a time, the others as they are, for one kind of network."""

from featlearn.core.job import Job

with Job(snakemake) as job:
    device = job.device(job.params.device)
    import pandas as pd

    from featlearn.core.files import write_parquet
    from featlearn.core.progress import Progress
    from featlearn.mrp.comparison import MEASURED, capture_time_rows
    from featlearn.mrp.sweep import Batch, at

    measured = MEASURED[job.wildcards.model]
    frames = []
    for parameter, points in job.config["points"].items():
        if parameter == "theta" and job.wildcards.model == "supervised":
            continue  # nothing is masked there
        for value in points:
            cell = at(job.config, **{parameter: value})
            batch = Batch("sweeps", [cell], job.params.seed, device)
            progress = Progress(f"{job.rule}, {parameter} = {value}", measured.most_steps(cell))
            rows = measured.rows(batch, cell, progress.report)
            if job.wildcards.model == "pretrained":
                rows += capture_time_rows(batch, cell, progress.report)
            frame = batch.frame(rows, [])
            frame.insert(0, "parameter", parameter)
            frame.insert(1, "at", float(value))
            frames.append(frame)
    write_parquet(pd.concat(frames, ignore_index=True), job.output[0])

"""Train both ways at every position of one dial, on a validation replicate."""

from featlearn.core.job import Job

with Job(snakemake) as job:
    device = job.device(job.params.device)
    import pandas as pd

    from featlearn.core.files import write_parquet
    from featlearn.mrp.images.phase_diagram import cell, turned

    dial, replicate = job.wildcards.dial, int(job.wildcards.replicate)
    frames = []
    for position in job.config["phase_diagram"]["dials"][dial]:
        job.tell(f"{dial} at {position}")
        change = turned(dial, position)
        found = cell(job.config, change, job.params.seed, replicate, device, job.tell)
        frames.append(found.assign(dial=dial, position=float(position)))
    write_parquet(pd.concat(frames, ignore_index=True), job.output[0])

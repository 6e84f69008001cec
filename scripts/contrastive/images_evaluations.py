"""All that was measured on images, in one frame; and how the first filters moved."""

from featlearn.core.job import Job

with Job(snakemake) as job:
    import pandas as pd

    from featlearn.contrastive.images.tables import MEASURED, halfway_rows
    from featlearn.core.files import read_parquet, write_parquet

    traces = pd.concat([read_parquet(path) for path in job.files("traces")], ignore_index=True)
    parts = [read_parquet(path) for path in job.files("parts")]
    found = pd.concat([*parts, halfway_rows(traces)], ignore_index=True)
    write_parquet(found[MEASURED], job.output.evaluations)
    write_parquet(traces, job.output.traces)

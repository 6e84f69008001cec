"""Draw initial kernels of growing size; write down correlations and lottery sets."""

from featlearn.core.job import Job

with Job(snakemake) as job:
    job.device("cpu")
    import pandas as pd

    from featlearn.core.files import write_parquet
    from featlearn.core.seeds import Streams
    from featlearn.mrp.lottery import LOTTERY_COLUMNS, lottery_rows

    config = job.config
    streams = Streams(job.params.seed, "mrp", "initialisation", range(config["replicates"]))
    rows = [
        row
        for size in config["sizes"]
        for kernels in size["kernels_per_class"]
        for row in lottery_rows(
            size["classes"],
            kernels,
            config["set_constants"],
            streams(f"kernels-{size['classes']}-{kernels}"),
        )
    ]
    write_parquet(pd.DataFrame(rows, columns=LOTTERY_COLUMNS), job.output.lottery)

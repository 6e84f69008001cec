"""Train both frameworks over the keep probability theta, all replicates and thetas in one batch."""

from featlearn.core.job import Job

with Job(snakemake) as job:
    device = job.device(job.params.device)
    import pandas as pd

    from featlearn.core.files import write_parquet
    from featlearn.mrp.keep_probability import REST_COLUMNS, run_sweeps, trade_off_frame

    trade_off, rest = run_sweeps(job.config, job.params.seed, device)
    write_parquet(trade_off_frame(trade_off), job.output.trade_off)
    write_parquet(pd.DataFrame(rest, columns=list(REST_COLUMNS)), job.output.fixed_points)

"""Draw the figure ``theta-trade-off``."""

from featlearn.core.job import Job

with Job(snakemake) as job:
    from featlearn.core.files import read_parquet
    from featlearn.core.plots import save
    from featlearn.mrp.figures.keep_probability import theta_trade_off

    drawn = theta_trade_off(read_parquet(job.input.trade_off), job.config)
    save(drawn, job.output.svg, job.output.png)

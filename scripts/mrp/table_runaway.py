"""Summarise the runaway experiment."""

from featlearn.core.job import Job

with Job(snakemake) as job:
    from featlearn.core.files import read_parquet, write_markdown_table, write_parquet
    from featlearn.core.stats import SPREAD_KIND
    from featlearn.core.summary import readable, summary

    outcome = read_parquet(job.input.outcome).rename(columns={"model": "schedule"})
    table = summary(outcome, ["schedule", "quantity"])
    write_parquet(table, job.output.parquet)
    write_markdown_table(
        readable(table, "value"),
        job.output.markdown,
        title="Teacher-student training beyond capture",
        notes=f"{int(table['replicates'].max())} replicates; after the sign: {SPREAD_KIND}.",
    )

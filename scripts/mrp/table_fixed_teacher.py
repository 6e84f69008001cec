"""Summarise what students of a fixed teacher inherit."""

from featlearn.core.job import Job

with Job(snakemake) as job:
    from featlearn.core.files import read_parquet, write_markdown_table, write_parquet
    from featlearn.core.stats import SPREAD_KIND
    from featlearn.core.summary import readable, summary

    table = summary(read_parquet(job.input.evaluation), ["model", "quantity"])
    write_parquet(table, job.output.parquet)
    write_markdown_table(
        readable(table, "value"),
        job.output.markdown,
        title="Students of a fixed teacher",
        notes=f"{int(table['replicates'].max())} replicates; after the sign: {SPREAD_KIND}.",
    )

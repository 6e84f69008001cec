"""Summarise the comparison of trainings on pictures."""

from featlearn.core.job import Job

with Job(snakemake) as job:
    from featlearn.core.files import read_parquet, write_markdown_table, write_parquet
    from featlearn.core.stats import SPREAD_KIND
    from featlearn.mrp.images.tables import comparison_table, wide_comparison

    table = comparison_table(read_parquet(job.input[0]))
    write_parquet(table, job.output.parquet)
    replicates = int(table["replicates"].max())
    write_markdown_table(
        wide_comparison(table),
        job.output.markdown,
        title="Accuracy on fresh pictures, by training and number of labels",
        notes=f"{replicates} replicates; after the sign: {SPREAD_KIND}.",
    )

"""One change at a time."""

from featlearn.core.job import Job

with Job(snakemake) as job:
    from featlearn.contrastive.tables import ablations, ablations_for_reading
    from featlearn.core.files import read_parquet, write_markdown_table, write_parquet
    from featlearn.core.stats import SPREAD_KIND

    table = ablations(read_parquet(job.input.evaluation))
    write_parquet(table, job.output.parquet)
    write_markdown_table(
        ablations_for_reading(table),
        job.output.markdown,
        title="One change at a time",
        notes=f"{int(table['replicates'].max())} replicates; after the sign: {SPREAD_KIND}.",
    )

"""What the arms hold at each moment."""

from featlearn.core.job import Job

with Job(snakemake) as job:
    from featlearn.contrastive.tables import moments, moments_for_reading
    from featlearn.core.files import read_parquet, write_markdown_table, write_parquet
    from featlearn.core.stats import SPREAD_KIND

    table = moments(read_parquet(job.input.moments))
    write_parquet(table, job.output.parquet)
    write_markdown_table(
        moments_for_reading(table),
        job.output.markdown,
        title="What the arms hold at each moment",
        notes=f"{int(table['replicates'].max())} replicates; after the sign: {SPREAD_KIND}.",
    )

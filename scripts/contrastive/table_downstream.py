"""Linear probes on every representation."""

from featlearn.core.job import Job

with Job(snakemake) as job:
    from featlearn.contrastive.tables import downstream, downstream_for_reading
    from featlearn.core.files import read_parquet, write_markdown_table, write_parquet
    from featlearn.core.stats import SPREAD_KIND

    table = downstream(read_parquet(job.input.evaluation))
    write_parquet(table, job.output.parquet)
    write_markdown_table(
        downstream_for_reading(table),
        job.output.markdown,
        title="Linear probes on every representation",
        notes="NMSE: mean squared error over the mean square of the response. "
        f"{int(table['replicates'].max())} replicates; after the sign: {SPREAD_KIND}.",
    )

"""Printed against true gradient."""

from featlearn.core.job import Job

with Job(snakemake) as job:
    from featlearn.contrastive.tables import printed_gradient, printed_gradient_for_reading
    from featlearn.core.files import read_parquet, write_markdown_table, write_parquet
    from featlearn.core.stats import SPREAD_KIND

    table = printed_gradient(read_parquet(job.input.instances))
    write_parquet(table, job.output.parquet)
    write_markdown_table(
        printed_gradient_for_reading(table),
        job.output.markdown,
        title="Printed against true gradient",
        notes="Random instances in float64. "
        f"{int(table['replicates'].max())} replicates; after the sign: {SPREAD_KIND}.",
    )

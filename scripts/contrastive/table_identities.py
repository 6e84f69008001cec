"""Closed forms against automatic differentiation, enumeration and sampling."""

from featlearn.core.job import Job

with Job(snakemake) as job:
    from featlearn.contrastive.tables import identities, identities_for_reading
    from featlearn.core.files import read_parquet, write_markdown_table, write_parquet
    from featlearn.core.stats import SPREAD_KIND

    table = identities(read_parquet(job.input.instances), read_parquet(job.input.sampled))
    write_parquet(table, job.output.parquet)
    write_markdown_table(
        identities_for_reading(table),
        job.output.markdown,
        title="Closed forms, checked",
        notes="Above: relative errors in float64, the largest of all instances. Below: means of "
        f"sampled quantities beside what the closed form gives; after the sign: {SPREAD_KIND}.",
    )

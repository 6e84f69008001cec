"""What each training learns on images."""

from featlearn.core.job import Job

with Job(snakemake) as job:
    from featlearn.contrastive.images.tables import for_reading, table
    from featlearn.core.files import read_parquet, write_markdown_table, write_parquet
    from featlearn.core.stats import SPREAD_KIND

    found = table(read_parquet(job.input[0]), job.config)
    write_parquet(found, job.output.parquet)
    write_markdown_table(
        for_reading(found),
        job.output.markdown,
        title="What each training learns on images",
        notes=f"{int(found['replicates'].max())} replicates; after the sign: {SPREAD_KIND}.",
    )

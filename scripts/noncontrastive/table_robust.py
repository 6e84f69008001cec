"""Write the table beside Figure 5."""

from featlearn.core.job import Job

with Job(snakemake) as job:
    from featlearn.core.files import read_parquet, write_markdown_table, write_parquet
    from featlearn.noncontrastive.images.tables import robust_features

    page = robust_features(read_parquet(job.input.values))
    write_parquet(page.table, job.output.parquet)
    write_markdown_table(page.shown, job.output.markdown, title=page.title, notes=page.notes)

"""Write the table of the experiment on images."""

from featlearn.core.job import Job

with Job(snakemake) as job:
    from featlearn.core.files import read_parquet, write_markdown_table, write_parquet
    from featlearn.noncontrastive.images.tables import image_heads

    page = image_heads(read_parquet(job.input.values))
    write_parquet(page.table, job.output.parquet)
    write_markdown_table(page.shown, job.output.markdown, title=page.title, notes=page.notes)

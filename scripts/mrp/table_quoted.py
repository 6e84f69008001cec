"""Write a table of the paper with its own numbers; what is measured here comes beside them."""

from pathlib import Path

from featlearn.core.job import Job

with Job(snakemake) as job:
    from featlearn.core.files import write_markdown_table, write_parquet
    from featlearn.core.quoted import quoted_table

    frame, about = quoted_table(Path(job.input.values), job.wildcards.name)
    write_parquet(frame, job.output.parquet)
    write_markdown_table(
        frame.drop(columns=["measured", "source"]),
        job.output.markdown,
        title=about["title"],
        notes=f"Quoted from {about['source']}. Not measured by this run.",
    )

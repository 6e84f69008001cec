"""Put claims, figures, tables, catalogue and costs of a run on one offline HTML page."""

from featlearn.core.job import Job

with Job(snakemake) as job:
    from pathlib import Path

    from featlearn.core.files import read_parquet
    from featlearn.core.publishing.findings import read_findings
    from featlearn.core.publishing.ledger import FRONT
    from featlearn.core.publishing.report import render

    folders = (file.parent for file in job.input if file.parent.parent.name == "published")
    page = render(
        claims=read_parquet(job.input.claims),
        catalogue=read_parquet(job.input.catalogue),
        pages=job.params.pages,
        stories=job.params.stories,
        results=job.results,
        config=job.config,
        command=job.params.command,
        findings=read_findings(Path(job.input.findings)),
        published=next((folder for folder in folders if folder.name == FRONT), None),
    )
    job.output[0].write_text(page, encoding="utf-8")

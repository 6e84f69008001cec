"""Put claims, figures, tables, catalogue and costs of a run on an index and a page a paper."""

from featlearn.core.run.job import Job

with Job(snakemake) as job:
    from pathlib import Path

    from featlearn.core.files import read_parquet
    from featlearn.core.publishing.findings import read_findings
    from featlearn.core.publishing.ledger import FRONT
    from featlearn.core.publishing.report import INDEX, WHOLE, render, view

    folders = (file.parent for file in job.input if file.parent.parent.name == "published")
    shown = view(
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
    for page, file in zip((WHOLE, INDEX, *job.params.stories), job.output, strict=True):
        file.write_text(render(shown, page), encoding="utf-8")

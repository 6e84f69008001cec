"""List the SHA-256 of all artefacts as ``sha256sum --check`` reads it; not the report's."""

from featlearn.core.run.job import Job

with Job(snakemake) as job:
    lines = sorted(
        f"{digest}  {path.relative_to(job.results)}"
        for path, digest in zip(job.input, job.digests.values(), strict=True)
    )
    job.output[0].write_text("\n".join(lines) + "\n", encoding="utf-8")

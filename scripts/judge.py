"""Judge the claims of an experiment."""

from featlearn.core.job import Job

with Job(snakemake) as job:
    from importlib import import_module

    from featlearn.core.claims import Frames, check_artefacts, ledger
    from featlearn.core.files import write_parquet

    module = import_module(job.params.module)
    # a list, or what gives it for a config
    claims = module.claims(job.config) if hasattr(module, "claims") else module.CLAIMS
    derived = getattr(module, "derived", None)
    frames = Frames(job.frame, job.input.groups, derived(job.config) if derived else {})
    within = (path for path in job.input if path.is_relative_to(job.results))
    known = {str(path.relative_to(job.results)) for path in within}
    check_artefacts(claims, known)
    write_parquet(ledger(claims, frames, job.config), job.output[0])

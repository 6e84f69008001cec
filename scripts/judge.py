"""Judge the claims of an experiment."""

from featlearn.core.job import Job

with Job(snakemake) as job:
    from importlib import import_module

    from featlearn.core.claims import Frames, declared, ledger
    from featlearn.core.files import write_parquet

    module = import_module(job.params.module)
    derived = getattr(module, "derived", None)
    frames = Frames(job.frame, job.input.groups, derived(job.config) if derived else {})
    write_parquet(ledger(declared(module, job.config), frames, job.config), job.output[0])

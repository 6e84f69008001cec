"""Follow the population flow through its four phases, at every dimension."""

from featlearn.core.job import Job

with Job(snakemake) as job:
    device = job.device(job.params.device)
    import pandas as pd

    from featlearn.core.files import write_parquet
    from featlearn.core.seeds import Streams
    from featlearn.noncontrastive.phases import COLUMNS, Phases

    streams = Streams(job.params.seed, "noncontrastive", "phases", range(job.config["replicates"]))
    phases = Phases(job.config, streams, device)
    done = phases.run()
    write_parquet(pd.DataFrame(phases.rows(done), columns=COLUMNS), job.output.times)
    curves = pd.DataFrame(phases.curves(done), columns=["dimension", "time", "quantity", "value"])
    write_parquet(curves, job.output.curves)

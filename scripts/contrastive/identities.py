"""Check identities on random instances, and closed forms of expectations by sampling."""

from featlearn.core.job import Job

with Job(snakemake) as job:
    job.device("cpu")
    import pandas as pd

    from featlearn.contrastive import identities, sampled
    from featlearn.core.files import write_parquet
    from featlearn.core.seeds import Streams

    config = job.config
    streams = Streams(job.params.seed, "contrastive", "identities", range(config["replicates"]))
    instances = identities.instance_rows(config, streams)
    checks = sampled.sampled_rows(config, streams)
    write_parquet(pd.DataFrame(instances, columns=identities.COLUMNS), job.output.instances)
    write_parquet(pd.DataFrame(checks, columns=sampled.COLUMNS), job.output.sampled)

"""Set the closed forms against brute force on random instances; race the sequences of the lemma."""

from featlearn.core.job import Job

with Job(snakemake) as job:
    job.device("cpu")
    import pandas as pd

    from featlearn.core.files import write_parquet
    from featlearn.core.seeds import Streams
    from featlearn.mrp.oracles import instance_rows
    from featlearn.mrp.sequences import race_rows

    config, seed = job.config, job.params.seed
    streams = Streams(seed, "mrp", "oracles", range(config["replicates"]))
    instances = [row for q in config["exponents"] for row in instance_rows(q, config, streams)]
    races = race_rows(config["race_exponents"], config["race_steps"], streams)
    write_parquet(
        pd.DataFrame(instances, columns=["quantity", "q", "kernel_std", "replicate", "value"]),
        job.output.instances,
    )
    write_parquet(races, job.output.races)

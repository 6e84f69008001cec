"""Set the closed forms against brute force on random instances; section 5.3 in numbers."""

from featlearn.core.job import Job

with Job(snakemake) as job:
    job.device("cpu")
    import pandas as pd

    from featlearn.core.files import write_parquet
    from featlearn.core.seeds import Streams
    from featlearn.noncontrastive.data import PatchData
    from featlearn.noncontrastive.oracles import COLUMNS, instance_rows, role_rows

    config = job.config
    streams = Streams(job.params.seed, "noncontrastive", "oracles", range(config["replicates"]))
    instances = pd.DataFrame(instance_rows(config, streams), columns=COLUMNS)
    write_parquet(instances, job.output.instances)
    roles = role_rows(PatchData.from_config(config["roles"]["data"]), config["roles"]["e21"])
    roles = pd.DataFrame(roles, columns=["variant", "e21", "strong", "weak"])
    write_parquet(roles, job.output.roles)

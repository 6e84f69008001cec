"""Follow many random starts to their end, in all cases and modes, and over the phase diagram."""

from featlearn.core.job import Job

with Job(snakemake) as job:
    device = job.device(job.params.device)
    import pandas as pd

    from featlearn.core.files import write_parquet
    from featlearn.core.seeds import Streams
    from featlearn.noncontrastive.starts import COLUMNS, MODES, Case, all_rows, diagram_cases

    config = job.config
    streams = Streams(job.params.seed, "noncontrastive", "starts", range(config["replicates"]))
    cases = {name: Case.from_config(case, config["data"]) for name, case in config["cases"].items()}
    rows = all_rows(cases, MODES, config, streams, device)
    write_parquet(pd.DataFrame(rows, columns=COLUMNS), job.output.outcomes)
    diagram = config["diagram"]
    cells = diagram_cases(diagram, config["data"])
    rows = all_rows(cells, ["head"], {**config, "starts": diagram["starts"]}, streams, device)
    write_parquet(pd.DataFrame(rows, columns=COLUMNS), job.output.diagram)

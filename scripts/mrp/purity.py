"""Compare pre-trained kernels with the induction hypothesis: at the start, at T_0, at the end."""

from featlearn.core.job import Job

with Job(snakemake) as job:
    device = job.device(job.params.device)
    import pandas as pd

    from featlearn.core.files import read_tensors, write_parquet
    from featlearn.mrp.experiment import Experiment
    from featlearn.mrp.induction import PURITY_COLUMNS, purity_rows

    experiment = Experiment("headline", job.config["headline"], job.params.seed, device)
    pretrained = read_tensors(job.input.pretrained, device)
    moments = {
        "start": experiment.initial_kernels(),
        "capture": pretrained["at_capture"],
        "end": pretrained["w"],
    }
    rows = purity_rows(
        moments,
        experiment.train_samples(),
        experiment.features,
        experiment.activation,
        job.config["purity"]["lottery_constants"],
    )
    write_parquet(pd.DataFrame(rows, columns=PURITY_COLUMNS), job.output.purity)

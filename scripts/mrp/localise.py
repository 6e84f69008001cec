"""Which patches the classifiers look at: evidence of each patch for the class of the sample."""

from featlearn.core.job import Job

with Job(snakemake) as job:
    device = job.device(job.params.device)
    import pandas as pd

    from featlearn.core.files import read_tensors, write_parquet
    from featlearn.mrp.experiment import Experiment
    from featlearn.mrp.localisation import (
        LOCALISATION_COLUMNS,
        PATCH_COLUMNS,
        localisation_rows,
        own_patches,
        patch_evidence,
        patch_rows,
    )

    headline, options = job.config["headline"], job.config["localisation"]
    experiment = Experiment("headline", headline, job.params.seed, device)
    samples = experiment.test_samples(single_view=False)
    supervised = read_tensors(job.input.supervised, device)
    downstream = read_tensors(job.input.downstream, device)
    networks = {
        "supervised": (supervised["w"], supervised["u"]),
        "finetuned": (downstream["finetuned.w"], downstream["finetuned.u"]),
    }
    shown = own_patches(samples, experiment.spec.features_per_class)
    rows, patches = [], []
    for name, (w, u) in networks.items():
        evidence = patch_evidence(samples, w, u, experiment.activation)
        rows += localisation_rows(name, evidence, shown, options["seen_share"])
        patches += patch_rows(name, evidence, samples, options["pictured_samples"])
    write_parquet(pd.DataFrame(rows, columns=LOCALISATION_COLUMNS), job.output.localisation)
    write_parquet(pd.DataFrame(patches, columns=PATCH_COLUMNS), job.output.patches)

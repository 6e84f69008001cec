"""Use the pre-trained encoder on other classes: probe, fine-tune, pre-train further, start anew."""

from featlearn.core.job import Job

with Job(snakemake) as job:
    device = job.device(job.params.device)
    import pandas as pd

    from featlearn.core.files import read_tensors, write_parquet
    from featlearn.core.progress import Progress
    from featlearn.core.seeds import Streams
    from featlearn.mrp.experiment import Experiment
    from featlearn.mrp.recipes import all_recipes
    from featlearn.mrp.transfer import (
        TRANSFER_COLUMNS,
        Case,
        draw_task,
        extend_features,
        transfer_rows,
    )

    headline, options = job.config["headline"], job.config["transfer"]
    experiment = Experiment("headline", headline, job.params.seed, device)
    pretrained = read_tensors(job.input.pretrained, device)["w"]
    replicates = range(headline["replicates"])
    cases = {name: Case(**case) for name, case in options["cases"].items()}
    pool = extend_features(
        experiment.features,
        max(case.new_classes for case in cases.values()),
        Streams(job.params.seed, "mrp", "transfer", replicates)("new-features"),
    )
    rows = []
    for name, case in cases.items():
        # a case has streams of its own: another one more or less does not move its numbers
        streams = Streams(job.params.seed, "mrp", f"transfer-{name}", replicates)
        task = draw_task(case, experiment.spec, pool, streams, **options["samples"]).to(device)
        for recipe, rate, w, u, by_class in all_recipes(
            task,
            pretrained,
            streams,
            experiment.activation,
            headline["network"],
            headline["pretraining"]["theta"],
            options,
            report=lambda recipe, steps, name=name: (
                Progress(f"{job.rule} {name} {recipe}", steps).report
            ),
        ):
            rows += transfer_rows(
                name, recipe, rate, task, w, u, experiment.activation, by_class=by_class
            )
    write_parquet(pd.DataFrame(rows, columns=TRANSFER_COLUMNS), job.output.accuracy)

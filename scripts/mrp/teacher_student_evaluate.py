"""Fine-tune teacher-student kernels; compare with supervised training from the same start."""

from featlearn.core.job import Job

with Job(snakemake) as job:
    device = job.device(job.params.device)
    import pandas as pd

    from featlearn.core.files import read_tensors, write_parquet
    from featlearn.mrp.classify import Task
    from featlearn.mrp.experiment import Experiment
    from featlearn.mrp.measure import EVALUATION_COLUMNS, capture
    from featlearn.mrp.noise import NOISE_COLUMNS, noise_of
    from featlearn.mrp.teacher_student import (
        MATRIX_COLUMNS,
        kernel_rows,
        lottery_rows,
        matrix_rows,
        rows,
    )

    own, headline = job.config["teacher_student"], job.config["headline"]
    experiment = Experiment("teacher-student", own, job.params.seed, device)
    features, activation = experiment.features, experiment.activation
    task = Task.of(experiment)
    initial = experiment.initial_kernels()
    pretrained = read_tensors(job.input.pretrained, device)

    models = {
        "supervised": task.supervise(initial, own["supervised"]),
        "finetuned": task.finetune(pretrained["w"], own["finetuning"]),
    }
    seen = []
    for name, trained in models.items():
        held = capture(trained.w, features, activation, by_class=name == "supervised")
        seen += [*task.rows(name, trained), *kernel_rows(name, held)]
    before, after = (capture(w, features, activation) for w in (initial, pretrained["w"]))
    seen += [*kernel_rows("initial", before), *kernel_rows("pretrained", after)]
    seen += lottery_rows(
        "pretrained", before.correlation, after.correlation, {"narrow": 0.25, "wide": 1.0}
    )
    hit = pretrained["hit"].flatten(1)
    seen += rows("pretrained", {"steps": pretrained["stopped"], "first_hit": hit.amin(1)})
    write_parquet(pd.DataFrame(seen, columns=EVALUATION_COLUMNS), job.output.evaluation)

    noise = noise_of(experiment, pretrained["w"])
    write_parquet(pd.DataFrame(noise, columns=NOISE_COLUMNS), job.output.noise)

    mae = Experiment("headline", headline, job.params.seed, device)
    reference = read_tensors(job.input.reference, device)["w"]
    matrix = [
        *matrix_rows("ts", initial[0], pretrained["w"][0], features[0], activation.varrho),
        *matrix_rows(
            "mae", mae.initial_kernels()[0], reference[0], mae.features[0], mae.activation.varrho
        ),
    ]
    write_parquet(pd.DataFrame(matrix, columns=MATRIX_COLUMNS), job.output.matrix)

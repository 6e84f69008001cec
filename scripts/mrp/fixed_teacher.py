"""Train students of a fixed teacher, the finished MAE encoders of the headline; fine-tune both."""

from featlearn.core.job import Job

with Job(snakemake) as job:
    device = job.device(job.params.device)
    import pandas as pd

    from featlearn.core.files import read_tensors, write_parquet
    from featlearn.mrp.classify import Task
    from featlearn.mrp.experiment import Experiment
    from featlearn.mrp.fixed_teacher import inheritance_rows, learn, student_start
    from featlearn.mrp.measure import EVALUATION_COLUMNS

    options = job.config["fixed_teacher"]
    experiment = Experiment("headline", job.config["headline"], job.params.seed, device)
    task = Task.of(experiment)
    teacher = read_tensors(job.input.teacher, device)["w"]
    start = student_start(experiment, job.params.seed, options["sigma_0"])
    student = learn(experiment, task.train.x, teacher, start, options["pretraining"]).w
    seen = list(
        inheritance_rows(experiment.features, teacher, start, student, experiment.activation.varrho)
    )
    for name, w in {"teacher": teacher, "student": student}.items():
        seen += task.rows(name, task.finetune(w, options["finetuning"]))
    write_parquet(pd.DataFrame(seen, columns=EVALUATION_COLUMNS), job.output.evaluation)

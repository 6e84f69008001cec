"""Teacher-student pre-training, stopped when every feature is captured; all replicates at once."""

from featlearn.core.job import Job

with Job(snakemake) as job:
    device = job.device(job.params.device)
    from featlearn.core.files import write_parquet, write_tensors
    from featlearn.core.progress import Progress
    from featlearn.mrp.experiment import Experiment
    from featlearn.mrp.purity import Watch, purity_history
    from featlearn.mrp.teacher_student import growth_history, teacher_student

    experiment = Experiment("teacher-student", job.config, job.params.seed, device)
    options = job.config["pretraining"]
    done = teacher_student(
        experiment,
        experiment.train_samples().x,
        experiment.initial_kernels(),
        observe=Watch(experiment.activation.varrho),
        report=Progress(job.rule, options["max_steps"]).report,
        **options,
    )
    write_tensors({"w": done.w, "hit": done.hit, "stopped": done.stopped}, job.output.weights)
    write_parquet(growth_history(done.trace), job.output.growth)
    write_parquet(purity_history(done.trace), job.output.purity)

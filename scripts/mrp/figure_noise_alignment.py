"""Draw the figure ``noise_alignment``."""

from featlearn.core.job import Job

with Job(snakemake) as job:
    from featlearn.core.files import read_parquet
    from featlearn.core.plots import save
    from featlearn.mrp.figures.teacher_student import noise_alignment
    from featlearn.mrp.noise_scales import scales

    panels = {
        "teacher-student": ("teacher_student", job.input.teacher_student),
        "masked autoencoder (MAE)": ("headline", job.input.mae),
    }
    drawn = noise_alignment(
        {
            title: (read_parquet(file), scales(job.config[section]))
            for title, (section, file) in panels.items()
        }
    )
    save(drawn, job.output.svg, job.output.png)

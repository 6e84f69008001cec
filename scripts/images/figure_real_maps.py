"""Draw the figure ``real-maps``: Eigen-CAM of the first replicate's classifiers on real images."""

from featlearn.core.job import Job

with Job(snakemake) as job:
    device = job.device(job.params.device)
    from featlearn.core.files import read_tensors
    from featlearn.core.plots import save
    from featlearn.mrp.images.real import RealExperiment
    from featlearn.mrp.images.real_config import RANDOM, map_panels, method_of
    from featlearn.mrp.images.real_maps import maps_figure, panel
    from featlearn.mrp.images.real_tables import METHODS

    cache = job.results / job.params.cache
    files = iter(job.input)
    drawn = []
    for columns in map_panels(job.config):
        seen = {}
        for name, start in columns:
            job.tell(f"{name}, {start}")
            settings = job.config[name]
            own = RealExperiment(name, settings, cache, job.params.seed, 0, device)
            method = method_of(settings, start)
            head = "supervised" if start == RANDOM else METHODS.get(method, method)
            head = f"{head} ({name})" if head in seen else head
            seen[head] = own, own.classifier(own.encoder(), read_tensors(next(files)))
        names = dict.fromkeys(name for name, _ in columns)
        drawn.append(panel(", ".join(names), seen, job.config[columns[0][0]]["shown"]))
    save(maps_figure(drawn), job.output.svg, job.output.png)

"""Measure fine-tuning: its first step, what it keeps, and which single-view samples it gets."""

from featlearn.core.job import Job

with Job(snakemake) as job:
    device = job.device(job.params.device)
    import pandas as pd

    from featlearn.core.files import read_parquet, read_tensors, write_parquet
    from featlearn.mrp.data import sample
    from featlearn.mrp.experiment import Experiment
    from featlearn.mrp.finetuning import (
        balance,
        balance_rows,
        by_strong_view,
        feature_weights,
        first_step,
        worst_over_bound,
        wrong_mass_after_one_step,
        wrong_mass_over_bound,
    )
    from featlearn.mrp.measure import (
        EVALUATION_COLUMNS,
        capture,
        capture_rows,
        predict,
        prediction_rows,
        replicate_rows,
    )
    from featlearn.mrp.train import capture_strength, correlations

    experiment = Experiment("headline", job.config["headline"], job.params.seed, device)
    options, spec, activation = job.config["finetuning"], experiment.spec, experiment.activation
    features, samples = experiment.features, experiment.train_samples()
    multi = experiment.test_samples(single_view=False)
    single = experiment.test_samples(single_view=True)
    many = sample(
        spec,
        features.cpu(),
        options["balance_samples"],
        experiment.streams("test-balance"),
        single_view=True,
    ).to(device)
    pretrained = read_tensors(job.input.pretrained, device)
    finetuned = read_tensors(job.input.finetuned, device)
    supervised = read_tensors(job.input.supervised, device)
    learning = read_parquet(job.input.learning)

    rates = {"head_rate": options["head_rate"], "encoder_rate": options["encoder_rate"]}
    rows = [
        *replicate_rows(
            "first_step",
            first_step(samples, pretrained["w"], features, spec, activation, **rates),
        )
    ]
    for multiple in options["first_head_rates"]:
        mass = wrong_mass_after_one_step(
            samples, pretrained["w"], spec.classes, activation, multiple * spec.classes
        )
        rows += replicate_rows(
            "first_step",
            {
                f"wrong_mass_at_{multiple}k": mass,
                f"k_times_wrong_mass_at_{multiple}k": spec.classes * mass,
            },
        )

    starts = {"simultaneous": "w", "u_then_w": "w", "at_capture": "at_capture"}
    for name, start in starts.items():
        w, u = finetuned[f"{name}.w"], finetuned[f"{name}.u"]
        seen = {
            "multi_view": predict(multi, w, u, activation),
            "single_view": predict(single, w, u, activation),
        }
        kept = capture_strength(w, features) / capture_strength(pretrained[start], features)
        rows += prediction_rows(name, seen)
        rows += capture_rows(name, capture(w, features, activation))
        trained = predict(samples, w, u, activation)
        rows += replicate_rows(
            name,
            {
                "least_kept": kept.flatten(1).amin(1),
                "wrong_mass_over_bound": wrong_mass_over_bound(
                    learning[learning["model"] == name], spec.classes, **rates
                ),
                **{
                    f"worst_over_bound_{kind}": worst_over_bound(found, trained, spec.sparsity)
                    for kind, found in {"train": trained, **seen}.items()
                },
            },
        )
    write_parquet(pd.DataFrame(rows, columns=EVALUATION_COLUMNS), job.output.evaluation)

    # what the pre-trained kernels promise on single-view data, and what the networks then do there
    blocks = supervised["u"].transpose(1, 2).unsqueeze(-1) > 0
    networks = {
        "supervised": (supervised["w"], blocks, supervised["w"], supervised["u"]),
        "at_capture": (
            pretrained["at_capture"],
            None,
            finetuned["at_capture.w"],
            finetuned["at_capture.u"],
        ),
        "pretrained": (
            pretrained["w"],
            None,
            finetuned["u_then_w.w"],
            finetuned["u_then_w.u"],
        ),
    }
    cells = []
    for name, (before, eligible, w, u) in networks.items():
        weights = feature_weights(correlations(before, features), eligible)
        promised = balance(weights, spec.weak_strength, spec.off_strength[1])
        found = predict(many, w, u, activation)
        right = found.scores.argmax(-1) == found.y
        shape = (spec.classes, spec.features_per_class)
        cells += balance_rows(name, promised, by_strong_view(right, many.y, many.strong, shape))
    columns = ["model", "replicate", "class", "view", "balance", "accuracy"]
    write_parquet(pd.DataFrame(cells, columns=columns), job.output.balance)

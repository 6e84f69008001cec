# A toy paper: how many noisy views show a feature?

AVERAGING = config["toy"]["averaging"]


use rule calculate as toy_averaging with:
    output:
        alignment=f"{RESULTS}/toy/measurements/averaging.parquet",
    log:
        f"{LOGS}/toy/averaging.log",
    params:
        **by("toy.experiments:averaging", AVERAGING),


experiment("toy", "averaging", AVERAGING, alignment=rules.toy_averaging.output.alignment)

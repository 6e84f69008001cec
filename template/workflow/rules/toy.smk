# A toy paper: how many noisy views show a feature?


use rule calculate as toy_averaging with:
    output:
        **outputs("toy", alignment="averaging"),
    params:
        **by("toy.experiments:averaging", config["toy"]["averaging"]),


experiment("toy", "averaging")

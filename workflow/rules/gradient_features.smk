# Thesis, chapter 3: gradient features, what the first step of training finds.


use rule calculate as gradient_features_cones with:
    output:
        **outputs("gradient_features/cones", "neurons sure dimensions"),
    params:
        **by("gradient_features.experiments.cones:measure"),


use rule calculate as gradient_features_opponents with:
    output:
        **outputs("gradient_features", accuracies="opponents"),
    params:
        **by("gradient_features.experiments.opponents:measure"),


use rule calculate as gradient_features_learning with:
    output:
        **outputs("gradient_features/learning", "curves heads"),
    params:
        **by("gradient_features.experiments.learning:measure"),


use rule calculate as gradient_features_structure with:
    output:
        **outputs("gradient_features/structure", "neurons curves heads"),
    params:
        **by(
            "gradient_features.experiments.learning:structure",
            config["gradient_features"]["structure"],
        ),


use rule calculate as gradient_features_frozen with:
    output:
        **outputs("gradient_features/frozen", "smooth curves heads scan"),
    params:
        **by("gradient_features.experiments.frozen:measure"),


use rule calculate as gradient_features_appendix with:
    output:
        **outputs("gradient_features/appendix", "drift alternative fixed"),
    params:
        **by("gradient_features.experiments.appendix:measure"),


use rule calculate as gradient_features_lemmas with:
    output:
        **outputs("gradient_features/lemmas", "nice existence activation tails"),
    params:
        **by("gradient_features.experiments.lemmas:measure"),


for name in ("cones", "opponents", "learning", "structure", "frozen", "appendix"):
    experiment("gradient_features", name)
experiment(
    "gradient_features",
    "lemmas",
    rules.gradient_features_lemmas,
    rules.gradient_features_appendix,
    rules.gradient_features_opponents,
    section=config["gradient_features"],
    smooth=rules.gradient_features_frozen.output.smooth,
)

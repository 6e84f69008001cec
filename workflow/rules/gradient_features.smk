# Thesis, chapter 3: gradient features, what the first step of training finds.

measured("calculate", "gradient_features/cones", "neurons sure dimensions")


use rule calculate as gradient_features_opponents with:
    output:
        **outputs("gradient_features", accuracies="opponents"),
    params:
        **by("gradient_features.experiments.opponents:measure"),


measured("calculate", "gradient_features/learning", "curves heads")
measured("calculate", "gradient_features/structure", "neurons curves heads", "learning:structure")
measured("calculate", "gradient_features/frozen", "smooth curves heads scan")
measured("calculate", "gradient_features/appendix", "drift alternative fixed")
measured("calculate", "gradient_features/lemmas", "nice existence activation tails")

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

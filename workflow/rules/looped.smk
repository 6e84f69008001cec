# Thesis, chapter 8: looped transformers as gradient descent in context.


use rule calculate as looped_construction with:
    output:
        **outputs("looped/construction", "curves prompts ablations kappas"),
        **outputs("looped/construction", "dimensions blind shortcut"),
    params:
        **by("looped.experiments.construction:measure"),


use rule calculate as looped_learned with:
    output:
        **outputs("looped/learned", "errors weights"),
    params:
        **by("looped.experiments.learned:measure"),


experiment("looped", "construction", paper_values="looped")
experiment("looped", "learned")

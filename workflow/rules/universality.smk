# Thesis, chapter 7: universality against label efficiency.

from featlearn.universality import config as universality_config
from featlearn.universality import encoders as universality_encoders
from featlearn.universality import real as universality_real

UNIVERSALITY = config["universality"]
FOUNDATION = UNIVERSALITY["foundation"]
# tables of probes are made of the encoders that a config names, or else of vectors
UNIVERSALITY_NAMED = universality_config.from_files(FOUNDATION)
checked(universality_config.missing(FOUNDATION))
UNIVERSALITY_IMAGES = {
    name: universality_config.ladder_state(UNIVERSALITY[name]["sets"], f"universality.{name}.sets")
    for name in ("pictures", "residual")
}
UNIVERSALITY_REAL = UNIVERSALITY["real"] or {}
checked(universality_real.faults(UNIVERSALITY_REAL))
UNIVERSALITY_STATES, UNIVERSALITY_LOST = universality_real.states(UNIVERSALITY_REAL)
warned(UNIVERSALITY_LOST)

measured("calculate", "universality/theory", "risks updates")


use rule train_here as universality_ladders with:
    output:
        **outputs("universality/ladders", "accuracies similarities"),
        encoders=f"{RESULTS}/universality/weights/ladders.safetensors",
    params:
        **by("universality.experiments.ladders:measure"),


use rule train_here as universality_remedy with:
    input:
        encoders=rules.universality_ladders.output.encoders,
    output:
        **outputs("universality/remedy", "tuned maps purities"),
    params:
        **by("universality.experiments.remedy:measure", ladders=UNIVERSALITY["ladders"]),


use rule compute as universality_foundation with:
    input:
        encoders=[] if FOUNDATION["models"] else rules.universality_ladders.output.encoders,
    output:
        **outputs("universality/foundation", "adapters probed"),
    params:
        **by(
            "universality.experiments.foundation:measure",
            ladders=UNIVERSALITY["ladders"],
            images=universality_config.foundation_state(FOUNDATION),
        ),


measured("train_here", "universality/related", "pooled", ladders=UNIVERSALITY["ladders"])
measured("train_here", "universality/pictures", "pictures", images=UNIVERSALITY_IMAGES["pictures"])
measured("train_here", "universality/residual", "pictures", images=UNIVERSALITY_IMAGES["residual"])


# a method a job, so that none is long
use rule train_here as universality_real with:
    output:
        **outputs("universality/real", pictures="{ladder}-{loss}"),
    wildcard_constraints:
        ladder="|".join(UNIVERSALITY_REAL) or "none",
    params:
        **by(
            "universality.experiments.residual:measure",
            lambda wildcards: UNIVERSALITY_REAL[wildcards.ladder] | {"methods": [wildcards.loss]},
            images=lambda wildcards: UNIVERSALITY_STATES[wildcards.ladder],
        ),


experiment("universality", "theory")
for name, others in (
    ("ladders", UNIVERSALITY_NAMED & {"table-f-1", "table-f-4"}),
    ("remedy", UNIVERSALITY_NAMED & {"table-f-10", "table-f-11"}),
):
    # what is drawn of real pictures is not drawn of tasks
    if name == "ladders" and UNIVERSALITY_REAL:
        others |= {one.name for one in exhibits("universality", "real")}
    experiment("universality", name, without=sorted(others), paper_values="universality")
if UNIVERSALITY_REAL:
    experiment(
        "universality",
        "real",
        contains="stand-in",
        **{
            name: expand(rules.universality_real.output.pictures, ladder=name, loss=own["methods"])
            for name, own in UNIVERSALITY_REAL.items()
        },
    )
experiment(
    "universality",
    "foundation",
    without=[
        *(name for name in universality_encoders.PROBED if name not in UNIVERSALITY_NAMED),
        *universality_config.no_texts(FOUNDATION),
    ],
    contains=universality_config.contains(FOUNDATION),
    met=universality_config.met(FOUNDATION),
    paper_values="universality",
)
if UNIVERSALITY["released"]["models"]:
    checked(universality_real.released_faults(UNIVERSALITY["released"]["models"]))

    use rule train_here as universality_released with:
        output:
            **outputs("universality/released", "scores alike", weights="scratch"),
        params:
            **by(
                "universality.experiments.released:measure",
                images=universality_config.foundation_state(UNIVERSALITY["released"]),
            ),

    use rule universality_released as universality_released_maps with:
        input:
            weights=rules.universality_released.output.weights,
        output:
            PUBLISHED.files("universality", "figure", "released-maps"),
        params:
            **by("universality.experiments.released:maps"),

    experiment("universality", "released")
    shown_by(rules.universality_released_maps, "universality")


experiment(
    "universality",
    "related",
    without=sorted(UNIVERSALITY_NAMED & {"table-f-2", "table-f-3"}),
    paper_values="universality",
)
experiment("universality", "pictures")
experiment("universality", "residual")

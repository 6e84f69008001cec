# What kernels learn: supervised and by mask reconstruction.

# ------------------------------------------------------------------------------------- headline
# feature noise in many patches: data that neither a linear classifier nor random kernels solve

HEADLINE, CLEAN = config["mrp"]["headline"], config["mrp"]["clean"]


use rule compute as mrp_pretrain with:
    output:
        weights=f"{MRP}/weights/headline/pretrained.safetensors",
        history=f"{MRP}/measurements/headline/pretrained-growth.parquet",
    log:
        f"{LOGS}/mrp/pretrain.log",
    params:
        **by(
            "mrp.experiments.headline:pretrain",
            parts(HEADLINE, "replicates", "data", "network", "pretraining"),
            **COMPILE,
        ),


use rule compute as mrp_supervise with:
    output:
        weights=f"{MRP}/weights/headline/supervised.safetensors",
        history=f"{MRP}/measurements/headline/supervised-growth.parquet",
        learning=f"{MRP}/measurements/headline/supervised-learning.parquet",
    log:
        f"{LOGS}/mrp/supervise.log",
    params:
        **by(
            "mrp.experiments.headline:supervise",
            parts(HEADLINE, "replicates", "data", "network", "supervised"),
            **COMPILE,
        ),


use rule compute as mrp_supervise_all with:
    output:
        weights=f"{MRP}/weights/headline/supervised-all.safetensors",
        learning=f"{MRP}/measurements/headline/supervised-all-learning.parquet",
    log:
        f"{LOGS}/mrp/supervise-all.log",
    params:
        **by(
            "mrp.experiments.headline:supervise_all",
            parts(HEADLINE, "replicates", "data", "network", "supervised"),
            **COMPILE,
        ),


use rule compute as mrp_downstream with:
    input:
        pretrained=rules.mrp_pretrain.output.weights,
    output:
        weights=f"{MRP}/weights/headline/downstream.safetensors",
        learning=f"{MRP}/measurements/headline/downstream-learning.parquet",
    log:
        f"{LOGS}/mrp/downstream.log",
    params:
        **by(
            "mrp.experiments.headline:downstream",
            parts(HEADLINE, "replicates", "data", "network", "finetuning"),
            **COMPILE,
        ),


use rule compute as mrp_evaluate with:
    input:
        pretrained=rules.mrp_pretrain.output.weights,
        supervised=rules.mrp_supervise.output.weights,
        supervised_all=rules.mrp_supervise_all.output.weights,
        downstream=rules.mrp_downstream.output.weights,
    output:
        evaluation=f"{MRP}/measurements/headline/evaluation.parquet",
        features=f"{MRP}/measurements/headline/features.parquet",
    log:
        f"{LOGS}/mrp/evaluate.log",
    params:
        **by(
            "mrp.experiments.headline:evaluate",
            parts(HEADLINE, "replicates", "data", "network"),
            **COMPILE,
        ),


experiment(
    "mrp",
    "headline",
    HEADLINE,
    evaluation=rules.mrp_evaluate.output.evaluation,
    features=rules.mrp_evaluate.output.features,
    pretrained=rules.mrp_pretrain.output.history,
    supervised=rules.mrp_supervise.output.history,
    apart=["feature-growth"],
)

# ---------------------------------------------------------------------------------------- clean
# hardly any noise: where the theory stands and its steps are checked, but a linear classifier does


use rule compute as mrp_clean_pretrain with:
    output:
        weights=f"{MRP}/weights/clean/pretrained.safetensors",
    log:
        f"{LOGS}/mrp/clean-pretrain.log",
    params:
        **by(
            "mrp.experiments.clean:pretrain",
            parts(CLEAN, "replicates", "data", "network", "pretraining"),
            **COMPILE,
        ),


use rule compute as mrp_clean_supervise with:
    output:
        weights=f"{MRP}/weights/clean/supervised.safetensors",
    log:
        f"{LOGS}/mrp/clean-supervise.log",
    params:
        **by(
            "mrp.experiments.clean:supervise",
            parts(CLEAN, "replicates", "data", "network", "supervised"),
            **COMPILE,
        ),


use rule compute as mrp_clean_downstream with:
    input:
        pretrained=rules.mrp_clean_pretrain.output.weights,
    output:
        weights=f"{MRP}/weights/clean/downstream.safetensors",
    log:
        f"{LOGS}/mrp/clean-downstream.log",
    params:
        **by(
            "mrp.experiments.clean:downstream",
            parts(CLEAN, "replicates", "data", "network", "finetuning"),
            **COMPILE,
        ),


use rule compute as mrp_clean_evaluate with:
    input:
        pretrained=rules.mrp_clean_pretrain.output.weights,
        supervised=rules.mrp_clean_supervise.output.weights,
        downstream=rules.mrp_clean_downstream.output.weights,
    output:
        evaluation=f"{MRP}/measurements/clean/evaluation.parquet",
    log:
        f"{LOGS}/mrp/clean-evaluate.log",
    params:
        **by(
            "mrp.experiments.clean:evaluate",
            parts(CLEAN, "replicates", "data", "network"),
            **COMPILE,
        ),


experiment("mrp", "clean", CLEAN, evaluation=rules.mrp_clean_evaluate.output.evaluation)


# ------------------------------------------------------------------------------------ opponents
# from the one to the other: where each opponent stops


use rule compute as mrp_opponents with:
    output:
        cells=f"{MRP}/measurements/opponents/cells.parquet",
    log:
        f"{LOGS}/mrp/opponents.log",
    params:
        **by("mrp.experiments.opponents:oppose", config["mrp"]["opponents"], **COMPILE),


experiment(
    "mrp",
    "opponents",
    config["mrp"]["opponents"],
    cells=rules.mrp_opponents.output.cells,
)

# --------------------------------------------------------------------------------------- purity
# what pre-training made of each kernel, beside the induction hypothesis of the proof


use rule compute as mrp_purity with:
    input:
        pretrained=rules.mrp_clean_pretrain.output.weights,
    output:
        purity=f"{MRP}/measurements/purity/purity.parquet",
    log:
        f"{LOGS}/mrp/purity.log",
    params:
        **by(
            "mrp.experiments.purity:purity",
            {
                "clean": parts(CLEAN, "replicates", "data", "network"),
                "purity": config["mrp"]["purity"],
            },
            **COMPILE,
        ),


experiment("mrp", "purity", CLEAN, purity=rules.mrp_purity.output.purity)

# -------------------------------------------------------------------------------------- oracles
# the closed forms against brute force, and what the printed gradient would do

ORACLES = config["mrp"]["oracles"]


use rule calculate as mrp_oracles with:
    output:
        instances=f"{MRP}/measurements/oracles/instances.parquet",
        races=f"{MRP}/measurements/oracles/races.parquet",
    log:
        f"{LOGS}/mrp/oracles.log",
    params:
        **by(
            "mrp.experiments.oracles:oracles",
            parts(
                ORACLES, "replicates", "exponents", "kernel_std", "race_exponents", "race_steps"
            ),
            device="cpu",
        ),


use rule compute as mrp_training_controls with:
    output:
        gradients=f"{MRP}/measurements/oracles/printed-gradient.parquet",
        runs=f"{MRP}/measurements/oracles/printed-runs.parquet",
        ordinary_teacher=f"{MRP}/measurements/oracles/ordinary-teacher.parquet",
    log:
        f"{LOGS}/mrp/training-controls.log",
    params:
        **by(
            "mrp.experiments.oracles:training_controls",
            parts(ORACLES, "replicates", "data", "network", "pretraining", "ordinary_teacher"),
            **COMPILE,
        ),


experiment(
    "mrp",
    "oracles",
    instances=rules.mrp_oracles.output.instances,
    races=rules.mrp_oracles.output.races,
    gradients=rules.mrp_training_controls.output.gradients,
    runs=rules.mrp_training_controls.output.runs,
    ordinary_teacher=rules.mrp_training_controls.output.ordinary_teacher,
)

# ------------------------------------------------------------------------------- initialisation
# what the initial draw decides: correlations at the start and the lottery sets


use rule calculate as mrp_initialisation with:
    output:
        lottery=f"{MRP}/measurements/initialisation/lottery.parquet",
    log:
        f"{LOGS}/mrp/initialisation.log",
    params:
        **by(
            "mrp.experiments.initialisation:lottery",
            config["mrp"]["initialisation"],
            device="cpu",
        ),


experiment("mrp", "initialisation", lottery=rules.mrp_initialisation.output.lottery)

# --------------------------------------------------------------------------------------- growth
# how fast features grow, and what happens to a kernel after the capture

GROWTH = config["mrp"]["growth"]


use rule compute as mrp_growth with:
    output:
        hits=f"{MRP}/measurements/growth/hits.parquet",
        curves=f"{MRP}/measurements/growth/curves.parquet",
    log:
        f"{LOGS}/mrp/growth.log",
    params:
        **by(
            "mrp.experiments.growth:growth",
            parts(
                GROWTH,
                "replicates",
                "data",
                "network",
                "sigma_0",
                "theta",
                "target",
                "mae",
                "teacher_student",
                "alone",
            ),
            **COMPILE,
        ),


use rule calculate as mrp_one_kernel with:
    output:
        after_capture=f"{MRP}/measurements/growth/after-capture.parquet",
        residual_slopes=f"{MRP}/measurements/growth/residual-slopes.parquet",
        fixed_points=f"{MRP}/measurements/growth/one-kernel-fixed-points.parquet",
    log:
        f"{LOGS}/mrp/one-kernel.log",
    params:
        **by("mrp.experiments.growth:one_kernel", GROWTH, device="cpu"),


experiment(
    "mrp",
    "growth",
    GROWTH,
    hits=rules.mrp_growth.output.hits,
    curves=rules.mrp_growth.output.curves,
    after_capture=rules.mrp_one_kernel.output.after_capture,
    residual_slopes=rules.mrp_one_kernel.output.residual_slopes,
    fixed_points=rules.mrp_one_kernel.output.fixed_points,
    apart=["drift-after-capture"],
)

# ----------------------------------------------------------------------------- keep probability
# theta: how long capture takes, and where the kernels come to rest


use rule compute as mrp_keep_probability with:
    output:
        trade_off=f"{MRP}/measurements/keep-probability/trade-off.parquet",
        fixed_points=f"{MRP}/measurements/keep-probability/fixed-points.parquet",
    log:
        f"{LOGS}/mrp/keep-probability.log",
    params:
        **by(
            "mrp.experiments.keep_probability:keep_probability",
            config["mrp"]["keep_probability"],
            **COMPILE,
        ),


experiment(
    "mrp",
    "keep-probability",
    config["mrp"]["keep_probability"],
    trade_off=rules.mrp_keep_probability.output.trade_off,
    fixed_points=rules.mrp_keep_probability.output.fixed_points,
)

# ------------------------------------------------------------------------------ teacher-student
# stopped at capture: what its kernels hold, and fine-tuning

TEACHER_STUDENT = config["mrp"]["teacher_student"]


use rule compute as mrp_teacher_student_pretrain with:
    output:
        weights=f"{MRP}/weights/teacher-student/pretrained.safetensors",
        growth=f"{MRP}/measurements/teacher-student/growth.parquet",
        purity=f"{MRP}/measurements/teacher-student/purity.parquet",
    log:
        f"{LOGS}/mrp/teacher-student-pretrain.log",
    params:
        **by(
            "mrp.experiments.teacher_student:pretrain",
            parts(TEACHER_STUDENT, "replicates", "data", "network", "pretraining"),
            **COMPILE,
        ),


use rule compute as mrp_teacher_student_evaluate with:
    input:
        pretrained=rules.mrp_teacher_student_pretrain.output.weights,
        reference=rules.mrp_clean_pretrain.output.weights,
    output:
        evaluation=f"{MRP}/measurements/teacher-student/evaluation.parquet",
        noise=f"{MRP}/measurements/teacher-student/noise.parquet",
        matrix=f"{MRP}/measurements/teacher-student/matrix.parquet",
    log:
        f"{LOGS}/mrp/teacher-student-evaluate.log",
    params:
        **by(
            "mrp.experiments.teacher_student:evaluate",
            {
                "teacher_student": parts(
                    TEACHER_STUDENT, "replicates", "data", "network", "supervised", "finetuning"
                ),
                "clean": parts(CLEAN, "replicates", "data", "network"),
            },
            **COMPILE,
        ),


experiment(
    "mrp",
    "teacher-student",
    TEACHER_STUDENT,
    evaluation=rules.mrp_teacher_student_evaluate.output.evaluation,
    noise=rules.mrp_teacher_student_evaluate.output.noise,
    matrix=rules.mrp_teacher_student_evaluate.output.matrix,
    growth=rules.mrp_teacher_student_pretrain.output.growth,
    purity=rules.mrp_teacher_student_pretrain.output.purity,
    apart=["winners-and-losers"],
)

# ---------------------------------------------------------------------------------------- noise
# whether kernels align with the noise of their samples, after both kinds of pre-training


use rule compute as mrp_noise with:
    input:
        pretrained=rules.mrp_clean_pretrain.output.weights,
    output:
        noise=f"{MRP}/measurements/clean/noise.parquet",
    log:
        f"{LOGS}/mrp/noise.log",
    params:
        **by(
            "mrp.experiments.noise:noise",
            parts(CLEAN, "replicates", "data", "network"),
            **COMPILE,
        ),


experiment(
    "mrp",
    "noise",
    {
        "teacher_student": parts(TEACHER_STUDENT, "data", "network"),
        "clean": parts(CLEAN, "data", "network"),
    },
    noise=rules.mrp_noise.output.noise,
    teacher_student=rules.mrp_teacher_student_evaluate.output.noise,
)

# -------------------------------------------------------------------------------------- runaway
# teacher-student training beyond capture: mixed kernels run away; schedules of the teacher factor

RUNAWAY = config["mrp"]["runaway"]


use rule compute as mrp_runaway with:
    output:
        history=f"{MRP}/measurements/runaway/history.parquet",
        outcome=f"{MRP}/measurements/runaway/outcome.parquet",
        pair=f"{MRP}/measurements/runaway/pair.parquet",
    log:
        f"{LOGS}/mrp/runaway.log",
    params:
        **by("mrp.experiments.runaway:runaway", RUNAWAY, **COMPILE),


experiment(
    "mrp",
    "runaway",
    RUNAWAY,
    evaluation=rules.mrp_runaway.output.outcome,
    history=rules.mrp_runaway.output.history,
    pair=rules.mrp_runaway.output.pair,
)

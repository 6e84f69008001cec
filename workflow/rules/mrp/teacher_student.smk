# Teacher-student pre-training, stopped at capture: what its kernels hold, and fine-tuning.

MRP_FILES += publish(
    "mrp",
    figures=["kernel-matrix", "winners-and-losers"],
    tables=["teacher-student"],
    ledgers=["teacher-student"],
    artefacts=[
        f"{MRP}/weights/teacher-student/pretrained.safetensors",
        f"{MRP}/measurements/teacher-student/growth.parquet",
        f"{MRP}/measurements/teacher-student/purity.parquet",
        f"{MRP}/measurements/teacher-student/evaluation.parquet",
        f"{MRP}/measurements/teacher-student/noise.parquet",
        f"{MRP}/measurements/teacher-student/matrix.parquet",
    ],
)


rule mrp_teacher_student_pretrain:
    output:
        weights=f"{MRP}/weights/teacher-student/pretrained.safetensors",
        growth=f"{MRP}/measurements/teacher-student/growth.parquet",
        purity=f"{MRP}/measurements/teacher-student/purity.parquet",
    log:
        f"{RESULTS}/logs/mrp/teacher-student-pretrain.log",
    cache: SHARED
    conda:
        "../../../environment.yml"
    threads: config["threads"]
    resources:
        **request(mem_mb=2000, runtime=30, gpu=GPU),
    params:
        code=code("mrp/teacher_student_pretrain.py"),
        config=config["mrp"]["teacher_student"],
        seed=config["seed"],
        device=config["device"],
        compile=config["compile"],
        threads=config["threads"],
    script:
        "../../../scripts/mrp/teacher_student_pretrain.py"


rule mrp_teacher_student_evaluate:
    input:
        pretrained=rules.mrp_teacher_student_pretrain.output.weights,
        reference=rules.mrp_pretrain.output.weights,
    output:
        evaluation=f"{MRP}/measurements/teacher-student/evaluation.parquet",
        noise=f"{MRP}/measurements/teacher-student/noise.parquet",
        matrix=f"{MRP}/measurements/teacher-student/matrix.parquet",
    log:
        f"{RESULTS}/logs/mrp/teacher-student-evaluate.log",
    cache: SHARED
    conda:
        "../../../environment.yml"
    threads: config["threads"]
    resources:
        **request(mem_mb=2000, runtime=30, gpu=GPU),
    params:
        code=code("mrp/teacher_student_evaluate.py"),
        config={name: config["mrp"][name] for name in ("teacher_student", "headline")},
        seed=config["seed"],
        device=config["device"],
        compile=config["compile"],
        threads=config["threads"],
    script:
        "../../../scripts/mrp/teacher_student_evaluate.py"


rule mrp_table_teacher_student:
    input:
        evaluation=rules.mrp_teacher_student_evaluate.output.evaluation,
    output:
        **table("mrp", "teacher-student"),
    log:
        f"{RESULTS}/logs/mrp/table-teacher-student.log",
    group:
        "mrp-teacher_student"
    conda:
        "../../../environment.yml"
    resources:
        **SHORT,
    params:
        code=code("mrp/table_teacher_student.py"),
    script:
        "../../../scripts/mrp/table_teacher_student.py"


rule mrp_figure_kernel_matrix:
    input:
        matrix=rules.mrp_teacher_student_evaluate.output.matrix,
    output:
        **figure("mrp", "kernel-matrix"),
    log:
        f"{RESULTS}/logs/mrp/figure-kernel-matrix.log",
    group:
        "mrp-teacher_student"
    conda:
        "../../../environment.yml"
    resources:
        **SHORT,
    params:
        code=code("mrp/figure_kernel_matrix.py"),
        varrho=config["mrp"]["teacher_student"]["network"]["varrho"],
    script:
        "../../../scripts/mrp/figure_kernel_matrix.py"


rule mrp_figure_winners_and_losers:
    input:
        growth=rules.mrp_teacher_student_pretrain.output.growth,
        purity=rules.mrp_teacher_student_pretrain.output.purity,
    output:
        **figure("mrp", "winners-and-losers"),
    log:
        f"{RESULTS}/logs/mrp/figure-winners-and-losers.log",
    group:
        "mrp-teacher_student"
    conda:
        "../../../environment.yml"
    resources:
        **SHORT,
    params:
        code=code("mrp/figure_winners_and_losers.py"),
        varrho=config["mrp"]["teacher_student"]["network"]["varrho"],
    script:
        "../../../scripts/mrp/figure_winners_and_losers.py"


rule mrp_claims_teacher_student:
    input:
        evaluation=rules.mrp_teacher_student_evaluate.output.evaluation,
        noise=rules.mrp_teacher_student_evaluate.output.noise,
    output:
        ledger("mrp", "teacher-student"),
    log:
        f"{RESULTS}/logs/mrp/claims-teacher-student.log",
    group:
        "mrp-teacher_student"
    conda:
        "../../../environment.yml"
    resources:
        **SHORT,
    params:
        code=code("mrp/claims_teacher_student.py"),
        config=config["mrp"],
    script:
        "../../../scripts/mrp/claims_teacher_student.py"

# More atoms: the probe's error against the Bayes floor, and the length of stage II.

SCALING = config["contrastive"]["scaling"]
SCALING_ATOMS = [size["atoms"] for size in SCALING["sizes"]]

CONTRASTIVE_FILES += publish(
    "contrastive",
    figures=["scaling"],
    tables=["scaling"],
    ledgers=["scaling"],
    artefacts=expand(f"{CONTRASTIVE}/measurements/scaling/{{atoms}}.parquet", atoms=SCALING_ATOMS),
)


rule contrastive_scaling:
    output:
        f"{CONTRASTIVE}/measurements/scaling/{{atoms}}.parquet",
    log:
        f"{RESULTS}/logs/contrastive/scaling-{{atoms}}.log",
    wildcard_constraints:
        atoms=r"\d+",
    cache: SHARED
    conda:
        "../../../environment.yml"
    threads: config["threads"]
    resources:
        **request(mem_mb=4000, runtime=120, gpu=GPU),
    params:
        code=code("contrastive/scaling.py"),
        config=lambda wildcards: contrastive_config.size_config(SCALING, int(wildcards.atoms)),
        seed=config["seed"],
        device=config["device"],
        threads=config["threads"],
    script:
        "../../../scripts/contrastive/scaling.py"


rule contrastive_figure_scaling:
    input:
        sizes=expand(rules.contrastive_scaling.output[0], atoms=SCALING_ATOMS),
    output:
        **figure("contrastive", "scaling"),
    log:
        f"{RESULTS}/logs/contrastive/figure-scaling.log",
    group:
        "contrastive-scaling"
    conda:
        "../../../environment.yml"
    resources:
        **SHORT,
    params:
        code=code("contrastive/figure_scaling.py"),
    script:
        "../../../scripts/contrastive/figure_scaling.py"


rule contrastive_table_scaling:
    input:
        sizes=expand(rules.contrastive_scaling.output[0], atoms=SCALING_ATOMS),
    output:
        **table("contrastive", "scaling"),
    log:
        f"{RESULTS}/logs/contrastive/table-scaling.log",
    group:
        "contrastive-scaling"
    conda:
        "../../../environment.yml"
    resources:
        **SHORT,
    params:
        code=code("contrastive/table_scaling.py"),
    script:
        "../../../scripts/contrastive/table_scaling.py"


rule contrastive_claims_scaling:
    input:
        sizes=expand(rules.contrastive_scaling.output[0], atoms=SCALING_ATOMS),
    output:
        ledger("contrastive", "scaling"),
    log:
        f"{RESULTS}/logs/contrastive/claims-scaling.log",
    group:
        "contrastive-scaling"
    conda:
        "../../../environment.yml"
    resources:
        **SHORT,
    params:
        code=code("contrastive/claims_scaling.py"),
        config=config["contrastive"],
    script:
        "../../../scripts/contrastive/claims_scaling.py"

# Algorithm 1 by SGD, with the head, without, and ablated, beside the population flow.
NONCONTRASTIVE_FILES += publish(
    "noncontrastive",
    figures=["fig-7", "sgd-and-flow", "ablations"],
    tables=["ablations"],
    ledgers=["algorithm"],
    artefacts=[
        f"{NONCONTRASTIVE}/measurements/algorithm/history.parquet",
        f"{NONCONTRASTIVE}/measurements/algorithm/flow.parquet",
    ],
)


rule noncontrastive_algorithm:
    output:
        history=f"{NONCONTRASTIVE}/measurements/algorithm/history.parquet",
        flow=f"{NONCONTRASTIVE}/measurements/algorithm/flow.parquet",
    log:
        f"{RESULTS}/logs/noncontrastive/algorithm.log",
    cache: SHARED
    conda:
        "../../../environment.yml"
    threads: config["threads"]
    resources:
        **request(mem_mb=2000, runtime=30, gpu=GPU),
    params:
        code=code("noncontrastive/algorithm.py"),
        config=config["noncontrastive"]["algorithm"],
        seed=config["seed"],
        device=config["device"],
        threads=config["threads"],
    script:
        "../../../scripts/noncontrastive/algorithm.py"


rule noncontrastive_table_algorithm:
    input:
        history=rules.noncontrastive_algorithm.output.history,
        flow=rules.noncontrastive_algorithm.output.flow,
    output:
        **table("noncontrastive", "{name}"),
    log:
        f"{RESULTS}/logs/noncontrastive/table-{{name}}.log",
    wildcard_constraints:
        name="ablations",
    group:
        "noncontrastive-algorithm"
    conda:
        "../../../environment.yml"
    resources:
        **SHORT,
    params:
        code=code("noncontrastive/table_algorithm.py"),
    script:
        "../../../scripts/noncontrastive/table_algorithm.py"


rule noncontrastive_figure_algorithm:
    input:
        history=rules.noncontrastive_algorithm.output.history,
        flow=rules.noncontrastive_algorithm.output.flow,
    output:
        **figure("noncontrastive", "{name}"),
    log:
        f"{RESULTS}/logs/noncontrastive/figure-{{name}}.log",
    wildcard_constraints:
        name="fig-7|sgd-and-flow|ablations",
    group:
        "noncontrastive-algorithm"
    conda:
        "../../../environment.yml"
    resources:
        **SHORT,
    params:
        code=code("noncontrastive/figure_algorithm.py"),
        config=config["noncontrastive"]["algorithm"],
    script:
        "../../../scripts/noncontrastive/figure_algorithm.py"


rule noncontrastive_claims_algorithm:
    input:
        history=rules.noncontrastive_algorithm.output.history,
        flow=rules.noncontrastive_algorithm.output.flow,
    output:
        ledger("noncontrastive", "algorithm"),
    log:
        f"{RESULTS}/logs/noncontrastive/claims-algorithm.log",
    group:
        "noncontrastive-algorithm"
    conda:
        "../../../environment.yml"
    resources:
        **SHORT,
    params:
        code=code("noncontrastive/claims_algorithm.py"),
        config=config["noncontrastive"],
    script:
        "../../../scripts/noncontrastive/claims_algorithm.py"

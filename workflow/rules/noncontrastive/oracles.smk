# The closed forms against brute force, as printed and corrected; the roles of section 5.3.
NONCONTRASTIVE_FILES += publish(
    "noncontrastive",
    tables=["closed-forms", "roles"],
    ledgers=["oracles"],
    artefacts=[
        f"{NONCONTRASTIVE}/measurements/oracles/instances.parquet",
        f"{NONCONTRASTIVE}/measurements/oracles/roles.parquet",
    ],
)


rule noncontrastive_oracles:
    output:
        instances=f"{NONCONTRASTIVE}/measurements/oracles/instances.parquet",
        roles=f"{NONCONTRASTIVE}/measurements/oracles/roles.parquet",
    log:
        f"{RESULTS}/logs/noncontrastive/oracles.log",
    cache: SHARED
    conda:
        "../../../environment.yml"
    threads: config["threads"]
    resources:
        **request(mem_mb=4000, runtime=30, gpu=GPU),
    params:
        code=code("noncontrastive/oracles.py"),
        config=config["noncontrastive"]["oracles"],
        seed=config["seed"],
        device=config["device"],
        threads=config["threads"],
    script:
        "../../../scripts/noncontrastive/oracles.py"


rule noncontrastive_table_oracles:
    input:
        instances=rules.noncontrastive_oracles.output.instances,
        roles=rules.noncontrastive_oracles.output.roles,
    output:
        **table("noncontrastive", "{name}"),
    log:
        f"{RESULTS}/logs/noncontrastive/table-{{name}}.log",
    wildcard_constraints:
        name="closed-forms|roles",
    group:
        "noncontrastive-oracles"
    conda:
        "../../../environment.yml"
    resources:
        **SHORT,
    params:
        code=code("noncontrastive/table_oracles.py"),
    script:
        "../../../scripts/noncontrastive/table_oracles.py"


rule noncontrastive_claims_oracles:
    input:
        instances=rules.noncontrastive_oracles.output.instances,
        roles=rules.noncontrastive_oracles.output.roles,
    output:
        ledger("noncontrastive", "oracles"),
    log:
        f"{RESULTS}/logs/noncontrastive/claims-oracles.log",
    group:
        "noncontrastive-oracles"
    conda:
        "../../../environment.yml"
    resources:
        **SHORT,
    params:
        code=code("noncontrastive/claims_oracles.py"),
        config=config["noncontrastive"],
    script:
        "../../../scripts/noncontrastive/claims_oracles.py"

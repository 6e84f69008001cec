# Closed forms against automatic differentiation, enumeration and sampling; the printed gradient.

CONTRASTIVE_FILES += publish(
    "contrastive",
    figures=["closed-forms"],
    tables=["identities", "printed-gradient"],
    ledgers=["identities"],
    artefacts=[
        f"{CONTRASTIVE}/measurements/identities/instances.parquet",
        f"{CONTRASTIVE}/measurements/identities/sampled.parquet",
    ],
)


rule contrastive_identities:
    output:
        instances=f"{CONTRASTIVE}/measurements/identities/instances.parquet",
        sampled=f"{CONTRASTIVE}/measurements/identities/sampled.parquet",
    log:
        f"{RESULTS}/logs/contrastive/identities.log",
    cache: SHARED
    conda:
        "../../../environment.yml"
    threads: config["threads"]
    resources:
        **request(mem_mb=2000, runtime=30),
    params:
        code=code("contrastive/identities.py"),
        config=config["contrastive"]["identities"],
        seed=config["seed"],
        threads=config["threads"],
    script:
        "../../../scripts/contrastive/identities.py"


rule contrastive_figure_closed_forms:
    input:
        sampled=rules.contrastive_identities.output.sampled,
    output:
        **figure("contrastive", "closed-forms"),
    log:
        f"{RESULTS}/logs/contrastive/figure-closed-forms.log",
    group:
        "contrastive-identities"
    conda:
        "../../../environment.yml"
    resources:
        **SHORT,
    params:
        code=code("contrastive/figure_closed_forms.py"),
    script:
        "../../../scripts/contrastive/figure_closed_forms.py"


rule contrastive_table_identities:
    input:
        instances=rules.contrastive_identities.output.instances,
        sampled=rules.contrastive_identities.output.sampled,
    output:
        **table("contrastive", "identities"),
    log:
        f"{RESULTS}/logs/contrastive/table-identities.log",
    group:
        "contrastive-identities"
    conda:
        "../../../environment.yml"
    resources:
        **SHORT,
    params:
        code=code("contrastive/table_identities.py"),
    script:
        "../../../scripts/contrastive/table_identities.py"


rule contrastive_table_printed_gradient:
    input:
        instances=rules.contrastive_identities.output.instances,
    output:
        **table("contrastive", "printed-gradient"),
    log:
        f"{RESULTS}/logs/contrastive/table-printed-gradient.log",
    group:
        "contrastive-identities"
    conda:
        "../../../environment.yml"
    resources:
        **SHORT,
    params:
        code=code("contrastive/table_printed_gradient.py"),
    script:
        "../../../scripts/contrastive/table_printed_gradient.py"


rule contrastive_claims_identities:
    input:
        instances=rules.contrastive_identities.output.instances,
        sampled=rules.contrastive_identities.output.sampled,
    output:
        ledger("contrastive", "identities"),
    log:
        f"{RESULTS}/logs/contrastive/claims-identities.log",
    group:
        "contrastive-identities"
    conda:
        "../../../environment.yml"
    resources:
        **SHORT,
    params:
        code=code("contrastive/claims_identities.py"),
        config=config["contrastive"],
    script:
        "../../../scripts/contrastive/claims_identities.py"

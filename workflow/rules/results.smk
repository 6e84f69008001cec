# What a run tells: the ledger of claims, the catalogue, the checksums, the report.


rule claims:
    input:
        ledgers=LEDGERS,
    output:
        f"{RESULTS}/claims.parquet",
    log:
        f"{RESULTS}/logs/claims.log",
    group:
        "results"
    conda:
        "../../environment.yml"
    resources:
        **SHORT,
    params:
        code=code("core/claims.py"),
    script:
        "../../scripts/core/claims.py"


rule catalogue:
    input:
        entries=asset("config/catalogue.yaml"),
        files=[*FIGURES, *TABLES],
    output:
        f"{RESULTS}/catalogue.parquet",
    log:
        f"{RESULTS}/logs/catalogue.log",
    group:
        "results"
    conda:
        "../../environment.yml"
    resources:
        **SHORT,
    params:
        code=code("core/catalogue.py"),
        command=COMMAND,
    script:
        "../../scripts/core/catalogue.py"


rule checksums:
    input:
        files=ARTEFACTS,
        claims=rules.claims.output[0],
        catalogue=rules.catalogue.output[0],
    output:
        f"{RESULTS}/checksums.txt",
    log:
        f"{RESULTS}/logs/checksums.log",
    group:
        "results"
    conda:
        "../../environment.yml"
    resources:
        **SHORT,
    params:
        code=code("core/checksums.py"),
    script:
        "../../scripts/core/checksums.py"


rule report:
    input:
        claims=rules.claims.output[0],
        catalogue=rules.catalogue.output[0],
        figures=FIGURES,
        tables=TABLES,
        captions=CAPTIONS,
        stories=STORIES,
        template=asset("src/featlearn/core/templates/report.html.j2"),
    output:
        f"{RESULTS}/report.html",
    log:
        f"{RESULTS}/logs/report.log",
    group:
        "results"
    conda:
        "../../environment.yml"
    resources:
        **SHORT,
    params:
        code=code("core/report.py"),
        config=config,
        run=config["run"],
        command=COMMAND,
    script:
        "../../scripts/core/report.py"

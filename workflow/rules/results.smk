# What a run tells: the ledger of claims, the catalogue, the checksums, the report.

# the report as one file, as an index and as a page a paper
REPORT = ["report.html", *(f"report/{page}.html" for page in ("index", *PUBLISHED.stories))]
RESULTS_FILES = [
    f"{RESULTS}/{name}"
    for name in ("claims.parquet", "catalogue.parquet", *REPORT, "checksums.txt")
    if config["papers"]
]
FIGURES = PUBLISHED.first_files("figure")
TABLES = PUBLISHED.first_files("table")
# a wrong entry, or a claim that nobody declares, is refused now; one that only this run does not
# have, the page names
FINDINGS = in_words(read_findings, ROOT / "config/findings.yaml")
in_words(refuse_unknown_findings, FINDINGS, config["papers"])


use rule gather as claims with:
    input:
        ledgers=PUBLISHED.ledgers,
    output:
        f"{RESULTS}/claims.parquet",
    group:
        "results"


rule catalogue:
    input:
        # the papers' first, then what a paper of one's own brings
        entries=[
            asset("config/catalogue.yaml"),
            *sorted(map(asset, (ROOT / "config/catalogue").glob("*.yaml"))),
        ],
        files=[*FIGURES, *TABLES],
    output:
        f"{RESULTS}/catalogue.parquet",
    group:
        "results"
    resources:
        **SHORT,
    params:
        code=code("core.evidence.catalogue"),
        command=COMMAND,
        papers=config["papers"],
    script:
        str(ROOT / "scripts" / "catalogue.py")


rule checksums:
    input:
        files=PUBLISHED.artefacts,
        claims=rules.claims.output[0],
        catalogue=rules.catalogue.output[0],
    output:
        f"{RESULTS}/checksums.txt",
    group:
        "results"
    resources:
        **SHORT,
    params:
        code=code("core.files"),
    script:
        str(ROOT / "scripts" / "checksums.py")


rule report:
    input:
        claims=rules.claims.output[0],
        catalogue=rules.catalogue.output[0],
        figures=FIGURES,
        tables=TABLES,
        templates=[
            asset(file)
            for file in sorted((SOURCES / "featlearn/core/publishing/templates").rglob("*.j2"))
        ],
        findings=asset("config/findings.yaml"),
        # of each claim the published verdict is shown; there are none in an installed package
        published=[
            asset(file)
            for pattern in (
                "results/published/desk*/claims.parquet",
                "results/published/desk*/provenance.json",
                "results/published/desk*/neighbours/*/*.parquet",
                "config/withdrawn.yaml",
            )
            for file in sorted(ROOT.glob(pattern))
        ],
    output:
        [f"{RESULTS}/{name}" for name in REPORT],
    group:
        "results"
    resources:
        **SHORT,
    params:
        code=code("core.publishing.report", "core.publishing.findings"),
        config=config,
        run=config["run"],
        command=COMMAND,
        pages=PUBLISHED.pages,
        stories=PUBLISHED.stories,
    script:
        str(ROOT / "scripts" / "report.py")

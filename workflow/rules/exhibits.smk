# Figures, tables and claims of every experiment: a rule each, made from what the package declares.
# In a loop Snakemake needs values where elsewhere a function may stand.


use rule gather as gathered with:
    input:
        parts=lambda wildcards: GATHERED[wildcards.frame][1],
    output:
        frame=f"{RESULTS}/{{frame}}.parquet",
    log:
        f"{LOGS}/{{frame}}.log",
    wildcard_constraints:
        frame="|".join(GATHERED) or "none",
    group:
        lambda wildcards: GATHERED[wildcards.frame][0]


for shown in PUBLISHED.experiments:
    # the modules' name: profiles/slurm finds it by their files
    label = f"{shown.paper}-{shown.name.replace('-', '_')}"

    for batch in () if POINT else shown.batches:

        rule:
            name:
                f"{shown.paper}_show_{batch.label.replace('-', '_')}"
            input:
                **batch.frames,
            output:
                [
                    file
                    for one in batch.exhibits
                    for file in PUBLISHED.files(one.paper, one.kind, one.name)
                ],
            group:
                label
            resources:
                **SHORT,
            params:
                code=fingerprint(*sorted({one.code for one in batch.exhibits})),
                exhibits=[
                    {
                        "module": one.module,
                        "function": one.function,
                        "frames": one.frames,
                        "fixed": one.fixed,
                        # stands in the file of a table, and nowhere in that of a figure
                        "title": one.title if one.kind == "table" else "",
                    }
                    for one in batch.exhibits
                ],
                contains=batch.contains,
                config=shown.section if batch.wants_config else {},
            script:
                str(ROOT / "scripts" / "show.py")

    if shown.claims:

        rule:
            name:
                shown.judging
            input:
                **shown.frames,
            output:
                PUBLISHED.ledger(shown.paper, shown.name),
            group:
                label
            resources:
                **SHORT,
            params:
                **({"point": True} if POINT else {}),
                code=fingerprint(*shown.judges, "featlearn.core.evidence.claims"),
                texts=texts_of(shown.judges),
                module=shown.claims,
                config=shown.judged,
            script:
                str(ROOT / "scripts" / "judge.py")


for target, files in () if POINT else PUBLISHED.targets.items():

    rule:
        name:
            target
        input:
            files or partial(in_words, PUBLISHED.nothing, target),

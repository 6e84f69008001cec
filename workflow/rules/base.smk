# Rules to inherit from: `use rule compute as <paper>_<what> with:` output and params; the rest stays
# as it is here. Snakemake takes params over by name, of all else what the new rule says.


# closed forms, and all that is drawn or laid out without a training: on the processor, at once
rule calculate:
    threads: config["threads"]
    resources:
        **request(mem_mb=2000, runtime=30),
    params:
        **PORTABLE,
        code="of the rule that inherits",
        seed=config["seed"],
        threads=config["threads"],
    script:
        MEASURE


# on the device of the config
use rule calculate as compute with:
    resources:
        **request(mem_mb=3000, runtime=60, gpu=GPU),
    params:
        device=config["device"],


# small networks or differential equations, step after step: a GPU would wait for each
use rule calculate as train_here with:
    resources:
        **request(mem_mb=3000, runtime=60),
    params:
        device="cpu",


# the frames of several jobs below each other: one file for a reader
rule gather:
    resources:
        **SHORT,
    params:
        code=code("core.files"),
    script:
        str(ROOT / "scripts" / "gather.py")

# Thesis, chapter 5: in-context learning and scale.

measured("calculate", "icl/regression", "curves sampled trained flips")
measured("calculate", "icl/parity", "constructions sampled noise trained norms")
measured("calculate", "icl/small", "flips attention")

for name in ("regression", "parity", "small"):
    experiment("icl", name)

# Figures 5.1 to 5.3: of the models that the config names, or else of small ones, on sentences or words.
SENTENCES = config["icl"]["sentences"]
if SENTENCES["sst2"] and not config["icl"]["language"]["models"]:
    measured("calculate", "icl/sentences", "flips attention", section=config["icl"]["small"] | SENTENCES)
    experiment("icl", "sentences", contains="stand-in")
elif not config["icl"]["language"]["models"]:
    experiment("icl", "language", rules.icl_small, contains="stand-in")

if config["icl"]["language"]["models"]:

    use rule calculate as icl_language with:
        output:
            **outputs("icl/language", "flips attention"),
        resources:
            **request(mem_mb=16000, runtime=1440),
        params:
            **by("icl.experiments.language:measure"),

    experiment("icl", "language")

# Thesis, chapter 5: in-context learning and scale.

measured("calculate", "icl/regression", "curves sampled trained flips")
measured("calculate", "icl/parity", "constructions sampled noise trained norms")
measured("calculate", "icl/small", "flips attention")

for name in ("regression", "parity", "small"):
    experiment("icl", name)

# Figures 5.1 to 5.3: of the models that the config names, or else of small ones, on words or sentences.
if config["icl"]["sentences"]["sst2"]:
    sentences = config["icl"]["small"] | config["icl"]["sentences"]
    measured("calculate", "icl/sentences", "flips attention", section=sentences)
if not config["icl"]["language"]["models"]:
    shown = rules.icl_sentences if config["icl"]["sentences"]["sst2"] else rules.icl_small
    experiment("icl", "language", shown, contains="stand-in")

if config["icl"]["language"]["models"]:

    use rule calculate as icl_language with:
        output:
            **outputs("icl/language", "flips attention"),
        resources:
            **request(mem_mb=16000, runtime=1440),
        params:
            **by("icl.experiments.language:measure"),

    experiment("icl", "language")

"""What networks, methods and tasks are called in figures and tables."""

NETWORKS = {"wired": "hand-wired", "trained": "trained"}
ARMS = {
    "full": "all keys and values", "snapkv": "SnapKV", "h2o": "H2O", "sinks": "window with sinks",
    "gemfilter": "GemFilter", "next layer": "GemFilter, next layer",
    "forced": "GemFilter, ends kept", "gemfilter one run": "GemFilter, one run",
    "gemfilter middle row": "GemFilter, middle row",
    "gemfilter largest row": "GemFilter, largest row",
    "gemfilter no pooling": "GemFilter, no pooling", "safe": "safe (ours)",
    "safe next layer": "safe, next layer", "safe one run": "safe, one run",
    "safe middle row": "safe, middle row", "safe largest row": "safe, largest row",
    "safe no pooling": "safe, no pooling",
}  # fmt: skip
MODELS = {
    "llama-3.1-8b": "LLaMA 3.1 8B",
    "mistral-nemo-12b": "Mistral Nemo 12B",
    "phi-3.5-mini": "Phi 3.5 Mini",
}
TASKS = {
    "narrativeqa": "NrtvQA", "qasper": "Qasper", "multifieldqa_en": "MF-en",
    "hotpotqa": "HotpotQA", "2wikimqa": "2WikiMQA", "musique": "Musique",
    "gov_report": "GovReport", "qmsum": "QMSum", "multi_news": "MultiNews", "trec": "TREC",
    "triviaqa": "TriviaQA", "samsum": "SAMSum", "passage_count": "PCount",
    "passage_retrieval_en": "PRe", "average": "average",
}  # fmt: skip

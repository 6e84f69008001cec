# Thesis, chapter 8: looped transformers as gradient descent in context.

measured(
    "calculate", "looped/construction", "curves prompts ablations kappas dimensions blind shortcut"
)
measured("calculate", "looped/learned", "errors weights")
experiment("looped", "construction", paper_values="looped")
experiment("looped", "learned")

# What the kernels are good for: the same start, fine-tuning, transfer, localisation; and what of the
# paper is drawn or quoted.

# ---------------------------------------------------------------------------------- paper items


experiment(
    "mrp",
    "paper_items",
    values=asset("config/paper_values/mrp.yaml"),
    contains={"fig-2": "drawn", "fig-6": "drawn", "appendix-b": "quoted"},
)

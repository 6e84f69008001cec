"""featlearn: the experiments, figures, tables and claims of a family of feature-learning papers."""

__version__ = "0.1.0"

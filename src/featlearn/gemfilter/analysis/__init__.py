"""Figures, tables and claims of this paper, a module an experiment. Imports no torch."""

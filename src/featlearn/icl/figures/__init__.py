"""What is shown and judged of this paper, a module an experiment. No torch in here."""

"""Tables of the paper, by experiment. Reads frames, imports no torch."""

"""Tables of this paper, by experiment. Reads frames, imports no torch."""

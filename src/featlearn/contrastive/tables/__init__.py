"""Tables of the paper, by experiment: means with intervals. Reads frames, imports no torch."""

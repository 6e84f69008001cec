"""Tables of chapter 2, by experiment. Reads frames, imports no torch."""

"""Tables of chapter 7, by experiment. Reads frames, imports no torch."""

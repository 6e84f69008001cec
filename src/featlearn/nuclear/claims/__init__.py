"""One file an experiment."""

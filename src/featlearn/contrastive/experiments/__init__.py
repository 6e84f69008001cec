"""What the rules of this paper compute, a module an experiment."""

"""What the rules of the paper call, a module an experiment."""

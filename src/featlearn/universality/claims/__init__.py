"""Chapter 7, a module an experiment."""

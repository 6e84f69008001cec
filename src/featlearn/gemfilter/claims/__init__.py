"""What must hold, each with a band fixed before it was measured."""

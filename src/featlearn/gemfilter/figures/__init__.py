"""How the measurements are drawn."""

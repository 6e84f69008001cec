"""How pictures and what is measured on them are drawn."""

"""How the measurements of chapter 2 are drawn, a module an experiment. No torch in here."""

"""How the measurements of chapter 7 are drawn, a module an experiment. No torch in here."""

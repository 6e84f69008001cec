"""How the measurements of this paper are drawn, a module an experiment. No torch in here."""

"""Claims, baselines, neighbours and the statistics that verdicts rest on."""

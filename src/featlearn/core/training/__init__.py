"""Training for all papers: heads, optimisers, schedules, loops that resume, devices."""

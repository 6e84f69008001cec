"""Report, pages and publication of a finished run."""

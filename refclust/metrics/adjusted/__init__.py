"""Metrics corrected for chance, by exact or estimated expectations (chapters 41 to 43)."""

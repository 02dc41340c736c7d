"""Model files: save, load, predict, describe (chapters 11 and 12)."""

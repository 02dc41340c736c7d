"""Mixtures of counts: words, and columns given by their means (chapters 31 and 35)."""

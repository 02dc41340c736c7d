"""Rungs of mixtures (chapter 81)."""

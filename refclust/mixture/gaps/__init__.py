"""Gaussian mixtures on rows with missing cells: patterns, passes, the family (chapter 36)."""

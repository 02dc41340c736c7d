"""Answers about mixtures: families, runs, choices of K, classifiers (chapters 30 to 35)."""

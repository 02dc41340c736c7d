"""Scores of one case, of several side by side, of each class, and of classifiers compared."""

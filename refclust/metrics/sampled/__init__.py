"""Metrics and tests by drawing: permuted labels, exchanged answers, places (chapters 48 and 53)."""

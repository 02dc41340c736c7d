"""Guesses at the faults behind wrong answers, for authors of backends (chapter 81)."""

"""Fits that are killed again and again, and go on to the same files: ``python -m tests.kills``."""

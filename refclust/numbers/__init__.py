"""Exact numbers: reals, combinatorics, log-space helpers, random streams (chapter 05)."""

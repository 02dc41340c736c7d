"""Choosing among models: criteria, tables, held-out rows, the gap (chapter 34)."""

"""Metrics as calls: what a user writes, one module per kind of evidence (CONV-EVIDENCE)."""

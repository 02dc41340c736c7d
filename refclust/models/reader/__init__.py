"""Models from JSON text: every key, type, size and reference is checked (MODEL-LOAD)."""

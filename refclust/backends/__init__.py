"""Backends: who may replace a kernel, how they are found and bound (chapter 80)."""

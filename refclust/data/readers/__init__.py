"""Readers: one module per format, from a file to a data set (chapter 09)."""

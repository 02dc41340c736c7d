"""The reference kernels and their registry (chapter 80)."""

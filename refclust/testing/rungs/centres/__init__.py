"""Rungs of k-means and of all that measures rows against centres (chapter 81)."""

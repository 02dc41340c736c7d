"""Passes over rows and pairs of rows: sums of distances, nearest and farthest pairs."""

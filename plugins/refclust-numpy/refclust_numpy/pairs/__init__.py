"""Passes over pairs of rows: distances, their extremes and sums, and the merges of a tree."""

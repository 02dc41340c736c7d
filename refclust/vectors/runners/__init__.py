"""Refclust's own answers to the golden vectors: one module for each subject."""

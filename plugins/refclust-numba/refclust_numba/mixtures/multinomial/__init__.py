"""Passes over rows of counts."""

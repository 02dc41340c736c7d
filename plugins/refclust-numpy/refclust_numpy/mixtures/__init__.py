"""Passes over rows and over components of mixtures."""

"""Mixtures by EM, and choosing among them."""

"""Passes over rows under normal densities."""

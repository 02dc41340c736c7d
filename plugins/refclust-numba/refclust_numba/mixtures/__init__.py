"""Passes of EM, whatever the family."""

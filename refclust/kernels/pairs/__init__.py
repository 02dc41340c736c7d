"""Passes over rows and pairs of rows that metrics of one clustering need (chapter 80)."""

"""Delimited tables: CSV and TSV files, their delimiter, and what their columns are."""

"""Hypothesis profiles as in the core, where this folder is tested by itself."""

from __future__ import annotations

from hypothesis import settings

settings.register_profile(
    "arrow", derandomize=True, deadline=None, database=None, max_examples=60, print_blob=False
)
settings.load_profile("arrow")

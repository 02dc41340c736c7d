"""Hypothesis profiles: ``default`` always tries the same examples, ``deep`` new and many ones."""

from __future__ import annotations

import os

from hypothesis import settings

settings.register_profile(
    "default", derandomize=True, deadline=None, database=None, max_examples=100, print_blob=False
)
settings.register_profile("deep", deadline=None, max_examples=2000, print_blob=True)
_default = os.environ.get("HYPOTHESIS_PROFILE", "default")
settings.load_profile(os.environ.get("REFCLUST_TEST_PROFILE", _default))

"""Hypothesis profiles, and a cache folder of our own.

``default`` always tries the same examples, ``deep`` new and many ones; ``evidence``, by which each
definition is held to its clause, twice as many as ``default``, with no search for a smaller example
once one fails.
"""

from __future__ import annotations

import atexit
import os
import shutil
import tempfile

from hypothesis import Phase, settings

# What backends have shown on this machine before is no matter of the tests.
# Workers inherit the folder of the process that started them, so that all of them check once.
if "PYTEST_XDIST_WORKER" not in os.environ:
    _cache = tempfile.mkdtemp(prefix="refclust-tests-")
    os.environ["REFCLUST_CACHE_DIR"] = _cache
    atexit.register(shutil.rmtree, _cache, ignore_errors=True)

settings.register_profile(
    "default", derandomize=True, deadline=None, database=None, max_examples=50, print_blob=False
)
settings.register_profile(
    "evidence",
    settings.get_profile("default"),
    max_examples=100,
    phases=(Phase.explicit, Phase.generate),
)
settings.register_profile("deep", deadline=None, max_examples=2000, print_blob=True)
_default = os.environ.get("HYPOTHESIS_PROFILE", "default")
settings.load_profile(os.environ.get("REFCLUST_TEST_PROFILE", _default))

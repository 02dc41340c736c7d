"""What pytest must know before it runs ``refclust.testing.suite``: two options.

pytest finds this module through its entry-point group ``pytest11``. It is loaded at every start of
pytest, so it imports nothing.
"""

from __future__ import annotations

from typing import Any


def pytest_addoption(parser: Any) -> None:
    """Add the options that name the backend and shorten the ladder."""
    group = parser.getgroup("refclust", "conformance of refclust backends")
    group.addoption(
        "--refclust-backend",
        metavar="NAME",
        default=None,
        help="the backend that refclust.testing.suite tries; else $REFCLUST_BACKEND",
    )
    group.addoption(
        "--refclust-quick",
        action="store_true",
        default=False,
        help="only the checks that find most faults",
    )

"""Builds of other widths come first: each takes minutes, and all others fill the time beside."""

from __future__ import annotations

import pytest


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    items.sort(key=lambda item: "test_numba_builds.py" not in item.nodeid)

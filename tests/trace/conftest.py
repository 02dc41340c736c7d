"""The clean tree as a fixture."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.trace.trees import Tree


@pytest.fixture
def tree(tmp_path: Path) -> Tree:
    """A project without problems."""
    return Tree(tmp_path)

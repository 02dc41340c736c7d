"""The changes are part of the package, where ``refclust trace --evidence`` needs them, too."""

from __future__ import annotations

from refclust.testing.evidence.changes import Mutant, computing, mutants

__all__ = ["Mutant", "computing", "mutants"]

"""The tracing of this very repository is clean."""

from __future__ import annotations

from refclust.trace import check


def test_every_clause_has_its_evidence_and_no_lock_has_drifted() -> None:
    assert check.problems() == []

"""The tracing of this very repository is clean."""

from __future__ import annotations

from refclust.trace import check
from refclust.trace.clauses import spec_root
from refclust.trace.locks import inventory
from refclust.trace.locks.table import short_hash


def test_every_clause_has_its_evidence_and_no_lock_has_drifted() -> None:
    assert check.problems() == []


def test_the_inventory_holds_every_id_of_the_sources() -> None:
    ids = sorted(one.id for one in inventory.read(spec_root()).values() if one.sources)
    assert len(ids) == 235
    assert short_hash("\n".join(ids)) == "2d5bc3e4b39b0a3a"

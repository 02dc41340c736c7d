"""Exact sums of clusters of sparse rows, brought up to date with the rows that moved.

Keeps the contracts of ``kmeans.accumulate`` and ``kmeans.lloyd_step``.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from refclust_numba.exact.limbs import deposit
from refclust_numba.exact.totals import LimbSums, present
from refclust_numba.lowlevel.compiling import compiled
from refclust_numba.lowlevel.scalars import bits, two_product
from refclust_numba.lowlevel.threads import shared
from refclust_numba.prepared import Rows
from refclust_numba.sparse.versions import Versions


def moved(rows: Rows, old: Any, new: Any, k: int, before: LimbSums | None) -> tuple[LimbSums, int]:
    """The sums after rows went from old to new labels, and how many did.

    They are large: later sums take over the limbs of those before.
    """
    cut, weight_cut = present(rows.scale), present(rows.weight_scale)
    if before is None:
        into = np.zeros((k, cut.count, rows.d), np.int64)
        counts = np.zeros((k, weight_cut.count if rows.weighted else 1), np.int64)
    else:
        into, counts = before.limbs, before.counts.copy()
    changed = _add(rows, old, new, into, counts)
    made = LimbSums(rows, into, counts)
    if before is not None:

        def again() -> Any:
            own, numbers = made.limbs.copy(), made.counts.copy()
            _add(rows, new, old, own, numbers)
            return own

        before.own, before.handed = None, again
    Versions.of(rows).note(made, before, old, new)
    return made, changed


def _add(rows: Rows, old: Any, new: Any, into: Any, counts: Any) -> int:
    """Move rows between clusters, one cluster after another: its sums stay in the cache."""
    magic = np.ascontiguousarray(present(rows.scale).magic[:, 0])
    weight_magic = np.ascontiguousarray(present(rows.weight_scale).magic[:, 0])
    moved = np.nonzero(old != new)[0]
    left = moved[old[moved] >= 0]
    which = np.concatenate((new[moved], old[left]))
    order = np.argsort(which, kind="stable")
    asked = np.concatenate((moved, ~left))[order]  # ~i says that row i leaves
    ends = np.searchsorted(which[order], np.arange(len(into) + 1))
    touched = np.nonzero(np.diff(ends))[0]

    def work(task: int, _worker: int) -> None:
        c = touched[task]
        add_sparse(
            rows.starts, rows.columns, rows.values, rows.weights, asked[ends[c] : ends[c + 1]],
            into[c], counts[c], magic, weight_magic,
        )  # fmt: skip

    shared(work, len(touched))
    return len(moved)


@compiled
def add_sparse(  # type: ignore[no-untyped-def]
    starts, columns, values, weights, asked, into, counts, magic, weight_magic
):
    """Add some rows to the sums of one cluster, or take them away."""
    count, d = np.uint64(magic.shape[0]), np.uint64(into.shape[1])
    flat = into.reshape(-1)
    weighted = weights.shape[0] > 0
    upper, lower = magic[0], magic[-1]
    upper_bits, lower_bits = bits(upper), bits(lower)
    for entry in asked:
        i, sign = (entry, np.int64(1)) if entry >= 0 else (~entry, np.int64(-1))
        weight = weights[i] if weighted else 1.0
        if weighted:
            deposit(counts, weight, weight_magic, sign)
        else:
            counts[0] += sign
        if count == 2 and not weighted:
            for place in range(np.uint64(starts[i]), np.uint64(starts[i + 1])):
                at = np.uint64(columns[place])
                x = np.float64(values[place])
                t = x + upper
                v = (x - (t - upper)) + lower
                flat[at] += sign * (bits(t) - upper_bits)
                flat[at + d] += sign * (bits(v) - lower_bits)
            continue
        for place in range(np.uint64(starts[i]), np.uint64(starts[i + 1])):
            at = np.uint64(columns[place])
            p, e = np.float64(values[place]), 0.0
            if weighted:
                p, e = two_product(p, weight)
            for limb in range(count):
                t = p + magic[limb]
                flat[at + limb * d] += sign * (bits(t) - bits(magic[limb]))
                p -= t - magic[limb]
            if e != 0.0:
                for limb in range(count):
                    t = e + magic[limb]
                    flat[at + limb * d] += sign * (bits(t) - bits(magic[limb]))
                    e -= t - magic[limb]

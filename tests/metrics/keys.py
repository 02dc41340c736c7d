"""Every metric with every choice of its options, as keys."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator

from refclust.formulas.undefined import Undefined
from refclust.metrics import Contingency
from refclust.metrics.catalogue import Entry, entries_for, format_key, parse_key
from refclust.metrics.score import Score, evaluate
from refclust.numbers.real import Real

ENUMERATED = ("adjusted_purity", "adjusted_bcubed_f", "adjusted_jaccard")


def choices(entry: Entry) -> Iterator[str]:
    """The keys of one metric: all its choices, with numbers left at their defaults."""
    named = {name: allowed for name, allowed in entry.options.items() if allowed}
    for values in itertools.product(*named.values()):
        yield format_key(entry, dict(zip(named, values, strict=True)))


EXTERNAL = {entry.name: entry for entry in entries_for("labelings")}
KEYS = tuple(key for entry in EXTERNAL.values() for key in choices(entry))
SYMMETRIC = tuple(key for key in KEYS if parse_key(key)[0].symmetric)
HOMOGENEOUS = tuple(
    key for key in KEYS if not (e := parse_key(key))[0].needs_integers(e[0].checked(e[1]))
)


def value(key: str, table: Contingency) -> Score:
    """The score of a table."""
    entry, options = parse_key(key)
    return evaluate(entry, table, dict(options))


def bits(score: float) -> str:
    """A double by its bits; all NaN are one."""
    return "nan" if math.isnan(score) else score.hex()


def or_none(formula: Callable[..., object], table: Contingency, **options: object) -> Real | None:
    """The exact value, or None where it is 0/0."""
    try:
        found = formula(table, **options)
    except Undefined as missing:
        reason = missing.reason
    else:
        assert isinstance(found, Real)
        return found
    assert reason.startswith("0/0")
    return None

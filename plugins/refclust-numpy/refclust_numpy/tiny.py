"""Blocks of a few rows: for tests, so that small data need several of them."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final

# Module, name of the size, and how small it gets. Some sizes are part of error bounds; a bound is
# worked out from the size whenever it is needed, so it stays true. Where a size is imported by
# another module, both are changed.
_SIZES: Final = (
    ("exact.directions", "_BLOCK", 8),
    ("pairs.distances", "_TILE", 7),
    ("drawing", "BLOCK", 4),
    ("seeding", "BLOCK", 4),
    ("exact.moments", "_ROWS", 3),
    ("exact.moments", "_NUMBERS", 8),
    ("exact.floats", "_BLOCK", 4),
    ("mixtures.gaussian", "_MOST", 3),
    ("mixtures.gaussian", "ALONE", 16),
    ("mixtures.passes", "ALONE", 16),
    ("mixtures.passes", "_SIDE", 2),
    ("mixtures.multinomial", "_GATHERED", 6),
    ("mixtures.multinomial", "_NUMBERS", 8),
    ("nearest.singles", "_NUMBERS", 8),
    ("nearest.ladder", "_BLOCK", 16),
    ("exact.limbs", "_NUMBERS", 8),
    ("packing", "_BLOCK", 8),
    ("pairs.passes", "_TILE", 16),
    ("pairs.passes", "_WIDTH", 3),
    ("pairs.fine", "_TILE", 16),
    ("pairs.fine", "_WIDTH", 3),
    ("pairs.fine", "_NUMBERS", 8),
    ("pairs.passes", "_CHAIN", 4),
    ("rows", "_BLOCK", 8),
    ("nearest.screening", "_SCORES", 16),
    ("nearest.screening", "_NUMBERS", 8),
    ("nearest.screening", "_WORTH", 1 << 9),
    ("seeding", "_NUMBERS", 8),
    ("exact.sums", "_BLOCK", 8),
    ("exact.sums", "_MANY", 32),
    ("exact.sums", "_ROWS", 3),
)


def modules() -> dict[tuple[str, str], Any]:
    """The modules that hold sizes, by name of module and size."""
    return {
        (module, name): importlib.import_module(f"refclust_numpy.{module}")
        for module, name, _ in _SIZES
    }


@contextmanager
def tiny() -> Iterator[None]:
    """Work in blocks of a few rows for a while."""
    held = modules()
    before = {key: getattr(module, key[1]) for key, module in held.items()}
    try:
        for module, name, size in _SIZES:
            setattr(held[module, name], name, size)
        yield
    finally:
        for key, size in before.items():
            setattr(held[key], key[1], size)


def sizes() -> tuple[int, ...]:
    """The sizes of all blocks, in rows or numbers."""
    return tuple(sorted({getattr(module, name) for (_, name), module in modules().items()}))

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
    ("directions", "_BLOCK", 8),
    ("distances", "_TILE", 7),
    ("drawing", "BLOCK", 4),
    ("seeding", "BLOCK", 4),
    ("exact", "_ROWS", 3),
    ("exact", "_NUMBERS", 8),
    ("floats", "_BLOCK", 4),
    ("gaussian", "_MOST", 3),
    ("gaussian", "ALONE", 16),
    ("mixtures", "ALONE", 16),
    ("mixtures", "_SIDE", 2),
    ("multinomial", "_GATHERED", 6),
    ("multinomial", "_NUMBERS", 8),
    ("nearness", "_NUMBERS", 8),
    ("ladder", "_BLOCK", 16),
    ("limbs", "_NUMBERS", 8),
    ("packing", "_BLOCK", 8),
    ("pairs", "_TILE", 16),
    ("pairs", "_WIDTH", 3),
    ("fine", "_TILE", 16),
    ("fine", "_WIDTH", 3),
    ("fine", "_NUMBERS", 8),
    ("pairs", "_CHAIN", 4),
    ("rows", "_BLOCK", 8),
    ("screening", "_SCORES", 16),
    ("screening", "_NUMBERS", 8),
    ("screening", "_WORTH", 1 << 9),
    ("seeding", "_NUMBERS", 8),
    ("sums", "_BLOCK", 8),
    ("sums", "_MANY", 32),
    ("sums", "_ROWS", 3),
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

"""The memory that a fit takes, told and refused before any of it is asked for (DATA-LIMIT).

Counted are the numbers that every backend must hold at once, eight bytes each; the reference keeps
them as objects of Python and takes more. What a caller gives (rows) is not counted, unless it is
filled up.
"""

from __future__ import annotations

from typing import Final

from refclust.limits import within

_DOUBLE: Final = 8


def for_centres(k: int, d: int) -> None:
    """Refuse centres that do not fit: the old ones, the new ones and their sums."""
    within("memory", 3 * k * d * _DOUBLE, f"k-means with {k:,} centres of {d:,} columns")


def for_words(k: int, d: int) -> None:
    """Refuse tables of components and words: probabilities, their logarithms, and the sums."""
    within("memory", 3 * k * d * _DOUBLE, f"fitting {k:,} distributions of {d:,} columns")


def for_covariances(k: int, d: int, form: str, *, common: bool) -> None:
    """Refuse covariances that do not fit.

    Each component has its scatter; the covariances, their factors and a copy to work on are one or
    as many as there are components. ``form`` says what a covariance is: a square of numbers, a
    diagonal, or one number.
    """
    numbers = {"full": d * d, "diagonal": d}.get(form, 1)
    blocks = k + 3 * (1 if common else k)
    kind = f"{'one' if common else f'{k:,}'} {form} covariance{'' if common or k == 1 else 's'}"
    within(
        "memory",
        (blocks * numbers + 3 * k * d) * _DOUBLE,
        f"fitting {k:,} normal densities with {kind} of {d:,} columns",
    )


def for_filled(n: int, d: int) -> None:
    """Refuse sparse rows that would be filled up with zeros."""
    within("memory", n * d * _DOUBLE, f"filling up {n:,} sparse rows of {d:,} columns")


def for_distances(n: int) -> None:
    """Refuse the distances of all pairs of rows, and the copy that merging works on."""
    within("memory", n * (n - 1) * _DOUBLE, f"holding the distances of all pairs of {n:,} rows")


def for_shares(n: int, k: int) -> None:
    """Refuse a table of rows and components."""
    within("memory", 2 * n * k * _DOUBLE, f"holding the shares of {n:,} rows in {k:,} components")


def for_drawn(n: int, d: int) -> None:
    """Refuse rows to be drawn: numbers of Python in tuples, and their doubles in a data set."""
    within("memory", n * (5 * d + 10) * _DOUBLE, f"drawing {n:,} rows of {d:,} columns")

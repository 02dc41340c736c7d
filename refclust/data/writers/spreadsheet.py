"""Texts that a spreadsheet would run as formulas: found, and made harmless on request.

Realises DATA-FORMULA of chapter 09. A file keeps its texts to the letter unless the caller asks
otherwise: what is read back must be what was written.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import replace
from typing import Any

from refclust.data.dataset import Dataset
from refclust.escape import for_csv, is_formula


def formulas(*columns: Iterable[Hashable] | None) -> int:
    """How many texts look like formulas.

    Spec: DATA-FORMULA

    >>> formulas(["=1+1", "-2"], None, ["@x", -1])
    2
    """
    texts = (value for column in columns for value in column or () if isinstance(value, str))
    return sum(map(is_formula, texts))


def harmless(values: Iterable[Hashable]) -> list[Any]:
    """Values with an apostrophe before every text that looks like a formula.

    Spec: DATA-FORMULA

    >>> harmless(["=x", -1, "-1"])
    ["'=x", -1, '-1']
    """
    return [for_csv(value) if isinstance(value, str) else value for value in values]


def without_formulas(data: Dataset) -> Dataset:
    """The data set with an apostrophe before every text that looks like a formula.

    Spec: DATA-FORMULA

    >>> from refclust.data.accepting.door import dataset
    >>> without_formulas(dataset([[-1.5], [2]], ids=["=1+1", "-2"])).ids
    ("'=1+1", '-2')
    """
    return replace(
        data,
        ids=None if data.ids is None else tuple(harmless(data.ids)),
        features=None if data.features is None else tuple(harmless(data.features)),
        labels=None if data.labels is None else tuple(harmless(data.labels)),
    )

"""Pieces of the text of models that all algorithms share (chapter 11, MODEL-DOC)."""

from __future__ import annotations

import math
from dataclasses import fields
from typing import Any

from refclust.cluster.results import Centre
from refclust.data.files.document import Line
from refclust.models.records.common import Kind


def plain(record: Any) -> dict[str, Any]:
    """The fields of a record of plain values, in their order."""
    return {field.name: getattr(record, field.name) for field in fields(record)}


def sparse_pairs(centre: Centre) -> list[tuple[int, float]]:
    """The columns and numbers of a centre; all is kept but the zero without a sign.

    Spec: MODEL-DOC

    >>> sparse_pairs((0.0, 2.5, 0.0, -0.0))
    [(1, 2.5), (3, -0.0)]
    """
    return [(j, x) for j, x in enumerate(centre) if x or math.copysign(1, x) < 0]


def centre_line(centre: Centre, kind: Kind) -> Line:
    """A centre on one line: all its numbers, or for sparse data its columns and numbers."""
    return Line(centre if kind == "dense" else sparse_pairs(centre))

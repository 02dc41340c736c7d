"""Answers about vectors: products, distances, similarities (chapter 09)."""

from __future__ import annotations

from typing import Any

from refclust.backends.session import Session
from refclust.data import vectors
from refclust.errors import BadVectorFile
from refclust.vectors.answers import Answer, Input
from refclust.vectors.runners.numbers import number


def products(inputs: Input, key: str, session: Session) -> Answer:  # noqa: ARG001
    """Answer one key of a case about vectors."""
    if key in ("distance_matrix", "similarity_matrix"):
        rows = [vector(row) for row in inputs["rows"]]
        return getattr(vectors, key)(rows)  # type: ignore[no-any-return]
    if key == "norm":
        return vectors.norm(vector(inputs["x"]))
    if key not in ("dot", "squared_distance", "distance", "cosine"):
        raise BadVectorFile(f"no operation on vectors is called {key!r}")
    return getattr(vectors, key)(vector(inputs["x"]), vector(inputs["y"]))  # type: ignore[no-any-return]


def vector(content: Any) -> Any:
    """Read a vector of a case: its components, or those that are not zero by their keys."""
    if isinstance(content, dict):
        return {key: number(value) for key, value in content["sparse"]}
    return [number(value) for value in content]

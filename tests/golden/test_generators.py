"""The vector files on disk are what the generators make; ``python -m spec.generators --check``
compares all of them, here are those that take a moment only."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any

import pytest

VECTORS = Path(__file__).parents[2] / "spec" / "vectors"


def module(name: str) -> Any:
    # By name: the generators belong to no installed package.
    return importlib.import_module(f"spec.generators.{name}")


@pytest.mark.parametrize(
    "name",
    [
        "make_sampling",
        "make_distributions",
        "make_real",
        "make_degenerate",
        "make_errata",
        "make_hierarchical",
    ],
)
def test_the_generator_makes_its_files(name: str) -> None:
    for file in module(name).files():
        assert (VECTORS / file.path).read_text(encoding="utf-8") == file.text()


def test_the_generator_of_plain_vectors_makes_its_files() -> None:
    for name, text in module("vectors_linear").texts().items():
        assert (VECTORS / name).read_text(encoding="utf-8") == text


def test_the_generator_makes_the_schema() -> None:
    schema = VECTORS.parent / "schema" / "vectors.schema.json"
    assert schema.read_text(encoding="utf-8") == module("make_schema").text()

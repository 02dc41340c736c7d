"""Parquet, Feather, Arrow and Excel files for refclust, and large CSV files sooner."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Any

from refclust.backends.plugins.hookspecs import hookimpl
from refclust.data.readers.formats import Options, QuickReader, Reader

__all__ = ["refclust_register_quick_readers", "refclust_register_readers"]


def _later(place: str, *known: Any) -> Callable[..., Any]:
    """A function that is imported when it is called: Arrow takes its time."""
    module, _, name = place.partition(":")

    def call(path: str, options: Options | None = None, *more: Any) -> Any:
        function = getattr(import_module(f"refclust_arrow.{module}"), name)
        given = () if options is None else (options,)
        return function(*known, path, *given, *more)

    return call


def _columnar(name: str, suffixes: tuple[str, ...], summary: str) -> Reader:
    read, sniff, plan, frame = (
        _later(f"columnar:{what}", name) for what in ("read", "sniff", "plan", "frame")
    )
    return Reader(name, suffixes, summary, read, sniff, plan, frame)


@hookimpl
def refclust_register_readers() -> Sequence[Reader]:
    """Offer the readers; nothing heavy is imported yet."""
    read, sniff, plan, frame = (
        _later(f"workbook:{what}") for what in ("read", "sniff", "plan", "frame")
    )
    return [
        _columnar("parquet", (".parquet", ".pq"), "a table of Apache Parquet"),
        _columnar("feather", (".feather", ".ftr"), "a table of Feather"),
        _columnar("arrow", (".arrow", ".ipc", ".arrows"), "a table of Arrow, file or stream"),
        Reader(
            "excel",
            (".xlsx", ".xlsm", ".xlsb", ".xls", ".ods"),
            "a sheet of a workbook of Excel, or of LibreOffice",
            read,
            sniff,
            plan,
            frame,
        ),
    ]


@hookimpl
def refclust_register_quick_readers() -> Sequence[QuickReader]:
    """Offer to read large CSV and TSV files."""
    return [
        QuickReader("csv", _later("quick:read_csv", "csv")),
        QuickReader("tsv", _later("quick:read_csv", "tsv")),
    ]

"""``refclust backends``: which backends are installed and what each of them can run."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Annotated, Any

import typer

from refclust.cli.inputs import Json
from refclust.cli.output import columns, say, say_json

if TYPE_CHECKING:
    from refclust.backends.discovery import Record


Measure = Annotated[
    bool, typer.Option("--measure/--no-measure", help="Measure the first call of each plugin.")
]


def backends(measure: Measure = True, as_json: Json = False) -> None:
    """List the backends that were found: ready, failed or refused, and their kernels.

    The first call of each plugin is measured in a process of its own: what it takes to import
    and to load compiled code, and the second call for comparison.

    \b
    refclust backends
    refclust backends --no-measure --json
    """
    from refclust.backends.discovery import discover
    from refclust.backends.session import BACKEND_VARIABLE
    from refclust.kernels.registry import KERNELS

    rows = [_plain(record, measure) for record in discover()]
    wanted = os.environ.get(BACKEND_VARIABLE) or "auto"
    if as_json:
        say_json({"schema": "refclust-backends/1", "default": wanted, "backends": rows})
        return
    shown = any(row["first_call"] for row in rows)
    cells = [["backend", "state", "from", "accuracy", *["first call"] * shown, "kernels"]]
    for row in rows:
        source = f"{row['distribution']} {row['version']}"
        first = row["first_call"]["text"] if row["first_call"] else "-"
        facts = [row["name"], row["state"], source, row["accuracy"] or "-", *[first] * shown]
        cells.append([*facts, _kernels(row)])
    say("\n".join(columns(cells)))
    source = f"${BACKEND_VARIABLE}" if os.environ.get(BACKEND_VARIABLE) else "the default"
    say(f"\nused unless --backend says otherwise: {wanted} ({source})")
    if wanted == "auto":
        say("auto takes, for each kernel, the fastest exact backend that supports the problem")
    say(f"kernels: {', '.join(sorted(KERNELS))}")


def _plain(record: Record, measure: bool) -> dict[str, Any]:
    """Return a record as JSON can hold it; a backend that cannot list its kernels has failed."""
    from dataclasses import asdict

    from refclust.backends.firstcall import first_call

    state, reason = str(record.state), record.reason
    accuracy: str | None = None
    kernels: list[str] = []
    first = None
    if record.backend is not None:
        try:
            accuracy, kernels = record.backend.accuracy, sorted(record.backend.kernels())
            if measure and record.distribution != "refclust":
                first = first_call(record.backend)
        except Exception as error:  # a plugin may fail in any way, and this command tells how
            state, reason = "failed", f"{type(error).__name__}: {error}"
    return {
        "name": record.name,
        "distribution": record.distribution,
        "version": record.version,
        "state": state,
        "reason": reason,
        "accuracy": accuracy,
        "kernels": kernels,
        "first_call": None if first is None else {"text": str(first), **asdict(first)},
    }


def _kernels(row: dict[str, Any]) -> str:
    from refclust.kernels.registry import KERNELS

    known = [name for name in row["kernels"] if name in KERNELS]
    if len(known) == len(KERNELS):
        return f"all {len(KERNELS)}"
    return row["reason"] or ", ".join(known) or "none"

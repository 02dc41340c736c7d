"""``refclust backends``: which backends are installed and what each of them can run."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from refclust.cli.inputs import Json
from refclust.cli.output import columns, say, say_json

if TYPE_CHECKING:
    from refclust.backends.discovery import Record


def backends(as_json: Json = False) -> None:
    """List the backends that were found: ready, failed or refused, and their kernels.

    \b
    refclust backends
    refclust backends --json
    """
    from refclust.backends.discovery import discover
    from refclust.backends.session import BACKEND_VARIABLE
    from refclust.kernels.registry import KERNELS

    rows = [_plain(record) for record in discover()]
    wanted = os.environ.get(BACKEND_VARIABLE) or "auto"
    if as_json:
        say_json({"schema": "refclust-backends/1", "default": wanted, "backends": rows})
        return
    cells = [["backend", "state", "from", "accuracy", "kernels"]]
    for row in rows:
        source = f"{row['distribution']} {row['version']}"
        cells.append([row["name"], row["state"], source, row["accuracy"] or "-", _kernels(row)])
    say("\n".join(columns(cells)))
    source = f"${BACKEND_VARIABLE}" if os.environ.get(BACKEND_VARIABLE) else "the default"
    say(f"\nused unless --backend says otherwise: {wanted} ({source})")
    if wanted == "auto":
        say("auto takes, for each kernel, the fastest exact backend that supports the problem")
    say(f"kernels: {', '.join(sorted(KERNELS))}")


def _plain(record: Record) -> dict[str, Any]:
    """Return a record as JSON can hold it; a backend that cannot list its kernels has failed."""
    state, reason = str(record.state), record.reason
    accuracy: str | None = None
    kernels: list[str] = []
    if record.backend is not None:
        try:
            accuracy, kernels = record.backend.accuracy, sorted(record.backend.kernels())
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
    }


def _kernels(row: dict[str, Any]) -> str:
    from refclust.kernels.registry import KERNELS

    known = [name for name in row["kernels"] if name in KERNELS]
    if len(known) == len(KERNELS):
        return f"all {len(KERNELS)}"
    return row["reason"] or ", ".join(known) or "none"

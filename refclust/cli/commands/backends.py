"""``refclust backends``: which backends are installed, what each can run, and what it has shown."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Annotated, Any

import typer

from refclust.cli.options.evidence.labelings import Json
from refclust.cli.output import columns, counted, say, say_json

if TYPE_CHECKING:
    from refclust.backends.plugins.discovery import Record


Measure = Annotated[
    bool, typer.Option("--measure/--no-measure", help="Measure the first call of each plugin.")
]


def backends(measure: Measure = True, as_json: Json = False) -> None:
    """List the backends that were found: ready, failed or refused, and their kernels.

    The first call of each plugin is measured in a process of its own: what it takes to import
    and to load compiled code, and the second call for comparison. "checked" tells how many kernels
    have passed the kit on this machine in this version; "refclust conform NAME" tries them all.

    \b
    refclust backends
    refclust backends --no-measure --json
    """
    from refclust.backends.plugins.discovery import discover
    from refclust.backends.session import BACKEND_VARIABLE
    from refclust.escape import for_terminal
    from refclust.kernels.registry import KERNELS

    rows = [_plain(record, measure) for record in discover()]
    wanted = os.environ.get(BACKEND_VARIABLE) or "auto"
    if as_json:
        say_json({"schema": "refclust-backends/1", "default": wanted, "backends": rows})
        return
    say("\n".join(_table(rows)))
    source = f"${BACKEND_VARIABLE}" if os.environ.get(BACKEND_VARIABLE) else "the default"
    say(f"\nused unless --backend says otherwise: {for_terminal(wanted)} ({source})")
    if wanted == "auto":
        say("auto takes, for each kernel, the fastest exact backend that supports the problem")
        if any(row["checked"] for row in rows):
            say("and that has passed the kit here; one that was not checked yet is checked first")
    say(f"kernels: {', '.join(sorted(KERNELS))}")


def _table(rows: list[dict[str, Any]]) -> list[str]:
    checked = any(row["checked"] for row in rows)
    called = any(row["first_call"] for row in rows)
    title = ["backend", "state", "from", "accuracy", *["checked"] * checked]
    cells = [[*title, *["first call"] * called, "kernels"]]
    for row in rows:
        source = f"{row['distribution']} {row['version']}"
        first = row["first_call"]["text"] if row["first_call"] else "-"
        facts = [row["name"], row["state"], source, row["accuracy"] or "-"]
        cells.append([*facts, *[_checked(row)] * checked, *[first] * called, _kernels(row)])
    return columns(cells)


def _plain(record: Record, measure: bool) -> dict[str, Any]:
    """Return a record as JSON can hold it; a backend that cannot say what it offers has failed."""
    from dataclasses import asdict

    from refclust.backends.choosing import offer
    from refclust.backends.choosing.firstcall import first_call
    from refclust.backends.plugins.guard import attempt, limit
    from refclust.errors import RefclustError

    state, reason = str(record.state), record.reason
    kernels: list[str] = []
    first = checked = None
    if record.backend is not None:
        backend = record.backend
        try:
            kernels = sorted(offer.kernels(record))
            _ask_all(record)
            if not record.own:
                checked = _memory(record)
                if checked["state"] == "failed":
                    state, reason = "failed", f"it did not pass the kit: {checked['fault']}"
        except RefclustError as error:
            state, reason = "failed", str(error).partition(" cannot be used: ")[2] or str(error)
        if measure and not record.own and state == "ready":
            first = attempt(lambda: first_call(backend), seconds=limit(heavy=True) + 60).value
    return {
        "name": record.name,
        "distribution": record.distribution,
        "version": record.version,
        "state": state,
        "reason": reason,
        "accuracy": record.accuracy or None,
        "kernels": kernels,
        "checked": checked,
        "first_call": None if first is None else {"text": str(first), **asdict(first)},
    }


def _ask_all(record: Record) -> None:
    """See that the backend can say how long each of its kernels would take."""
    from refclust.backends.choosing import offer
    from refclust.backends.protocol import Problem
    from refclust.kernels.registry import KERNELS

    for kernel in sorted(set(offer.kernels(record)) & set(KERNELS)):
        kind = {"contingency": "labels", "information": "margins", "linkage": "distances"}
        offer.support(
            record, kernel, Problem(kind.get(kernel.partition(".")[0], "dense"), 32, 64, 2)
        )


def _memory(record: Record) -> dict[str, Any]:
    """What is remembered of the kit: how many kernels passed, when, and the first fault."""
    from refclust.backends.choosing import memory, offer
    from refclust.kernels.registry import KERNELS

    verdicts = memory.recall(record)
    offered = sorted(set(offer.kernels(record)) & set(KERNELS))
    passed = [kernel for kernel in offered if kernel in verdicts and verdicts[kernel].ok]
    faults = [verdicts[kernel] for kernel in offered if kernel in verdicts]
    faults = [verdict for verdict in faults if not verdict.ok]
    state = "failed" if faults else "passed" if passed == offered and passed else "partly"
    return {
        "state": state if faults or passed else "not yet",
        "passed": passed,
        "when": max((verdicts[kernel].when for kernel in passed), default=None),
        "fault": faults[0].fault if faults else None,
    }


def _checked(row: dict[str, Any]) -> str:
    checked = row["checked"]
    if checked is None:
        return "-"
    if checked["state"] in ("not yet", "failed"):
        return str(checked["state"])
    few = "" if checked["state"] == "passed" else f"{len(checked['passed'])} of "
    return f"{few}{counted(len(row['kernels']), 'kernel')}, {checked['when']}"


def _kernels(row: dict[str, Any]) -> str:
    from refclust.kernels.registry import KERNELS

    if row["reason"]:
        return str(row["reason"])
    known = [name for name in row["kernels"] if name in KERNELS]
    return f"all {len(KERNELS)}" if len(known) == len(KERNELS) else ", ".join(known) or "none"

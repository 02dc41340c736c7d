"""``refclust conform``: the whole conformance kit on one backend."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from refclust.cli.options.complete import complete_backend
from refclust.cli.options.evidence.labelings import Json
from refclust.cli.output import Progress, columns, counted, say, say_json
from refclust.escape import for_line

if TYPE_CHECKING:
    from refclust.backends.plugins.discovery import Record
    from refclust.testing.kit import Report

_MARKS: Final = (
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789αβγδεζηθικλμνξοπρστυφχψω"
    "ΓΔΘΛΞΠΣΦΨΩбгджзийлпуфцчшщъыьэюяБГДЖЗИЙЛПУФЦЧШЩЭЮЯ"
)
_PASSED, _FAULT, _UNUSED = "·", "X", " "


def conform(
    backend: Annotated[
        str,
        typer.Argument(metavar="NAME", help="The backend to try.", autocompletion=complete_backend),
    ],
    quick: Annotated[
        bool, typer.Option("--quick", help="Only the checks that find most faults.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Check that a backend keeps the contract of every kernel it has; exit 1 if one is broken.

    \b
    refclust conform reference        the core itself
    refclust conform numpy --quick    a plugin, in a few seconds
    """
    from refclust.backends.choosing.offer import kernels, tell_printed
    from refclust.backends.plugins.capture import caught
    from refclust.backends.plugins.discovery import find
    from refclust.testing import kit

    record = find(backend)
    assert record.backend is not None
    progress = Progress(len(kit.checks(quick=quick)))
    kernels(record)  # says what is wrong with them, in one line
    try:
        with caught(names=("stdout",)) as printed:
            report = kit.conform(record.backend, quick=quick, tell=progress.step)
    finally:
        progress.clear()
    tell_printed(record, printed.text, "the kit")
    if not record.own:
        _remember(record, report)
    if as_json:
        say_json(_plain(record, report))
    else:
        say(
            "\n".join(
                [*_table(report), *_told(report), *_faults(report), "", _summary(record, report)]
            )
        )
    if not report.ok:
        raise typer.Exit(1)


def _remember(record: Record, report: Report) -> None:
    """Let ``auto`` know how it went."""
    from refclust.backends.choosing import earning, memory

    memory.remember(record, earning.verdicts_of(report, report.kernels))


def _table(report: Report) -> list[str]:
    """Kernels down, checks across, one sign each; what the checks are stands below."""
    outcomes = {(outcome.kernel, outcome.check): outcome for outcome in report.outcomes}
    marks = dict(zip(report.checks, _MARKS, strict=False))
    rows = [["kernel", "calls", "".join(marks.values())]]
    for kernel in dict.fromkeys(outcome.kernel for outcome in report.outcomes):
        signs = ""
        for check in marks:
            outcome = outcomes.get((kernel, check))
            signs += _UNUSED if outcome is None else _FAULT if outcome.fault else _PASSED
        calls = sum(outcome.calls for outcome in report.outcomes if outcome.kernel == kernel)
        rows.append([kernel, f"{calls:,}", signs])
    legend = [f"{mark} {check}" for check, mark in marks.items()]
    width = max(map(len, legend)) + 2
    in_line = max(1, 100 // width)
    lines = [
        "".join(entry.ljust(width) for entry in legend[begin : begin + in_line]).rstrip()
        for begin in range(0, len(legend), in_line)
    ]
    return [*columns(rows, right=frozenset([1])), "", *lines]


def _told(report: Report) -> list[str]:
    """What was left to the reference, and what is worth knowing."""
    lines = [f"{kernel} declined {'; '.join(kinds)}" for kernel, kinds in report.declined.items()]
    lines += report.notes
    lines = [for_line(line) for line in lines]
    return ["", *lines] if lines else []


def _faults(report: Report) -> list[str]:
    """The first fault of each kernel, and what the check is about."""
    from refclust.testing.kit import checks

    why = {check.name: check.why for check in checks(quick=report.quick)}
    lines: list[str] = []
    for outcome in report.faults:
        lines += [
            "",
            f"{outcome.kernel} on {outcome.check} ({why[outcome.check]})",
            f"  {for_line(outcome.fault or '')}",
        ]
        common = report.common(outcome.kernel)
        lines += [f"  {for_line(common)}"] if common else []
    return lines


def _summary(record: Record, report: Report) -> str:
    who = for_line(f"{record.name} ({record.distribution} {record.version})")
    calls = sum(outcome.calls for outcome in report.outcomes)
    kernels = counted(len(report.kernels), "kernel")
    if report.faults:
        broken = len(report.faults)
        return f"{who}: {broken} of {kernels} broken, in {counted(calls, 'call')}"
    left = f"; left to the reference: {', '.join(report.absent)}" if report.absent else ""
    return f"{who} keeps its contracts: {kernels}, {counted(calls, 'call')}{left}"


def _plain(record: Record, report: Report) -> dict[str, Any]:
    return {
        "schema": "refclust-conform/1",
        "ok": report.ok,
        "backend": record.name,
        "distribution": record.distribution,
        "version": record.version,
        "quick": report.quick,
        "checks": list(report.checks),
        "absent": list(report.absent),
        "declined": {kernel: list(kinds) for kernel, kinds in report.declined.items()},
        "notes": list(report.notes),
        "outcomes": [
            {
                "kernel": outcome.kernel,
                "check": outcome.check,
                "calls": outcome.calls,
                "fault": outcome.fault,
                "common": report.common(outcome.kernel) if outcome.fault else "",
            }
            for outcome in report.outcomes
        ],
    }

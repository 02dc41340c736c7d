"""What was measured, as a table for people and as one object for programs."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from typing import Any, Final

from refclust_bench.runner import Row, Setting

SCHEMA: Final = "refclust-bench/1"
_HEAD: Final = (
    ["contender", "version", "threads", "median", "min..max", "ratio"],
    ["peak", "extra", "others", "result"],
)
RIGHT: Final = frozenset(range(2, 9))


def median(setting: Setting, row: Row) -> float | None:
    """The median seconds of a setting, for one iteration where the workload says so."""
    times = scaled(setting, row)
    return statistics.median(times) if times else None


def scaled(setting: Setting, row: Row) -> list[float]:
    """The seconds of all runs that count, for one iteration where the workload says so."""
    iterations = setting.answer.get("iterations")
    unit = iterations if row.case.workload.per_iteration and iterations else 1
    return [seconds / unit for seconds in setting.seconds]


def better(row: Row) -> list[Setting]:
    """Each contender at its better number of threads, or the first where nothing was measured."""
    best: dict[str, Setting] = {}
    for setting in row.settings:
        name = setting.contender.name
        if name not in best or _rank(setting, row) < _rank(best[name], row):
            best[name] = setting
    return list(best.values())


def _rank(setting: Setting, row: Row) -> tuple[int, float]:
    """Results that count come first, then short times."""
    time = median(setting, row)
    if time is None:
        return 3, 0.0
    return {"same": 0, "not comparable": 1}.get(setting.status, 2), time


def best_peer(row: Row) -> Setting | None:
    """The fastest peer whose result is the same."""
    peers = [
        setting
        for setting in better(row)
        if not setting.contender.own and setting.status == "same" and setting.seconds
    ]
    return min(peers, key=lambda setting: _rank(setting, row), default=None)


def ratio(setting: Setting, row: Row) -> float | None:
    """How many times faster than the best peer; ``None`` where that would not be comparable."""
    peer = best_peer(row)
    time = median(setting, row)
    if peer is None or not time or setting.status != "same":
        return None
    best = median(peer, row)
    assert best is not None
    return best / time


def wrong(rows: Sequence[Row]) -> list[tuple[Row, Setting]]:
    """Where refclust failed or did not agree with itself."""
    return [
        (row, setting)
        for row in rows
        for setting in row.settings
        if setting.contender.own and setting.status in ("differs", "failed")
    ]


def findings(rows: Sequence[Row]) -> list[tuple[Row, Setting]]:
    """Where a peer's result is not that of refclust, or changes: told, and no failure of ours.

    Only where ours are sound: beside a wrong backend of refclust a difference says nothing.
    """
    return [
        (row, setting)
        for row in rows
        if any(
            contestant.contender.own and contestant.status == "same" for contestant in row.settings
        )
        and not wrong([row])
        for setting in row.settings
        if not setting.contender.own and setting.status == "not comparable"
    ]


# -- for people -----------------------------------------------------------------------------------


def heading(row: Row) -> str:
    """What the row is about."""
    title = f"{row.case.workload.id}  {row.case.title}; data: {row.case.sort}"
    if row.digest:
        title += f", {_mebibytes(row.data_bytes)} MiB, {row.digest[:12]}"
    return title if row.finished else title + " (interrupted)"


def cells(row: Row) -> list[list[str]]:
    """The table of a row: each contender at its better setting."""
    table = [_HEAD[0] + _HEAD[1]]
    for setting in better(row):
        times, time = scaled(setting, row), median(setting, row)
        spread = f"{shown(min(times))}..{shown(max(times))}" if times else "-"
        factor = ratio(setting, row)
        table.append(
            [
                setting.contender.name,
                setting.contender.version,
                str(setting.threads),
                "-" if time is None else shown(time),
                spread,
                "-" if factor is None else f"{factor:.2f}×",
                _mebibytes(setting.peak),
                _mebibytes(setting.extra),
                "-" if setting.others is None else f"{setting.others:.1f}",
                f"{setting.status}: {setting.reason}" if setting.reason else setting.status,
            ]
        )
    return table


def verdict(row: Row) -> str | None:
    """One line: our best against the best peer."""
    peer = best_peer(row)
    ours = [(ratio(setting, row), setting) for setting in better(row) if setting.contender.own]
    counted = [(factor, setting) for factor, setting in ours if factor is not None]
    if peer is None or not counted:
        return None
    factor, setting = max(counted, key=lambda pair: pair[0])
    return f"{setting.contender.name}: {factor:.2f}× the speed of {peer.contender.name}"


def shown(seconds: float) -> str:
    """A time with three digits and its unit.

    >>> shown(0.0123456), shown(1.5), shown(120), shown(4.2e-5)
    ('12.3 ms', '1.50 s', '120 s', '0.042 ms')
    """
    value, unit = (seconds, "s") if seconds >= 1 else (1000 * seconds, "ms")
    digits = 0 if value >= 100 else 1 if value >= 10 else 2 if value >= 1 else 3
    return f"{value:.{digits}f} {unit}"


def _mebibytes(count: int | None) -> str:
    return "-" if count is None else f"{count / 2**20:,.0f}"


# -- for programs ---------------------------------------------------------------------------------


def row_json(row: Row) -> dict[str, Any]:
    """A row with everything that was measured, all thread settings included."""
    chosen = {id(setting) for setting in better(row)}
    peer = best_peer(row)
    workload = row.case.workload
    return {
        "id": workload.id,
        "title": row.case.title,
        "data": row.case.sort,
        "sizes": dict(row.case.sizes),
        "data_digest": row.digest,
        "data_bytes": row.data_bytes,
        "compared": workload.equal,
        "per_iteration": workload.per_iteration,
        "finished": row.finished,
        "best_peer": None if peer is None else peer.contender.name,
        "contenders": [_setting(entry, row, better=id(entry) in chosen) for entry in row.settings],
        "left_out": [{"name": entry.name, "reason": entry.reason} for entry in row.left_out],
    }


def plain_finding(row: Row, setting: Setting) -> dict[str, Any]:
    """A peer's other result, for programs."""
    return {
        "workload": row.case.workload.id,
        "data": row.case.sort,
        "peer": setting.contender.name,
        "version": setting.contender.version,
        "threads": setting.threads,
        "reason": setting.reason,
    }


def _setting(setting: Setting, row: Row, *, better: bool) -> dict[str, Any]:
    times = scaled(setting, row)
    return {
        "name": setting.contender.name,
        "own": setting.contender.own,
        "version": setting.contender.version,
        "threads": setting.threads,
        "better_setting": better,
        "status": setting.status,
        "reason": setting.reason or None,
        "median_seconds": median(setting, row),
        "min_seconds": min(times, default=None),
        "max_seconds": max(times, default=None),
        "seconds": times,
        "ratio": ratio(setting, row),
        "first_seconds": setting.first_seconds,
        "ready_seconds": setting.ready_seconds,
        "peak_bytes": setting.peak,
        "extra_bytes": setting.extra,
        "resident_bytes": setting.resident,
        "warm_up_peak_bytes": setting.warm_up_peak,
        "first_peak_bytes": setting.first_peak,
        "others_cpu": setting.others,
        "iterations": setting.answer.get("iterations"),
        "value": _value(setting.answer.get("value")),
        "details": setting.answer.get("details", {}),
    }


def _value(hexadecimal: str | None) -> str | None:
    return None if hexadecimal is None else repr(float.fromhex(hexadecimal))

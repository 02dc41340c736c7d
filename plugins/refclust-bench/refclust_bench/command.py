"""``refclust bench``: how fast refclust is here, beside the peers installed here."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from refclust.cli.options.evidence.labelings import Json
from refclust.cli.options.groups import together
from refclust.cli.output import Line, columns, counted, flush, note, say, say_json
from refclust.escape import for_line

if TYPE_CHECKING:
    from refclust_bench.runner import Plan, Pool, Row

QUICK_REPEAT, FULL_REPEAT = 3, 7
QUICK_LIMIT, FULL_LIMIT = 60.0, 300.0
_QUICK_SETTLE: Final = 0.01


@dataclass(frozen=True, slots=True)
class BenchOptions:
    """What is measured, as typed."""

    quick: Annotated[bool, typer.Option("--quick", help="Small sizes: a look, no figures.")] = False
    workload: Annotated[
        list[str] | None,
        typer.Option(metavar="ID", help="Only this workload, such as KM-A; can be repeated."),
    ] = None
    peers: Annotated[
        str | None,
        typer.Option(metavar="NAMES", help="Only these peers, with commas between; or none."),
    ] = None
    backend: Annotated[
        str | None,
        typer.Option(metavar="NAMES", help="Only these backends. [auto and all exact ones]"),
    ] = None
    threads: Annotated[
        int | None,
        typer.Option(
            metavar="N", min=1, help="Threads. [1 and all, the better counts; 1 if quick]"
        ),
    ] = None
    repeat: Annotated[
        int | None,
        typer.Option(
            metavar="R", min=1, help=f"Rounds. [{FULL_REPEAT}, with --quick {QUICK_REPEAT}]"
        ),
    ] = None
    as_json: Json = False

    def settings(self) -> list[int]:
        """The numbers of threads to try."""
        from refclust_bench.processes import machine

        usual = {1} if self.quick else {1, machine.cores()}
        return sorted(usual if self.threads is None else {self.threads})

    def plan(self) -> Plan:
        """How often and for how long everybody is measured."""
        from refclust_bench import runner

        return runner.Plan(
            self.repeat or (QUICK_REPEAT if self.quick else FULL_REPEAT),
            QUICK_LIMIT if self.quick else FULL_LIMIT,
            _QUICK_SETTLE if self.quick else runner.SETTLE_SECONDS,
            shared=self.quick,
        )


@together(BenchOptions, "asked")
def bench(*, asked: BenchOptions) -> None:
    """Measure refclust beside its peers: interleaved, on equal work, with equal results.

    Workloads: KM-A to KM-E k-means, PP-B its start, SK-20 and SK-100 sparse, GM-1, GM-2, GD-1
    and MM-20 mixtures, MX-1 to MX-3 metrics, PY-1 and PY-2 the pure core, ST-1 cold start, HC a
    hierarchy. `refclust spec BM-RULES` has the rules. Exit 1 if a backend fails or its results
    differ.

    \b
    refclust bench --quick
    refclust bench --workload KM-A --workload KM-B
    refclust bench --workload MX-2 --peers genieclust --json
    """
    from refclust_bench import contenders, limits, peers, runner, workloads
    from refclust_bench.processes.process import Child

    tasks = workloads.chosen(asked.workload or [])
    rivals, backends = peers.asked(asked.peers), contenders.backends(asked.backend)
    settings, plan = asked.settings(), asked.plan()
    rows = [
        runner.begin(case, *contenders.contenders(case, backends, rivals, settings))
        for task in tasks
        for case in task.cases(quick=asked.quick)
    ]
    head = _head(asked, plan, settings, backends, rivals)
    if not asked.as_json:
        say("\n".join(_heading(head)))
        flush()
    if not asked.quick and limits.possible():
        head["limits"] = limits.measured(Child, settings)
        if not asked.as_json:
            say("\n".join(limits.told(head["limits"])))
    interrupted = _measured(rows, plan, runner.Pool(), as_json=asked.as_json)
    _conclude(head, rows, interrupted=interrupted, as_json=asked.as_json)


def _head(
    asked: BenchOptions, plan: Plan, settings: list[int], backends: list[str], rivals: list[str]
) -> dict[str, Any]:
    """What is known before anything is measured."""
    from refclust_bench import peers, report
    from refclust_bench.processes import machine

    return {
        "schema": report.SCHEMA,
        "machine": machine.facts(),
        "versions": {**machine.versions(), **_peer_versions(rivals)},
        "quick": asked.quick,
        "repeat": plan.repeat,
        "threads": settings,
        "backends": backends,
        "notes": peers.missing(rivals),
        "limits": [],
    }


def _conclude(head: dict[str, Any], rows: list[Row], *, interrupted: bool, as_json: bool) -> None:
    """Tell the whole; leave with 1 if a backend failed, as interrupted if the user stopped it."""
    from refclust_bench import report

    trouble = report.wrong(rows)
    if as_json:
        content = [report.row_json(row) for row in rows if row.digest]
        findings = [report.plain_finding(*finding) for finding in report.findings(rows)]
        state = {"ok": not trouble, "interrupted": interrupted, "findings": findings}
        say_json({**head, **state, "workloads": content})
    else:
        say("\n".join(_summary(rows)))
    if interrupted:
        flush()
        raise KeyboardInterrupt
    if trouble:
        raise typer.Exit(1)


def _measured(rows: list[Row], plan: Plan, pool: Pool, *, as_json: bool) -> bool:
    """Measure row by row; true if the user stopped it."""
    from refclust_bench import runner

    line = Line()
    try:
        for number, row in enumerate(rows, start=1):
            place = f"{number}/{len(rows)} {row.case.workload.id} {row.case.sort}"
            runner.measure(row, plan, pool, lambda text, place=place: line.show(f"{place}: {text}"))  # type: ignore[misc]
            line.clear()
            if not plan.shared:
                pool.close()  # the next row begins with clean memory
            if not as_json:
                say("\n".join(_table(row)))
                flush()
    except KeyboardInterrupt:
        line.clear()
        unfinished = next((row for row in rows if not row.finished), None)
        if unfinished is not None and unfinished.digest and not as_json:
            say("\n".join(_table(unfinished)))
        return True
    finally:
        pool.close()
    return False


def _peer_versions(names: list[str]) -> dict[str, str]:
    from refclust_bench.peers import PEERS

    versions = {name: PEERS[name].version for name in names}
    return {name: version for name, version in versions.items() if version is not None}


def _heading(head: dict[str, Any]) -> list[str]:
    facts = head["machine"]
    versions = ", ".join(f"{name} {version}" for name, version in head["versions"].items())
    settings = " and ".join(map(str, head["threads"]))
    lines = [
        f"{facts['cpu']}, {facts['cores']} cores, {facts['system']}, {facts['python']}",
        versions,
        f"{counted(head['repeat'], 'round')}, threads {settings}; "
        "ratio: times as fast as the best peer with the same result",
        "memory in MiB, extra: over a warm-up on tiny data; others: processors used by others",
    ]
    if head["quick"]:
        lines.append("quick: sizes too small for figures worth quoting")
    for text in head["notes"]:
        note(text)
    return lines


def _table(row: Row) -> list[str]:
    from refclust_bench import report

    lines = ["", report.heading(row), *columns(report.cells(row), right=report.RIGHT)]
    lines += [
        for_line(f"left out: {contender.name}: {contender.reason}") for contender in row.left_out
    ]
    return lines


def _summary(rows: list[Row]) -> list[str]:
    from refclust_bench import report

    lines = [""]
    for row in rows:
        if not row.digest:
            continue
        verdict = report.verdict(row) or "no comparable pair of times"
        lines.append(f"{row.case.workload.id:<7} {row.case.sort:<13} {verdict}")
    for row, setting in report.findings(rows):
        where = f"{row.case.workload.id} {row.case.sort}"
        who = f"{setting.contender.name} {setting.contender.version}"
        threads = counted(setting.threads, "thread")
        lines.append(for_line(f"FOUND  {where}: {who}, {threads}: {setting.reason}"))
    for row, setting in report.wrong(rows):
        where = f"{row.case.workload.id} {row.case.sort}"
        lines.append(for_line(f"WRONG  {where}: {setting.contender.name}: {setting.reason}"))
    return lines

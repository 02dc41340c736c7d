"""``refclust trace``: prove that every formula is traced to code, vectors and tests."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Annotated

import typer

from refclust.cli.options.complete import complete_chapter
from refclust.cli.options.evidence.labelings import Json
from refclust.cli.output import counted, note, say, say_json
from refclust.errors import BadOption

if TYPE_CHECKING:
    from refclust.trace.check import TraceProblem

SCHEMA = "refclust-trace/1"


def trace(
    check: Annotated[
        bool, typer.Option("--check", help="List holes, wrong citations and drift; exit 1 if any.")
    ] = False,
    update: Annotated[
        bool, typer.Option("--update", help="Renew the locks after a reviewed change.")
    ] = False,
    chapter: Annotated[
        str | None,
        typer.Option(
            metavar="C", help="Only this chapter, such as 43.", autocompletion=complete_chapter
        ),
    ] = None,
    evidence: Annotated[
        bool,
        typer.Option(
            "--evidence", help="Change each definition and see whether its evidence fails."
        ),
    ] = False,
    clause: Annotated[
        str | None, typer.Option(metavar="ID", help="With --evidence: only this clause.")
    ] = None,
    sample: Annotated[
        int | None, typer.Option(metavar="N", help="With --evidence: so many changes of each.")
    ] = None,
    jobs: Annotated[
        int, typer.Option(metavar="N", help="With --evidence: processes side by side.")
    ] = 1,
    as_json: Json = False,
) -> None:
    """Show clause × definition × code × golden vectors × property tests × contract.

    \b
    refclust trace               the matrix
    refclust trace --check       fail on a hole (needs a checkout)
    refclust trace --update      renew the locks (needs a checkout)
    refclust trace --evidence    fail where no evidence bites (long; needs a checkout)
    """
    if evidence:
        if check or update:
            raise BadOption("--evidence stands alone; run --check or --update by itself")
        if not _bites(clause, chapter, sample, jobs, as_json=as_json):
            raise typer.Exit(1)
        return
    if clause is not None or sample is not None or jobs != 1:
        raise BadOption("--clause, --sample and --jobs go with --evidence")
    updated = _update() if update else None
    if check:
        problems = _problems(chapter)
        _say_problems(problems, updated, as_json)
        if problems:
            raise typer.Exit(1)
    elif update:
        if as_json:
            say_json({"schema": SCHEMA, "updated": updated})
    else:
        _matrix(chapter, as_json)


def _bites(
    clause: str | None, chapter: str | None, sample: int | None, jobs: int, *, as_json: bool
) -> bool:
    """Try the evidence and tell whether all of it notices changes."""
    from refclust.cli.commands.proof.evidence import evidence

    name = None if chapter is None else _chapter(chapter)
    return evidence(
        schema=SCHEMA, clause=clause, chapter=name, sample=sample, jobs=jobs, as_json=as_json
    )


def _update() -> list[str]:
    from refclust.trace.locks import lock
    from refclust.trace.places import checkout

    places = checkout()
    changed = [places.name(path) for path in lock.update()]
    for name in changed:
        note(f"renewed {name}")
    if not changed:
        note("all locks are as they should be")
    return changed


def _problems(chapter: str | None) -> list[TraceProblem]:
    from refclust.trace import check
    from refclust.trace.clauses import load, spec_root

    name = None if chapter is None else _chapter(chapter)
    problems = check.problems()
    if name is None:
        return problems
    ids = {clause.id for clause in load(spec_root()).values() if clause.chapter == name}

    def concerns(problem: TraceProblem) -> bool:
        words = re.findall(r"[A-Z0-9-]+", problem.message)
        return name in problem.file or not ids.isdisjoint([*words, *problem.clauses])

    return [problem for problem in problems if concerns(problem)]


def _say_problems(problems: list[TraceProblem], updated: list[str] | None, as_json: bool) -> None:
    if as_json:
        listed = [problem.plain() for problem in problems]
        say_json({"schema": SCHEMA, "updated": updated, "problems": listed})
    else:
        say("\n".join([*(problem.text() for problem in problems), _summary(problems)]))


def _summary(problems: list[TraceProblem]) -> str:
    if not problems:
        return "every clause is traced: no problem found"
    kinds: dict[str, int] = {}
    for problem in problems:
        kinds[problem.code] = kinds.get(problem.code, 0) + 1
    counts = ", ".join(f"{count} {code}" for code, count in sorted(kinds.items()))
    return f"\n{counted(len(problems), 'problem')}: {counts}"


def _matrix(chapter: str | None, as_json: bool) -> None:
    from dataclasses import replace

    from refclust.trace import matrix

    name = None if chapter is None else _chapter(chapter)
    built = matrix.build()
    if name is not None:
        rows = tuple(row for row in built.clauses if row.chapter == name)
        built = replace(built, clauses=rows)
    if as_json:
        say_json({"schema": SCHEMA, **built.plain()})
    else:
        say(built.text())


def _chapter(beginning: str) -> str:
    """Find a chapter by its name or the beginning of it."""
    from refclust.trace.clauses import load, spec_root

    names = list(dict.fromkeys(clause.chapter for clause in load(spec_root()).values()))
    matching = [name for name in names if name == beginning] or [
        name for name in names if name.startswith(beginning)
    ]
    if len(matching) != 1:
        wrong = "is not one chapter" if matching else "is no chapter"
        raise BadOption(f"--chapter {beginning!r} {wrong}; there are: {', '.join(names)}")
    return matching[0]

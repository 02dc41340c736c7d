"""``refclust spec``: read the specification, one clause or all of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from refclust.cli.options.complete import complete_clause
from refclust.cli.options.evidence.labelings import Json
from refclust.cli.output import columns, counted, say, say_json

if TYPE_CHECKING:
    from pathlib import Path

    from refclust.metrics.catalogue import Entry
    from refclust.trace.clauses import Clause


def spec(
    name: Annotated[
        str | None,
        typer.Argument(
            metavar="[ID]",
            help="A clause such as NMI-GEO, or a metric such as nmi. Left out: list all clauses.",
            autocompletion=complete_clause,
        ),
    ] = None,
    as_json: Json = False,
) -> None:
    """Show a clause of the specification with its formula, its code and its evidence.

    \b
    refclust spec                     all chapters and clauses
    refclust spec ARI                 one clause
    refclust spec 'nmi[average=max]'  the clauses behind a metric
    """
    from refclust.trace.clauses import load, spec_root

    known = load(spec_root())
    if name is None:
        _list(known, as_json)
    elif name.strip().upper() in known:
        _show([name], None, {}, as_json)
    else:
        from refclust import metrics  # noqa: F401  (importing it fills the catalogue)
        from refclust.metrics.named import meant

        _show(*meant(name), as_json)


def _list(known: dict[str, Clause], as_json: bool) -> None:
    from refclust.trace.clauses import spec_root

    chapters: dict[str, list[Clause]] = {}
    for clause in known.values():
        chapters.setdefault(clause.chapter, []).append(clause)
    titles = {name: _title(spec_root() / f"{name}.md") for name in chapters}
    if as_json:
        say_json(
            {
                "schema": "refclust-spec/1",
                "chapters": [
                    {
                        "chapter": name,
                        "title": titles[name],
                        "clauses": [
                            {"id": clause.id, "title": clause.title, "kind": clause.kind}
                            for clause in clauses
                        ],
                    }
                    for name, clauses in chapters.items()
                ],
            }
        )
        return
    lines = columns([[clause.id, clause.kind, clause.title] for clause in known.values()])
    rows = iter(lines)
    for name, clauses in chapters.items():
        say(f"{titles[name]}\n" + "".join(f"  {next(rows)}\n" for _ in clauses))
    say(
        f"{counted(len(known), 'clause')} in {counted(len(chapters), 'chapter')}; "
        "`refclust spec ID` shows one"
    )


def _title(path: Path) -> str:
    """Return the heading of a chapter."""
    with path.open(encoding="utf-8") as lines:
        return next((line[2:].strip() for line in lines if line.startswith("# ")), path.stem)


def _show(ids: list[str], entry: Entry | None, options: dict[str, Any], as_json: bool) -> None:
    from refclust.trace.show import clause

    pages = [clause(identifier) for identifier in ids]
    if as_json:
        say_json({"schema": "refclust-spec/1", "clauses": [page.plain() for page in pages]})
        return
    if entry is not None:
        say(_headline(entry, options) + "\n")
    say(f"\n\n{'─' * 72}\n\n".join(page.text() for page in pages))


def _headline(entry: Entry, options: dict[str, Any]) -> str:
    """Return what the catalogue says about a metric, with its other forms."""
    from refclust.metrics.catalogue import format_key

    lines = [f"Metric  {format_key(entry, options)}: {entry.title}"]
    if entry.aliases:
        lines.append(f"Also    {', '.join(entry.aliases)}")
    others = [
        f"{format_key(entry, {**options, option: value})} ({clauses[value]})"
        for option, clauses in entry.variants.items()
        for value in clauses
        if value != str(options[option])
    ]
    if others:
        lines.append(f"Forms   {', '.join(others)}")
    elif entry.options:
        choices = (
            f"{name}={'|'.join(map(str, v)) or 'NUMBER'}" for name, v in entry.options.items()
        )
        lines.append(f"Options {', '.join(choices)}")
    return "\n".join(lines)

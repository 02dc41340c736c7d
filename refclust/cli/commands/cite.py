"""``refclust cite``: BibTeX of who defined a metric or a method first."""

from __future__ import annotations

from typing import Annotated

import typer

from refclust.cli.options.complete import complete_citable
from refclust.cli.options.evidence.labelings import Json
from refclust.cli.output import note, say, say_json


def cite(
    names: Annotated[
        list[str],
        typer.Argument(
            metavar="NAME…",
            help="Metrics such as nmi, methods such as kmeans or ward, or clauses such as ARI.",
            autocompletion=complete_citable,
        ),
    ],
    as_json: Json = False,
) -> None:
    """Print BibTeX for the primary source of metrics and methods.

    \b
    refclust cite nmi                 the paper that defined it
    refclust cite kmeans ward ari     several, each entry once
    refclust cite 'nmi[average=max]'  of a form of a metric
    """
    from dataclasses import asdict

    from refclust.metrics.citing import cite as cited

    citations = [cited(name) for name in names]
    entries = dict.fromkeys(entry for citation in citations for entry in citation.references)
    if as_json:
        say_json(
            {
                "schema": "refclust-cite/1",
                "citations": [
                    {
                        "name": citation.name,
                        "clauses": [clause.id for clause in citation.clauses],
                        "own": citation.own,
                        "references": [entry.key for entry in citation.references],
                    }
                    for citation in citations
                ],
                "references": [{**asdict(entry), "bibtex": entry.bibtex()} for entry in entries],
            }
        )
        return
    for citation in citations:
        if not citation.references:
            ids = ", ".join(clause.id for clause in citation.clauses)
            note(f"{citation.name} is defined by this specification itself: {ids}")
    if entries:
        say("\n\n".join(entry.bibtex() for entry in entries))

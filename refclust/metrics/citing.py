"""Who defined it first, as BibTeX: of a metric, a method or a clause (``refclust cite``)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from refclust import metrics as metrics  # importing it fills the catalogue
from refclust.escape import for_html
from refclust.metrics.named import meant
from refclust.trace import clauses
from refclust.trace.clauses import Clause
from refclust.trace.sources import Reference, is_own, sources


@dataclass(frozen=True, slots=True, repr=False)
class Citation:
    """The literature behind a name: ``print`` it for BibTeX."""

    name: str
    clauses: tuple[Clause, ...]
    references: tuple[Reference, ...]
    own: bool  # whether the definition, or a part of it, is that of this specification

    def bibtex(self) -> str:
        """The entries as BibTeX; what nobody else has defined is said so."""
        parts = [reference.bibtex() for reference in self.references]
        if not parts:
            ids = ", ".join(clause.id for clause in self.clauses)
            parts = [f"% {self.name}: the definition is that of the refclust specification, {ids}"]
        return "\n\n".join(parts)

    def __str__(self) -> str:
        return self.bibtex()

    def __repr__(self) -> str:
        keys = ", ".join(reference.key for reference in self.references) or "this specification"
        return f"<Citation of {self.name}: {keys}>"

    def __iter__(self) -> Iterator[Reference]:
        return iter(self.references)

    def _repr_html_(self) -> str:
        lines = "\n".join(map(for_html, self.bibtex().split("\n")))
        return f'<pre style="overflow-x:auto;background:none"><code>{lines}</code></pre>'


def cite(name: str) -> Citation:
    """Who defined a metric, a method or a clause first.

    >>> print(cite("ari").references[0].key)
    hubert1985
    """
    ids, _, _ = meant(name)
    known = clauses.load(clauses.spec_root())
    behind = tuple(known[each] for each in ids if each in known)
    entries = (reference for clause in behind for reference in sources(clause, known))
    return Citation(name, behind, tuple(dict.fromkeys(entries)), any(map(is_own, behind)))

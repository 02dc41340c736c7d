"""Who defined it first: the literature of ``sources.md``, and which of it a clause names.

The bibliography stands once, as a list that people read: authors, year, title, place, maybe a DOI.
Clauses name its entries by surnames and year, as «Hubert & Arabie 1985».
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final

from refclust.errors import BadSpec
from refclust.trace.clauses import Clause
from refclust.trace.places import spec_root

SOURCES_FILE: Final = "sources.md"
OWN: Final = "this specification"
_ENTRY: Final = re.compile(
    r"- (?P<authors>.+?) \((?P<year>\d{4})(?P<letter>[a-z]?)\)\. (?P<rest>.+)"
)
_AUTHOR: Final = re.compile(
    r"(?P<surname>[^,&]+?), (?P<initials>(?:[^\W\d_][a-z]?\.[- ]?)+)(?:, | & |$)"
)
_DOI: Final = re.compile(r" doi:(\S+)$")
_PAGES: Final = r"[0-9]+(?:[–-][0-9]+)?(?: and [0-9–-]+)?"
_PLACE: Final = re.compile(
    r"(?: (?P<volume>[0-9]+)(?:\((?P<number>[^)]+)\))?)?(?:, (?P<publisher>[^\W\d][^,]*))?"
    rf"(?:, (?P<pages>{_PAGES}))?\.?"
)
_NAME: Final = r"(?:(?:van der|van|von|de) )?[^\W\d_a-zß-öø-ÿ][\w'’-]+"
_CITED: Final = re.compile(rf"({_NAME}(?:(?:, | & ){_NAME})*)(?: et al\.)? (\d{{4}}[a-z]?)\b")
_AS: Final = re.compile(r"(?:\A|; |: )as ([A-Z][A-Z0-9-]+)")
_SOURCE: Final = re.compile(r"^- Source: (.+?)(?=^- |\n\n|\Z)", re.DOTALL | re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Reference:
    """One entry of the literature."""

    key: str  # such as hubert1985
    authors: tuple[str, ...]  # surname, initials
    year: str
    letter: str  # tells two entries of one year apart: 2008a
    title: str
    container: str  # the journal, the proceedings or the book it is in; empty for a book
    volume: str
    number: str
    pages: str
    publisher: str
    doi: str

    @property
    def surnames(self) -> tuple[str, ...]:
        """The surnames of the authors."""
        return tuple(author.partition(",")[0] for author in self.authors)

    @property
    def kind(self) -> str:
        """What BibTeX calls it."""
        if not self.container:
            return "book"
        return "article" if self.volume else "inproceedings"

    def bibtex(self) -> str:
        """The entry as BibTeX.

        Spec: none (a way of writing)
        """
        place = "journal" if self.kind == "article" else "booktitle"
        fields = {
            "author": " and ".join(self.authors),
            "title": f"{{{self.title}}}",
            place: self.container,
            "year": self.year,
            "volume": self.volume,
            "number": self.number,
            "pages": self.pages.replace("–", "--"),
            "publisher": self.publisher,
            "doi": self.doi,
        }
        lines = [
            f"  {name:<9} = {{{value if name == 'doi' else _escaped(value)}}},"
            for name, value in fields.items()
            if value
        ]
        return "\n".join([f"@{self.kind}{{{self.key},", *lines, "}"])


def _escaped(text: str) -> str:
    return re.sub(r"(?<!\\)([&%$#_])", r"\\\1", text).replace("«", "``").replace("»", "''")


@cache
def references(spec: Path | None = None) -> Mapping[str, Reference]:
    """All entries of the literature, by their keys.

    Raises ``bad-spec`` for a line that is no entry.

    >>> references()["hubert1985"].doi
    '10.1007/BF01908075'
    """
    path = (spec_root() if spec is None else spec) / SOURCES_FILE
    text = path.read_text(encoding="utf-8").partition("## Literature")[2]
    entries: dict[str, Reference] = {}
    for number, line in enumerate(text.split("\n"), 1):
        if line.startswith("- ") and "(" in line:  # programs without a year are no literature
            entry = _entry(line, entries)
            if entry is None:
                raise BadSpec(f"{SOURCES_FILE}, line {number} of the literature: {line!r}")
            entries[entry.key] = entry
    return entries


def _entry(line: str, others: Mapping[str, Reference]) -> Reference | None:
    match = _ENTRY.fullmatch(line)
    if match is None:
        return None
    rest = re.sub(r" \([^()]*\)$", "", match["rest"])  # a remark
    doi = _DOI.search(rest)
    rest = rest[: doi.start()] if doi else rest
    authors = tuple(
        f"{found['surname']}, {found['initials'].strip()}"
        for found in _AUTHOR.finditer(match["authors"])
    )
    authors = authors or (match["authors"],)
    title, container, place = rest, "", ""
    volume, number, pages, publisher = "", "", "", ""
    if rest.startswith("*"):
        title, _, publisher = rest[1:].partition("*")
    elif "*" in rest:
        head, container, place = rest.split("*", 2)
        title = re.sub(r"\.( In)? *$", "", head)
        where = _PLACE.fullmatch(place)
        if where is not None:
            names = ("volume", "number", "pages", "publisher")
            volume, number, pages, publisher = (where[name] or "" for name in names)
    else:
        title, _, publisher = rest.rpartition(". ")  # arXiv and the like
    key = _key(authors[0], match["year"], match["letter"], others)
    return Reference(
        key, authors, match["year"], match["letter"], title.strip(". "), container, volume, number,
        pages, publisher.strip(". "), doi[1] if doi else "",
    )  # fmt: skip


def _key(author: str, year: str, letter: str, others: Mapping[str, Reference]) -> str:
    plain = unicodedata.normalize("NFKD", author.partition(",")[0])
    plain = plain.replace("ł", "l").replace("ø", "o").replace("ı", "i")
    base = re.sub(r"[^a-z]", "", plain.encode("ascii", "ignore").decode().lower()) + year + letter
    key, more = base, "b"
    while key in others:
        key, more = base + more, chr(ord(more) + 1)
    return key


def source_of(clause: Clause) -> str:
    """The lines of a clause that say where it comes from.

    >>> from refclust.trace.clauses import parse
    >>> [clause] = parse("## PUR Purity {normative}\\n\\n- Source: A 1999;\\n  B 2000\\n", "41")
    >>> source_of(clause)
    'A 1999; B 2000'
    """
    return " ".join(" ".join(_SOURCE.findall(clause.text)).split())


def sources(
    clause: Clause, clauses: Mapping[str, Clause], spec: Path | None = None
) -> tuple[Reference, ...]:
    """The literature that a clause names, in its order; what it is «as», too.

    Raises ``bad-spec`` where a name is in no list.
    """
    text = source_of(clause)
    named = [_found(names, year, clause, spec) for names, year in _CITED.findall(text)]
    for other in _AS.findall(text):
        if other in clauses and other != clause.id:
            named += sources(clauses[other], clauses, spec)
    return tuple(dict.fromkeys(named))


def is_own(clause: Clause) -> bool:
    """Whether the definition, or what of it is not named, is the project's own."""
    return OWN in source_of(clause)


def _found(names: str, year: str, clause: Clause, spec: Path | None) -> Reference:
    surnames = re.split(r", | & ", names)
    for entry in references(spec).values():
        dated = entry.year + entry.letter == year
        if dated and surnames[0] == entry.surnames[0] and set(surnames) <= set(entry.surnames):
            every = len(surnames) == len(entry.surnames) or len(surnames) == 1
            if every:
                return entry
    raise BadSpec(
        f"{clause.chapter}.md: {clause.id} names {names} {year}, whom {SOURCES_FILE} lacks"
    )

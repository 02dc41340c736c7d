"""Who defined it first: every clause names its source, and the literature becomes BibTeX."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import refclust
from refclust.errors import BadSpec, UnknownClause
from refclust.metrics.catalogue import ENTRIES
from refclust.metrics.named import METHODS, meant
from refclust.trace.clauses import load, parse, spec_root
from refclust.trace.sources import is_own, references, source_of, sources
from refclust.version import __version__

ROOT = Path(__file__).parents[2]
CLAUSES = load(spec_root())
SPECIFIED = [clause for clause in CLAUSES.values() if 10 <= int(clause.chapter[:2]) <= 55]


@pytest.mark.parametrize("clause", SPECIFIED, ids=lambda clause: clause.id)
def test_every_clause_names_who_defined_it(clause: refclust.trace.clauses.Clause) -> None:
    named = sources(clause, CLAUSES)  # an unknown name is an error
    if clause.kind == "normative":
        assert named or is_own(clause), source_of(clause)


def test_most_clauses_are_not_our_own() -> None:
    normative = [clause for clause in SPECIFIED if clause.kind == "normative"]
    own = [clause.id for clause in normative if not sources(clause, CLAUSES)]
    assert len(own) <= 30
    assert {"KM-EMPTY", "PUR-ADJ", "EM-CERT"} <= set(own)


def test_the_literature() -> None:
    entries = references()
    assert len(entries) > 250
    for key, entry in entries.items():
        assert re.fullmatch(r"[a-z]+[0-9]{4}[a-z]?", key)
        assert entry.title
        assert entry.container or entry.publisher, key
        assert not entry.doi or entry.doi.startswith("10."), key
    dois = [entry.doi for entry in entries.values() if entry.doi]
    assert len(dois) == len(set(dois)) >= 115


def test_bibtex() -> None:
    assert str(refclust.cite("ari").references[0].bibtex()) == (
        "@article{hubert1985,\n"
        "  author    = {Hubert, L. and Arabie, P.},\n"
        "  title     = {{Comparing partitions}},\n"
        "  journal   = {Journal of Classification},\n"
        "  year      = {1985},\n"
        "  volume    = {2},\n"
        "  pages     = {193--218},\n"
        "  doi       = {10.1007/BF01908075},\n"
        "}"
    )
    assert references()["neal1998"].bibtex() == (
        "@inproceedings{neal1998,\n"
        "  author    = {Neal, R. M. and Hinton, G. E.},\n"
        "  title     = {{A view of the EM algorithm that justifies incremental, sparse, and other "
        "variants}},\n"
        "  booktitle = {Learning in Graphical Models},\n"
        "  year      = {1998},\n"
        "  pages     = {355--368},\n"
        "  publisher = {Kluwer},\n"
        "}"
    )
    assert "@book{vanrijsbergen1979," in references()["vanrijsbergen1979"].bibtex()
    for entry in references().values():
        text = entry.bibtex()
        assert text.count("{") == text.count("}")
        assert not re.search(r"(?<!\\)[&%#]", text.partition("doi")[0])


@pytest.mark.parametrize(
    ("name", "keys"),
    [
        ("nmi", ["strehl2002"]),
        ("kmeans", ["lloyd1982", "macqueen1967"]),
        ("k-means++", ["arthur2007"]),
        ("ward", ["ward1963", "wishart1969", "murtagh2014"]),
        ("silhouette", ["rousseeuw1987"]),
        ("mcnemar", ["mcnemar1947"]),
        ("bic", ["schwarz1978"]),
        ("KM-COSASSIGN", ["dhillon2001"]),  # it is «as» another clause
        ("gaussian_mixture", ["day1969", "wolfe1970", "dempster1977"]),
    ],
)
def test_who_is_cited(name: str, keys: list[str]) -> None:
    assert [entry.key for entry in refclust.cite(name)][: len(keys)] == keys


def test_every_metric_and_method_can_be_cited() -> None:
    for name in [*ENTRIES, *METHODS]:
        citation = refclust.cite(name)
        assert citation.clauses, name
        assert citation.references or citation.own, name
    ours = refclust.cite("adjusted_purity")
    assert ours.bibtex().startswith("% adjusted_purity: the definition is that of the refclust")


def test_names_that_mean_nothing() -> None:
    with pytest.raises(UnknownClause, match="did you mean kmeans"):
        meant("kmean")
    with pytest.raises(UnknownClause, match="5 is no name of a clause"):
        meant(5)


def test_a_name_that_is_in_no_list() -> None:
    [clause] = parse("## PUR Purity {normative}\n\n- Source: Nobody 1999\n", "41-matching")
    with pytest.raises(BadSpec, match=r"PUR names Nobody 1999, whom sources.md lacks"):
        sources(clause, {})


def test_the_citation_file() -> None:
    text = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    fields = dict(re.findall(r"^([a-z-]+): *(.*)$", text, re.MULTILINE))
    assert fields["cff-version"] == "1.2.0"
    assert fields["version"] == f'"{__version__}"'
    assert {"message", "title", "authors", "type", "license"} <= set(fields)
    assert fields["license"] == "MIT"

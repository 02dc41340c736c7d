"""What every model file tells: of which data, read how, made by whom (chapter 11)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Literal, TypeAlias, TypeVar

from refclust.data.dataset import Features
from refclust.data.files.document import Node
from refclust.data.files.parts import NULL, Known, array, double, items, names, on_line, text, whole
from refclust.data.files.records import GIVEN, IF_ANY
from refclust.data.preparing.record import Preparation
from refclust.data.readers.formats import Options

T = TypeVar("T")
DataKind: TypeAlias = Literal["dense", "sparse", "distances"]
Lines: TypeAlias = tuple[Annotated[T, on_line], ...]
Amount: TypeAlias = Annotated[float, double(0)]
Many: TypeAlias = Annotated[int, whole(1, None)]
Clusters: TypeAlias = Annotated[int, whole(1, 2**31 - 1)]  # labels are 32-bit integers
Seed: TypeAlias = Annotated[int, whole(0, None)]


def _once(node: Node, name: Any, before: dict[Any, None]) -> None:
    if name in before:
        node.fail(f"the feature {name!r} occurs twice")


@dataclass(frozen=True, slots=True)
class Weighing:
    """What new word counts are weighed with under tf-idf: the corpus of the fit, not their own.

    Spec: MODEL-READ
    """

    documents: Annotated[int, whole(1)]
    # In how many documents each word occurs.
    frequencies: Annotated[tuple[int, ...], array(whole(1, "documents")), items("d")]


@dataclass(frozen=True, slots=True)
class Reading:
    """How the data of a fit were read from a file."""

    format: str
    options: Annotated[Options, GIVEN]
    weighing: Annotated[Weighing, on_line] | None = None

    RULES: ClassVar = {
        "if": {
            "properties": {
                "options": {
                    "required": ["text"],
                    "properties": {"text": {"properties": {"tfidf": {"const": True}}}},
                }
            }
        },
        "then": {"properties": {"weighing": {"type": "object"}}},
        "else": {"properties": {"weighing": NULL}},
    }

    def check(self, node: Node, _known: Known) -> None:
        """Refuse frequencies without tf-idf, and tf-idf without them."""
        weighed = self.options.text is not None and self.options.text.tfidf
        if (self.weighing is not None) != weighed:
            node.entry("weighing").fail("frequencies of words belong to tf-idf, and tf-idf to them")


@dataclass(frozen=True, slots=True)
class DataFacts:
    """What is known of the data of a fit, and how they were read.

    Spec: MODEL-DOC
    """

    kind: DataKind
    n: Annotated[int, whole(1)]
    d: int
    digest: Annotated[str, text("[0-9a-f]{64}", "a SHA-256 of 64 hexadecimal digits")] | None
    features: Annotated[Features, names("d", _once)] | None
    reading: Reading | None
    preparation: Annotated[Preparation | None, IF_ANY] = None

    RULES: ClassVar = {
        "if": {"properties": {"kind": {"const": "distances"}}},
        "then": {"properties": {"d": {"const": 0}, "features": NULL}},
        "else": {"properties": {"digest": {"type": "string"}}},
    }

    def check(self, node: Node, _known: Known) -> None:
        """Refuse features of distances, and rows without a digest."""
        if self.kind == "distances":
            if self.d or self.features is not None:
                node.fail("distances have no features; d is 0 and features null")
        elif self.digest is None:
            node.entry("digest").wrong("a string")
        if self.preparation is not None:
            self.preparation.fits(node.entry("preparation"), self.kind, self.d)


@dataclass(frozen=True, slots=True)
class KernelFacts:
    """Which backend ran a kernel; seconds are left out, so that equal fits give equal files."""

    kernel: str
    backend: str
    distribution: str
    version: str
    reason: str


@dataclass(frozen=True, slots=True)
class DataOrigin:
    """Where a model came from."""

    refclust: str
    requested: str
    kernels: Lines[KernelFacts]


def agrees(fitted: Any, node: Node, *names: str) -> None:
    """Refuse a fit that is not the best of its runs.

    Spec: MODEL-LOAD
    """
    best = fitted.runs[fitted.best]
    for name in names:
        own, of_run = getattr(fitted, name), getattr(best, name)
        if own != of_run:
            node.entry(name).fail(f"{own!r}; the best run, runs[{fitted.best}], has {of_run!r}")


def numbered(trace: Any, node: Node, first: int) -> None:
    """Refuse iterations that do not follow each other.

    Spec: MODEL-LOAD
    """
    for due, step in enumerate(trace, start=first):
        if step.iteration != due:
            place = node.entry("trace").item(due - first).entry("iteration")
            place.fail(f"iteration {step.iteration}; {due} comes next")

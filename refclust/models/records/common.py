"""What every model file tells: of which data, read how, made by whom (chapter 11)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from refclust.data.dataset import Features
from refclust.data.readers.formats import Options

Algorithm: TypeAlias = Literal[
    "kmeans",
    "bisecting",
    "agglomerative",
    "gaussian",
    "multinomial",
    "bernoulli",
    "naive-bayes",
    "qda",
    "lda",
    "nearest-gaussian",
]
Kind: TypeAlias = Literal["dense", "sparse", "distances"]


@dataclass(frozen=True, slots=True)
class Weighing:
    """What new word counts are weighed with under tf-idf: the corpus of the fit, not their own.

    Spec: MODEL-READ
    """

    documents: int
    frequencies: tuple[int, ...]  # in how many documents each word occurs


@dataclass(frozen=True, slots=True)
class Reading:
    """How the data of a fit were read from a file."""

    format: str
    options: Options
    weighing: Weighing | None = None


@dataclass(frozen=True, slots=True)
class DataFacts:
    """What is known of the data of a fit, and how they were read.

    Spec: MODEL-DOC
    """

    kind: Kind
    n: int
    d: int
    digest: str | None  # of given distances it may be unknown
    features: Features | None
    reading: Reading | None


@dataclass(frozen=True, slots=True)
class KernelFacts:
    """Which backend ran a kernel; seconds are left out, so that equal fits give equal files."""

    kernel: str
    backend: str
    distribution: str
    version: str
    reason: str


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a model came from."""

    refclust: str
    requested: str
    kernels: tuple[KernelFacts, ...]

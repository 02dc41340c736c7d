"""What the benchmark measures: each workload, its sizes, and the two data sets it runs on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Literal, TypeAlias

from refclust.errors import BadOption
from refclust_bench import data

Equality: TypeAlias = Literal[
    "labels", "partition", "value", "bounded", "likelihood", "rows", "none"
]
INTERNAL: Final = ("silhouette", "calinski_harabasz", "davies_bouldin")


@dataclass(frozen=True, slots=True)
class Workload:
    """One piece of work that every contender does on the same input."""

    id: str
    title: str  # with the sizes in braces
    task: str  # what contenders are looked up by
    equal: Equality  # what must agree before a time counts
    sorts: tuple[str, ...]  # the data sets; no kernel was tuned on the later ones
    sizes: Mapping[str, int]
    quick: Mapping[str, int]
    options: Mapping[str, Any] = field(default_factory=dict)
    reference: bool = False  # whether the pure core does the full size in bearable time
    per_iteration: bool = False  # times are divided by the iterations, which may differ
    seed: str = ""  # workloads of the same seed run on the same data
    data_matter: bool = True  # if not, a quick run makes do with one data set

    def cases(self, *, quick: bool) -> list[BenchCase]:
        """The workload on each of its data sets."""
        sorts = self.sorts[:1] if quick and not self.data_matter else self.sorts
        return [self.case(sort, quick=quick) for sort in sorts]

    def case(self, sort: str, *, quick: bool) -> BenchCase:
        """The workload on one of its data sets."""
        return BenchCase(self, sort, dict(self.quick if quick else self.sizes), quick)


@dataclass(frozen=True, slots=True)
class BenchCase:
    """A workload on one data set, in one size."""

    workload: Workload
    sort: str
    sizes: Mapping[str, int]
    quick: bool

    @property
    def title(self) -> str:
        """What is done, with its sizes."""
        return self.workload.title.format(**self.sizes)

    def make(self) -> data.Input:
        """Make the input."""
        return made(self.workload, self.sort, self.sizes)

    def tiny(self) -> data.Input:
        """An input of the same kind on which contenders warm up."""
        sizes = dict(self.sizes)
        least = {"n": 96, "d": 12 if self.workload.task in ("sparse", "multinomial") else 4, "k": 3}
        if self.workload.task == "gaussian":
            least |= {"n": 2_000, "k": 2}  # with fewer rows a component of heavy tails may collapse
        sizes.update({key: min(value, least.get(key, value)) for key, value in sizes.items()})
        return made(self.workload, self.sort, sizes)


def made(workload: Workload, sort: str, sizes: Mapping[str, int]) -> data.Input:
    """Make the input of a workload in some size."""
    name = workload.seed or workload.id
    n, k = sizes["n"], sizes["k"]
    if workload.task in ("sparse", "multinomial"):
        return data.documents(name, sort, n, sizes["d"], k)
    if workload.task in ("nmi", "ari", "ami", "core nmi"):
        return data.labels(name, sort, n, k)
    if workload.task in INTERNAL:
        return data.clustered(name, sort, n, sizes["d"], k)
    return data.dense(name, sort, n, sizes["d"], k)


def _kmeans(
    name: str, sorts: tuple[str, ...], n: int, d: int, k: int, quick: int, **more: Any
) -> Workload:
    converge = more.pop("converge", False)
    title = "k-means {n:,}×{d}, K={k}, " + ("to the end" if converge else "20 iterations")
    return Workload(
        name,
        title,
        "kmeans",
        "labels",
        sorts,
        {"n": n, "d": d, "k": k},
        {"n": quick, "d": min(d, 32), "k": min(k, 8)},
        {"limit": 1000 if converge else 20},
        **more,
    )


def _sparse(k: int) -> Workload:
    return Workload(
        f"SK-{k}",
        "sparse k-means {n:,} documents, {d:,} terms, K={k}, 20 iterations",
        "sparse",
        "labels",
        ("tf-idf", "counts"),
        {"n": 20_000, "d": 30_000, "k": k},
        {"n": 150, "d": 1_000, "k": k // 10},
        {"limit": 20},
        seed="SK",
    )


def _gaussian(name: str, covariance: str, n: int, d: int, k: int, seed: str = "") -> Workload:
    return Workload(
        name,
        f"Gaussian mixture, {covariance}, " + "{n:,}×{d}, K={k}, 10 iterations",
        "gaussian",
        "likelihood",
        ("blobs", "heavy-tailed"),
        {"n": n, "d": d, "k": k},
        {"n": 2_000, "d": 3, "k": 2},
        {"limit": 10, "covariance": covariance},
        seed=seed,
    )


def _labels(
    name: str, metric: str, sorts: tuple[str, ...], n: int, k: int, quick: int, **more: Any
) -> Workload:
    return Workload(
        name,
        metric.removeprefix("core ").upper() + " of {n:,} labels, {k:,}×{k:,}",
        metric,
        "value",
        sorts,
        {"n": n, "k": k},
        {"n": quick, "k": min(k, 30)},
        **more,
    )


def _internal(name: str, task: str, n: int, seed: str = "") -> Workload:
    return Workload(
        name,
        task.replace("_", " and ").title().replace(" And ", "–") + ", {n:,}×{d}, K={k}",
        task,
        "bounded",
        ("blobs", "heavy-tailed"),
        {"n": n, "d": 16, "k": 8},
        {"n": 300, "d": 4, "k": 3},
        seed=seed,
    )


_ALL: Final = (
    _kmeans("KM-A", ("blobs", "heavy-tailed"), 200_000, 16, 32, 1_000),
    _kmeans("KM-B", ("blobs", "uniform"), 100_000, 64, 128, 600),
    _kmeans("KM-C", ("pixels", "uncentred"), 20_000, 784, 10, 600),
    _kmeans("KM-D", ("blobs", "duplicated", "offset 1e9"), 1_000_000, 2, 8, 2_000),
    _kmeans("KM-E", ("blobs", "uniform"), 200_000, 16, 32, 600, converge=True, seed="KM-A"),
    Workload(
        "PP-B",
        "k-means++ start, greedy, {n:,}×{d}, K={k}",
        "seeding",
        "rows",
        ("blobs", "heavy-tailed"),
        {"n": 100_000, "d": 64, "k": 128},
        {"n": 1_000, "d": 16, "k": 8},
        seed="KM-B",
    ),
    _sparse(20),
    _sparse(100),
    _gaussian("GM-1", "full", 100_000, 8, 8),
    _gaussian("GM-2", "full", 50_000, 32, 16),
    _gaussian("GD-1", "diagonal", 100_000, 8, 8, seed="GM-1"),
    Workload(
        "MM-20",
        "multinomial mixture, {n:,} documents, {d:,} terms, K={k}, 10 iterations",
        "multinomial",
        "likelihood",
        ("counts", "plain counts"),
        {"n": 20_000, "d": 30_000, "k": 20},
        {"n": 150, "d": 1_000, "k": 3},
        {"limit": 10},
        seed="SK",
    ),
    _labels("MX-1", "nmi", ("flat", "zipf"), 1_000_000, 20, 10_000, reference=True),
    _labels("MX-2", "ari", ("flat", "zipf"), 1_000_000, 20, 10_000, reference=True),
    _labels("MX-3", "ami", ("flat", "zipf", "distinct"), 100_000, 1_000, 1_000),
    _internal("IN-1", "silhouette", 20_000),
    _internal("IN-2A", "calinski_harabasz", 1_000_000, "IN-2"),
    _internal("IN-2B", "davies_bouldin", 1_000_000, "IN-2"),
    Workload(
        "PY-1",
        "pure core: k-means {n:,}×{d}, K={k}, per iteration",
        "core kmeans",
        "labels",
        ("blobs", "duplicated"),
        {"n": 10_000, "d": 4, "k": 3},
        {"n": 500, "d": 4, "k": 3},
        {"limit": 1000},
        reference=True,
        per_iteration=True,
    ),
    _labels("PY-2", "core nmi", ("flat", "zipf"), 100_000, 20, 5_000, reference=True),
    Workload(
        "ST-1",
        "cold start to the first result, k-means {n:,}×{d}, K={k}",
        "start",
        "none",
        ("blobs", "uniform"),
        {"n": 1_000, "d": 4, "k": 3},
        {"n": 200, "d": 4, "k": 3},
        reference=True,
        data_matter=False,
    ),
    Workload(
        "HC",
        "average linkage of {n:,}×{d}, cut at {k}",
        "agglomerative",
        "partition",
        ("blobs", "heavy-tailed"),
        {"n": 2_000, "d": 8, "k": 10},
        {"n": 100, "d": 4, "k": 5},
        {"linkage": "average"},
        reference=True,
    ),
)

WORKLOADS: Final[dict[str, Workload]] = {one.id: one for one in _ALL}


def chosen(names: Sequence[str]) -> list[Workload]:
    """The workloads asked for, in the order of the benchmark; all if none is named.

    >>> [one.id for one in chosen(["mx-2", "KM-A"])]
    ['KM-A', 'MX-2']
    """
    wanted = {name.strip().upper() for name in names}
    for name in sorted(wanted - set(WORKLOADS)):
        raise BadOption(f"no workload is called {name!r}; there are: {', '.join(WORKLOADS)}")
    return [workload for workload in _ALL if not wanted or workload.id in wanted]

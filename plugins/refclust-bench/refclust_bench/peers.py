"""The contenders of other libraries: used where they are installed, imported in children only.

Every peer gets the same starting centres, the same limit and no tolerance, and is asked for the
same result.
"""

from __future__ import annotations

import importlib
import importlib.metadata
import importlib.util
import math
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from refclust.errors import BadOption
from refclust_bench.data import Input
from refclust_bench.outcome import Outcome, Work, partition, whole
from refclust_bench.own import (
    centres,
    clusters,
    pair,
    probabilities,
    rows,
    spawned,
    variances,
)


@dataclass(frozen=True, slots=True)
class Peer:
    """Another library: the name of its distribution, and the module that tells if it is there."""

    distribution: str
    module: str

    @property
    def version(self) -> str | None:
        """The version installed here, ``None`` if there is none."""
        try:
            if importlib.util.find_spec(self.module) is None:
                return None
            return importlib.metadata.version(self.distribution)
        except (ImportError, ValueError):
            return None


@dataclass(frozen=True, slots=True)
class Entry:
    """One way in which a peer does a task."""

    peer: str
    place: str  # the function of this module that makes the work ready
    variant: str = ""
    threaded: bool = True  # whether it is worth trying with more than one thread
    options: Mapping[str, Any] = field(default_factory=dict)


PEERS: Final[dict[str, Peer]] = {
    "scikit-learn": Peer("scikit-learn", "sklearn"),
    "scikit-learn-intelex": Peer("scikit-learn-intelex", "sklearnex"),
    "faiss": Peer("faiss-cpu", "faiss"),
    "genieclust": Peer("genieclust", "genieclust"),
    "nltk": Peer("nltk", "nltk"),
    "scipy": Peer("scipy", "scipy"),
}

_LLOYD_AND_ELKAN: Final = (
    Entry("scikit-learn", "sklearn_kmeans", "lloyd", options={"algorithm": "lloyd"}),
    Entry("scikit-learn", "sklearn_kmeans", "elkan", options={"algorithm": "elkan"}),
    Entry("scikit-learn-intelex", "sklearnex_kmeans"),
)


def _scores(metric: str, genieclust: str) -> tuple[Entry, ...]:
    return (
        Entry("scikit-learn", "sklearn_score", threaded=False, options={"metric": metric}),
        Entry("genieclust", "genieclust_score", threaded=False, options={"metric": genieclust}),
    )


TASKS: Final[dict[str, tuple[Entry, ...]]] = {
    "kmeans": (*_LLOYD_AND_ELKAN, Entry("faiss", "faiss_kmeans", "float32")),
    "sparse": _LLOYD_AND_ELKAN,
    "seeding": (Entry("scikit-learn", "sklearn_seeding"),),
    "nmi": _scores("normalized_mutual_info_score", "normalized_mi_score"),
    "ari": _scores("adjusted_rand_score", "adjusted_rand_score"),
    "ami": _scores("adjusted_mutual_info_score", "adjusted_mi_score"),
    **{
        task: (Entry("scikit-learn", "sklearn_internal", options={"metric": f"{task}_score"}),)
        for task in ("silhouette", "calinski_harabasz", "davies_bouldin")
    },
    "core kmeans": (Entry("nltk", "nltk_kmeans", threaded=False),),
    "core nmi": (
        Entry(
            "scikit-learn",
            "sklearn_score",
            "on lists",
            threaded=False,
            options={"metric": "normalized_mutual_info_score", "lists": True},
        ),
    ),
    "start": (Entry("scikit-learn", "sklearn_start", "import sklearn.cluster", threaded=False),),
    "gaussian": (Entry("scikit-learn", "sklearn_gaussian"),),
    "multinomial": (Entry("scipy", "scipy_multinomial", "CSR products"),),
    "agglomerative": (
        Entry("scipy", "scipy_linkage", threaded=False),
        Entry("scikit-learn", "sklearn_agglomerative", threaded=False),
    ),
}


def asked(names: str | None) -> list[str]:
    """The peers asked for by a list of names; all if none was given.

    >>> asked("nltk, scipy"), asked("none")
    (['nltk', 'scipy'], [])
    """
    if names is None:
        return list(PEERS)
    wanted = [name.strip().lower() for name in names.split(",") if name.strip()]
    if wanted == ["none"]:
        return []
    for name in wanted:
        if name not in PEERS:
            raise BadOption(f"no peer is called {name!r}; there are: none, {', '.join(PEERS)}")
    return wanted


def missing(names: Sequence[str]) -> list[str]:
    """One line for each peer that is not installed, with the way to get it."""
    return [
        f"{name} is not installed; pip install {PEERS[name].distribution}"
        for name in names
        if PEERS[name].version is None
    ]


# -- k-means --------------------------------------------------------------------------------------


def sklearn_kmeans(inputs: Input, options: Mapping[str, Any]) -> Work:
    """scikit-learn's KMeans."""
    return _estimator("sklearn.cluster", inputs, options, algorithm=options["algorithm"])


def sklearnex_kmeans(inputs: Input, options: Mapping[str, Any]) -> Work:
    """The KMeans of scikit-learn-intelex, whose threads no environment variable sets."""
    importlib.import_module("daal4py").daalinit(options["threads"])
    return _estimator("sklearnex.cluster", inputs, options)


def _estimator(module: str, inputs: Input, options: Mapping[str, Any], **more: Any) -> Work:
    library = importlib.import_module(module)
    warnings.simplefilter("ignore")  # it tells at every run that the limit was reached
    x, start, k = rows(inputs), centres(inputs), inputs.facts["k"]

    def run() -> Any:
        model = library.KMeans(k, init=start, n_init=1, max_iter=options["limit"], tol=0, **more)
        return model.fit(x)

    return Work(run, lambda fit: Outcome(whole(fit.labels_), int(fit.n_iter_)))


def faiss_kmeans(inputs: Input, options: Mapping[str, Any]) -> Work:
    """The Kmeans of faiss, in float32 as it works; the conversion is not counted."""
    faiss, numpy = importlib.import_module("faiss"), importlib.import_module("numpy")
    n, d, k = (inputs.facts[name] for name in ("n", "d", "k"))
    x = rows(inputs).astype(numpy.float32)
    start = centres(inputs).astype(numpy.float32)

    def run() -> Any:
        model = faiss.Kmeans(d, k, niter=options["limit"], max_points_per_centroid=n)
        model.train(x, init_centroids=start)
        return model, model.index.search(x, 1)[1].ravel()

    def outcome(answer: Any) -> Outcome:
        return Outcome(whole(answer[1]), len(answer[0].iteration_stats))

    return Work(run, outcome)


def nltk_kmeans(inputs: Input, options: Mapping[str, Any]) -> Work:
    """The KMeansClusterer of nltk, which takes no limit; its iterations are counted."""
    del options
    cluster = importlib.import_module("nltk.cluster")
    x, start = list(rows(inputs)), list(centres(inputs))
    counter = [0]

    class Counting(cluster.KMeansClusterer):  # type: ignore[name-defined, misc]
        def _sum_distances(self, first: Any, other: Any) -> Any:
            counter[0] += 1  # called once an iteration, to see whether the means still move
            return super()._sum_distances(first, other)

    def run() -> Any:
        counter[0] = 0
        model = Counting(len(start), cluster.euclidean_distance, initial_means=list(start))
        model.cluster(x)
        return model

    def outcome(model: Any) -> Outcome:
        return Outcome(whole([model.classify(row) for row in x]), counter[0])

    return Work(run, outcome)


def sklearn_seeding(inputs: Input, options: Mapping[str, Any]) -> Work:
    """scikit-learn's kmeans_plusplus, with as many candidates as ours."""
    del options
    cluster = importlib.import_module("sklearn.cluster")
    x, k = rows(inputs), inputs.facts["k"]
    trials = 2 + math.floor(math.log(k))

    def run() -> Any:
        return cluster.kmeans_plusplus(x, k, n_local_trials=trials, random_state=0)

    return Work(run, lambda answer: Outcome(whole(answer[1])))


# -- mixtures -------------------------------------------------------------------------------------


def sklearn_gaussian(inputs: Input, options: Mapping[str, Any]) -> Work:
    """scikit-learn's GaussianMixture, without its floor; it is asked for a score afterwards."""
    mixture, numpy = importlib.import_module("sklearn.mixture"), importlib.import_module("numpy")
    warnings.simplefilter("ignore")  # it tells at every run that the limit was reached
    x, k = rows(inputs), inputs.facts["k"]
    precisions = 1.0 / numpy.array(variances(inputs))
    full = options["covariance"] == "full"
    start = numpy.stack([numpy.diag(precisions) if full else precisions] * k)

    def run() -> Any:
        model = mixture.GaussianMixture(
            k,
            covariance_type="full" if full else "diag",
            tol=0.0,
            reg_covar=0.0,
            max_iter=options["limit"],
            weights_init=numpy.full(k, 1.0 / k),
            means_init=centres(inputs),
            precisions_init=start,
        )
        return model.fit(x)

    return Work(run, lambda fit: Outcome(None, int(fit.n_iter_), float(fit.score(x))))


def scipy_multinomial(inputs: Input, options: Mapping[str, Any]) -> Work:
    """EM for a multinomial mixture by products of compressed rows, in place where that is possible.

    No library has it; this is what a careful user of SciPy would write.
    """
    numpy = importlib.import_module("numpy")
    x, k = rows(inputs), inputs.facts["k"]
    first = numpy.array(probabilities(inputs))

    def expected(shares: Any, words: Any) -> tuple[Any, float]:
        q = x @ numpy.log(words).T
        q += numpy.log(shares)
        peak = q.max(axis=1, keepdims=True)
        q -= peak
        numpy.exp(q, out=q)
        whole = q.sum(axis=1, keepdims=True)
        q /= whole
        return q, float((numpy.log(whole) + peak).sum())

    def run() -> float:
        shares, words = numpy.full(k, 1.0 / k), first
        transposed = x.T
        with numpy.errstate(divide="ignore", invalid="ignore"):
            for _ in range(options["limit"]):
                q, _ = expected(shares, words)
                counts = (transposed @ q).T
                words = counts / counts.sum(axis=1, keepdims=True)
                shares = q.sum(axis=0) / len(q)
            return expected(shares, numpy.maximum(words, 1e-300))[1]

    def outcome(likelihood: float) -> Outcome:
        return Outcome(None, options["limit"], likelihood / inputs.facts["n"])

    return Work(run, outcome)


# -- metrics --------------------------------------------------------------------------------------


def sklearn_score(inputs: Input, options: Mapping[str, Any]) -> Work:
    """A score of scikit-learn, of arrays or of lists."""
    metric = getattr(importlib.import_module("sklearn.metrics"), options["metric"])
    return _score(metric, inputs, options)


def sklearn_internal(inputs: Input, options: Mapping[str, Any]) -> Work:
    """A score of scikit-learn for rows and their clusters."""
    metric = getattr(importlib.import_module("sklearn.metrics"), options["metric"])
    x, labels = rows(inputs), clusters(inputs)
    return Work(lambda: metric(x, labels), lambda value: Outcome(value=float(value)))


def genieclust_score(inputs: Input, options: Mapping[str, Any]) -> Work:
    """A score of genieclust."""
    metric = getattr(importlib.import_module("genieclust.compare_partitions"), options["metric"])
    return _score(metric, inputs, options)


def _score(metric: Any, inputs: Input, options: Mapping[str, Any]) -> Work:
    true, pred = pair(inputs)
    if options.get("lists"):
        true, pred = inputs.buffers["true"].tolist(), inputs.buffers["pred"].tolist()
    return Work(lambda: metric(true, pred), lambda value: Outcome(value=float(value)))


# -- the rest -------------------------------------------------------------------------------------


def sklearn_start(inputs: Input, options: Mapping[str, Any]) -> Work:
    """A new Python that only imports sklearn.cluster and computes nothing."""
    del inputs, options
    return spawned("-c", "import sklearn.cluster")


def scipy_linkage(inputs: Input, options: Mapping[str, Any]) -> Work:
    """SciPy's linkage and its cut."""
    hierarchy = importlib.import_module("scipy.cluster.hierarchy")
    x, k = rows(inputs), inputs.facts["k"]

    def run() -> Any:
        merges = hierarchy.linkage(x, options["linkage"])
        return merges, hierarchy.fcluster(merges, k, "maxclust")

    def outcome(answer: Any) -> Outcome:
        return Outcome(partition(whole(answer[1])), None, math.fsum(answer[0][:, 2].tolist()))

    return Work(run, outcome)


def sklearn_agglomerative(inputs: Input, options: Mapping[str, Any]) -> Work:
    """scikit-learn's AgglomerativeClustering; it tells no heights unless asked."""
    cluster = importlib.import_module("sklearn.cluster")
    x, k = rows(inputs), inputs.facts["k"]

    def run() -> Any:
        model = cluster.AgglomerativeClustering(
            n_clusters=k, linkage=options["linkage"], compute_distances=True
        )
        return model.fit(x)

    def outcome(model: Any) -> Outcome:
        heights = math.fsum(model.distances_.tolist())
        return Outcome(partition(whole(model.labels_)), None, heights)

    return Work(run, outcome)

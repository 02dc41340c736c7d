"""The contenders of refclust: each task as a user would call it, on one backend.

Data come as arrays where NumPy is installed and as plain buffers elsewhere; taking them in, checks
included, is part of the time, as it is for the peers.
"""

from __future__ import annotations

import importlib
import math
import subprocess
import sys
from array import array
from collections.abc import Mapping
from typing import Any, Final

from refclust_bench.data import Input
from refclust_bench.outcome import Outcome, Work, partition, whole

TASKS: Final = {
    "kmeans": "kmeans",
    "sparse": "kmeans",
    "seeding": "seeding",
    "nmi": "nmi",
    "ari": "ari",
    "ami": "ami",
    "silhouette": "silhouette",
    "calinski_harabasz": "calinski_harabasz",
    "davies_bouldin": "davies_bouldin",
    "core kmeans": "core_kmeans",
    "core nmi": "core_nmi",
    "start": "cold_start",
    "agglomerative": "agglomerative",
    "gaussian": "gaussian",
    "multinomial": "multinomial",
}
_START: Final = """
import sys
from array import array
from refclust.cluster.fit import kmeans
from refclust.data.dataset import dense
n, d, k = map(int, sys.argv[2:])
values = array("d")
with open(sys.argv[1], "rb") as file:
    values.fromfile(file, n * d)
print(kmeans(dense(values, d), k, backend="reference").rss)
"""


def rows(inputs: Input) -> Any:
    """The rows as a user of arrays holds them, or as a data set where there are no arrays."""
    facts, buffers = inputs.facts, inputs.buffers
    numpy = installed("numpy")
    if inputs.kind == "sparse":
        scipy = installed("scipy.sparse")
        if numpy is None or scipy is None:
            from refclust.data.dataset import sparse

            return sparse(buffers["starts"], buffers["columns"], buffers["values"], facts["d"])
        parts = [numpy.frombuffer(buffers[name], code) for name, code in _COMPRESSED]
        return scipy.csr_array(tuple(parts), shape=(facts["n"], facts["d"]))
    if numpy is None:
        from refclust.data.dataset import dense

        return dense(buffers["rows"], facts["d"])
    return numpy.frombuffer(buffers["rows"]).reshape(facts["n"], facts["d"])


_COMPRESSED: Final = (("values", "f8"), ("columns", "i4"), ("starts", "i4"))


def centres(inputs: Input) -> Any:
    """The rows to start from, in the form of ``rows``."""
    facts, values = inputs.facts, inputs.buffers["centres"]
    numpy = installed("numpy")
    if numpy is not None:
        return numpy.frombuffer(values).reshape(facts["k"], facts["d"])
    d = facts["d"]
    return [values[begin : begin + d].tolist() for begin in range(0, len(values), d)]


def pair(inputs: Input) -> tuple[Any, Any]:
    """The two labelings, as arrays where there are arrays."""
    numpy = installed("numpy")
    true, pred = inputs.buffers["true"], inputs.buffers["pred"]
    if numpy is None:
        return true, pred
    return numpy.frombuffer(true, "i4"), numpy.frombuffer(pred, "i4")


def installed(module: str) -> Any:
    """A module of another library, or ``None`` where it is not installed."""
    try:
        return importlib.import_module(module)
    except ImportError:
        return None


def kmeans(inputs: Input, options: Mapping[str, Any]) -> Work:
    """K-means from given centres."""
    from refclust.cluster.fit import kmeans as fit

    x, start = rows(inputs), _start_centres(inputs)
    more: dict[str, Any] = {"limit": options["limit"], "backend": options["backend"]}
    return Work(lambda: fit(x, centres=start, trace="none", **more), _fitted)


def _start_centres(inputs: Input) -> Any:
    if inputs.kind == "sparse" and installed("scipy.sparse") is not None:
        return installed("scipy.sparse").csr_array(centres(inputs))
    return centres(inputs)


def _fitted(fit: Any) -> Outcome:
    details = {
        "rss": fit.rss,
        "stopped": fit.stopped,
        "kernels": _kernels(fit.provenance),
        "decided": {decision.rung: decision.rows for decision in fit.provenance.decided},
    }
    return Outcome(whole(fit.labels), fit.iterations, None, details)


def _kernels(provenance: Any) -> list[dict[str, Any]]:
    """Which backend ran each kernel, and for how long: where the time goes."""
    return [
        {
            "kernel": run.kernel,
            "backend": run.backend,
            "calls": run.calls,
            "seconds": round(run.seconds, 6),
        }
        for run in provenance.kernels
    ]


def seeding(inputs: Input, options: Mapping[str, Any]) -> Work:
    """The start alone: greedy k-means++ with 2 + floor(ln K) candidates."""
    from refclust.backends.session import Session
    from refclust.cluster.seeding import greedy
    from refclust.data.accepting.door import dataset
    from refclust.fitting.draws import Draws
    from refclust.fitting.rows import Rows

    x, k, d = rows(inputs), inputs.facts["k"], inputs.facts["d"]

    def run() -> tuple[Any, Any]:
        session = Session(options["backend"])
        return greedy(Rows(dataset(x), session), k, Draws(0)), session.provenance()

    def outcome(answer: tuple[Any, Any]) -> Outcome:
        chosen = [array("d", centre).tobytes() for centre in answer[0]]
        return Outcome(_places(inputs, chosen, d), None, None, {"kernels": _kernels(answer[1])})

    return Work(run, outcome)


def _places(inputs: Input, chosen: list[bytes], d: int) -> array[int]:
    """Which rows were chosen: the first one of each content, -1 if there is none."""
    raw, width = inputs.buffers["rows"].tobytes(), 8 * d
    wanted = dict.fromkeys(chosen, -1)
    for i in range(inputs.facts["n"]):
        row = raw[i * width : (i + 1) * width]
        if wanted.get(row) == -1:
            wanted[row] = i
    return array("i", map(wanted.__getitem__, chosen))


def nmi(inputs: Input, options: Mapping[str, Any]) -> Work:
    """Normalised mutual information, arithmetic mean."""
    return _metric("nmi", inputs, options, average="arithmetic")


def ari(inputs: Input, options: Mapping[str, Any]) -> Work:
    """The adjusted Rand index."""
    return _metric("ari", inputs, options)


def ami(inputs: Input, options: Mapping[str, Any]) -> Work:
    """Adjusted mutual information, arithmetic mean."""
    return _metric("ami", inputs, options, average="arithmetic")


def core_nmi(inputs: Input, options: Mapping[str, Any]) -> Work:
    """Normalised mutual information of plain lists."""
    return _metric("nmi", inputs, options, lists=True, average="arithmetic")


def _metric(
    name: str, inputs: Input, options: Mapping[str, Any], *, lists: bool = False, **more: Any
) -> Work:
    from refclust.metrics.calls.labelings import score

    backend = options["backend"]
    true, pred = pair(inputs)
    if lists:
        true, pred = inputs.buffers["true"].tolist(), inputs.buffers["pred"].tolist()

    def outcome(answer: Any) -> Outcome:
        details = {"certified": answer.certified, "kernels": _kernels(answer.provenance)}
        return Outcome(value=float(answer), details=details)

    return Work(lambda: score(name, true, pred, backend=backend, **more), outcome)


def silhouette(inputs: Input, options: Mapping[str, Any]) -> Work:
    """The mean silhouette of rows and their clusters."""
    return _internal("silhouette", inputs, options)


def calinski_harabasz(inputs: Input, options: Mapping[str, Any]) -> Work:
    """The index of Calinski and Harabasz."""
    return _internal("calinski_harabasz", inputs, options)


def davies_bouldin(inputs: Input, options: Mapping[str, Any]) -> Work:
    """The index of Davies and Bouldin."""
    return _internal("davies_bouldin", inputs, options)


def clusters(inputs: Input) -> Any:
    """The labels of the rows, as an array where there are arrays."""
    numpy = installed("numpy")
    labels = inputs.buffers["labels"]
    return labels if numpy is None else numpy.frombuffer(labels, "i4")


def _internal(name: str, inputs: Input, options: Mapping[str, Any]) -> Work:
    metric = getattr(importlib.import_module("refclust.metrics"), name)
    x, labels, backend = rows(inputs), clusters(inputs), options["backend"]

    def outcome(answer: Any) -> Outcome:
        details = {
            "certified": answer.certified,
            "bound": answer.bound,
            "kernels": _kernels(answer.provenance),
        }
        return Outcome(value=float(answer), details=details)

    return Work(lambda: metric(x, labels, backend=backend), outcome)


def core_kmeans(inputs: Input, options: Mapping[str, Any]) -> Work:
    """K-means of plain lists by the pure core, to the end."""
    from refclust.cluster.fit import kmeans as fit

    x, start = _lists(inputs, "rows"), _lists(inputs, "centres")
    more: dict[str, Any] = {"limit": options["limit"], "backend": options["backend"]}
    return Work(lambda: fit(x, centres=start, trace="none", **more), _fitted)


def _lists(inputs: Input, name: str) -> list[list[float]]:
    values, d = inputs.buffers[name], inputs.facts["d"]
    return [values[begin : begin + d].tolist() for begin in range(0, len(values), d)]


def cold_start(inputs: Input, options: Mapping[str, Any]) -> Work:
    """A new Python that fits the rows, in the library or through the command line."""
    facts = inputs.facts
    if options["through"] == "library":
        path = f"{options['folder']}/rows.bin"
        sizes = [str(facts[name]) for name in ("n", "d", "k")]
        return spawned("-c", _START, path, *sizes)
    path = f"{options['folder']}/rows.csv"
    with open(path, "w", encoding="utf-8") as file:
        file.writelines(",".join(map(repr, row)) + "\n" for row in _lists(inputs, "rows"))
    call = "from refclust.cli.app import main; main()"
    return spawned("-c", call, "fit", "kmeans", path, "-k", str(facts["k"]), "--json")


def spawned(*arguments: str) -> Work:
    """A new Python with these arguments, which must end well."""
    command = [sys.executable, *arguments]

    def run() -> None:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            last = done.stderr.strip().splitlines()[-1:] or ["nothing on stderr"]
            raise RuntimeError(f"the command ended with {done.returncode}: {last[0]}")

    return Work(run, lambda _: Outcome(), outside=True)


def agglomerative(inputs: Input, options: Mapping[str, Any]) -> Work:
    """A tree of merges, cut."""
    from refclust.cluster.hierarchical import agglomerative as fit

    x, k = rows(inputs), inputs.facts["k"]
    more: dict[str, Any] = {"linkage": options["linkage"], "backend": options["backend"]}

    def outcome(tree: Any) -> Outcome:
        heights = math.fsum(merge.height for merge in tree.merges)
        details = {"kernels": _kernels(tree.provenance)}
        return Outcome(partition(tree.labels), None, heights, details)

    return Work(lambda: fit(x, k=k, **more), outcome)


def variances(inputs: Input) -> list[float]:
    """The variance of every column, for all components to start with.

    Spec: none (made-up data)
    """
    d, flat = inputs.facts["d"], inputs.buffers["rows"]
    spreads = []
    for j in range(d):
        column = flat[j::d]
        mean = math.fsum(column) / len(column)
        spreads.append(math.fsum((x - mean) ** 2 for x in column) / len(column))
    return spreads


def probabilities(inputs: Input) -> list[list[float]]:
    """The words of the documents to start from, each counted once more.

    Spec: none (made-up data)
    """
    d, flat = inputs.facts["d"], inputs.buffers["centres"]
    documents = [flat[begin : begin + d] for begin in range(0, len(flat), d)]
    totals = [math.fsum(document) + d for document in documents]
    return [
        [(x + 1.0) / whole for x in document]
        for document, whole in zip(documents, totals, strict=True)
    ]


def gaussian(inputs: Input, options: Mapping[str, Any]) -> Work:
    """A Gaussian mixture from given means, the variances of the data, and equal shares."""
    from refclust.mixture.families.gaussian.parameters import GaussianParameters
    from refclust.mixture.families.named.gaussian import gaussian_mixture

    d, k, spread = inputs.facts["d"], inputs.facts["k"], variances(inputs)
    full = options["covariance"] == "full"
    block = [spread[i] if i == j else 0.0 for i in range(d) for j in range(d)] if full else spread
    start = GaussianParameters(
        (1.0 / k,) * k,
        tuple(map(tuple, _lists(inputs, "centres"))),
        (tuple(block),) * k,
        "full" if full else "diagonal",
    )
    return _mixture(gaussian_mixture, inputs, options, start, covariance=options["covariance"])


def multinomial(inputs: Input, options: Mapping[str, Any]) -> Work:
    """A multinomial mixture from given probabilities and equal shares."""
    from refclust.kernels.centres import CentreMatrix
    from refclust.mixture.families.counts.parameters import CountParameters
    from refclust.mixture.families.named.multinomial import multinomial_mixture

    k = inputs.facts["k"]
    start = CountParameters((1.0 / k,) * k, CentreMatrix.of(probabilities(inputs)))
    return _mixture(multinomial_mixture, inputs, options, start)


def _mixture(fit: Any, inputs: Input, options: Mapping[str, Any], start: Any, **more: Any) -> Work:
    x = rows(inputs)
    more |= {"limit": options["limit"], "backend": options["backend"]}

    def outcome(answer: Any) -> Outcome:
        details = {"kernels": _kernels(answer.provenance)}
        return Outcome(None, answer.iterations, answer.log_likelihood / answer.n, details)

    return Work(lambda: fit(x, parameters=start, tolerance=None, trace="none", **more), outcome)

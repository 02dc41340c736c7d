"""The facts of a call, and what the wrong calls of a kernel have in common (chapter 81).

A fault that shows for one size or one kind of number is told best by saying so: "wrong in 15 of 600
calls: those with K from 33 to 47". Realises no clause.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any, Final, TypeAlias

from refclust.data.dataset import Dataset, Sparse
from refclust.kernels.centres import CentreMatrix
from refclust.kernels.contingency import LabelPairs
from refclust.kernels.mixtures.gaussian import Gaussians
from refclust.kernels.mixtures.multinomial import Terms
from refclust.kernels.mixtures.shared import Rule

Fact: TypeAlias = int | str
Facts: TypeAlias = Mapping[str, Fact]
Trial: TypeAlias = tuple[Facts, bool]  # the facts of a call, and whether it was right

_USUAL: Final = ("none", "float64", "euclidean", "objects", "of format 'q'")
# Kernels whose second argument says how many clusters there are.
_SECOND: Final = frozenset((
    *("kmeans.accumulate", "kmeans.squares", "gaussian.moments", "multinomial.moments"),
    *("silhouette.distance_sums", "silhouette.fine_sums", "pairs.extremes"),
))  # fmt: skip
_NUMBERS: Final = ("n", "d", "K", "top", "samples", "candidates", "call", "threads")


def facts_of(kernel: str, data: Any, args: Sequence[Any]) -> dict[str, Fact]:
    """What can be told about a call in a few words.

    >>> facts_of("contingency.table", LabelPairs([1], [2]), ())
    {'n': 1, 'labels': 'objects', 'weights': 'none'}
    """
    facts = dict(_of_rows(data)) if isinstance(data, Dataset) else _of_labels(data)
    if kernel == "linkage.agglomerate":
        facts |= {"n": args[0], "linkage": args[1]}
    facts |= _of_arguments(kernel, args)
    n, k = facts.get("n"), facts.get("K")
    if isinstance(n, int) and isinstance(k, int) and k >= n:
        facts["clusters"] = "more than rows" if k > n else "as many as rows"
    return facts


@lru_cache(maxsize=4096)
def _of_rows(data: Dataset) -> tuple[tuple[str, Fact], ...]:
    """The facts of rows, looked at once."""
    matrix = data.matrix
    facts: dict[str, Fact] = {"n": data.n, "d": data.d, "rows": data.kind}
    facts["numbers"] = "float32" if matrix.values.format == "f" else "float64"
    facts["weights"] = "none" if data.weights is None else _weights(data.weights)
    if isinstance(matrix, Sparse):
        facts["columns"] = f"of format {matrix.columns.format!r}"
        facts["zeros"] = "none" if all(matrix.values) else "stored"
    return tuple(facts.items())


def _of_labels(data: Any) -> dict[str, Fact]:
    if not isinstance(data, LabelPairs):
        return {}
    labels = data.clusters
    named = f"of format {labels.format!r}" if isinstance(labels, memoryview) else "objects"
    weights = "none" if data.weights is None else "given"
    return {"n": len(data.classes), "labels": named, "weights": weights}


def _weights(weights: memoryview) -> str:
    if any(not w and math.copysign(1.0, w) < 0 for w in weights):
        return "with -0.0"
    if not all(weights):
        return "with 0"
    return "all equal" if len(set(weights)) == 1 else "given"


def _of_arguments(kernel: str, args: Sequence[Any]) -> dict[str, Fact]:
    facts: dict[str, Fact] = {}
    k = _clusters(kernel, args)
    if k is not None:
        facts["K"] = k
    if kernel == "seeding.best_candidate":
        facts["candidates"] = len(args[1])
    if kernel in ("kmeans.assign", "kmeans.lloyd_step", "distances.pairwise"):
        facts["metric"] = args[-1]
    for arg in args:
        match arg:
            case Rule(draws=draws, samples=samples) if draws is not None:
                facts["samples"] = samples
            case Rule(top=top):
                facts["top"] = top
            case Gaussians(form=form):
                facts["form"] = form
            case str() if arg in ("full", "diagonal", "spherical"):
                facts["form"] = arg
    return facts


def _clusters(kernel: str, args: Sequence[Any]) -> int | None:
    if kernel in _SECOND:
        return int(args[1])
    for arg in args:
        if isinstance(arg, Gaussians | Terms):
            return arg.k
        if isinstance(arg, CentreMatrix):
            return len(arg)
        if isinstance(arg, tuple) and arg and isinstance(arg[0], tuple):
            return len(arg)
        if hasattr(arg, "weights") and isinstance(arg.weights, tuple):
            return len(arg.weights)
        if hasattr(arg, "centres"):
            return len(arg.centres)
    return None


def facts_in_words(facts: Facts) -> str:
    """Facts in words.

    >>> facts_in_words({"n": 65, "d": 3, "rows": "sparse", "weights": "none"})
    'n = 65, d = 3, sparse rows'
    """
    words = []
    for name, fact in facts.items():
        if name in _NUMBERS:
            words.append(f"{name} = {fact}")
        elif name == "rows":
            words.append(f"{fact} rows")
        elif fact not in _USUAL:
            words.append(_word(name, fact))
    return ", ".join(words)


def common(trials: Iterable[Trial]) -> str:
    """What all wrong calls have in common and no right one has, or nothing.

    >>> common([({"K": k}, not 3 <= k <= 5) for k in range(9)])
    'wrong in 3 of 9 calls: those with K from 3 to 5'
    """
    known = list(trials)
    wrong = [facts for facts, right in known if not right]
    if not wrong or len(wrong) == len(known):
        return ""
    right = [facts for facts, good in known if good]
    shared = _pair(wrong, right)
    shared += filter(None, (_range(name, wrong, right) for name in _NUMBERS))
    among = f"wrong in {len(wrong)} of {len(known)} calls"
    if shared:
        return f"{among}: those with {', or '.join(shared)}"
    same = [_word(name, fact) for name, fact in wrong[0].items()
            if name not in _NUMBERS and fact not in _USUAL
            and all(facts.get(name) == fact for facts in wrong)]  # fmt: skip
    return f"{among}, all with {', '.join(same)}" if same else among


def _range(name: str, wrong: Sequence[Facts], right: Sequence[Facts]) -> str:
    """A number that only wrong calls have, or a range of it."""
    values = [facts.get(name) for facts in wrong]
    if not all(isinstance(value, int) for value in values):
        return ""
    numbers = [int(value) for value in values if value is not None]
    low, high = min(numbers), max(numbers)
    others = [int(facts[name]) for facts in right if name in facts]
    if any(low <= other <= high for other in others):
        return ""
    if low == high:
        return f"{name} = {low}"
    if all(other < low for other in others):
        return f"{name} from {low} on"
    return f"{name} from {low} to {high}"


def _pair(wrong: Sequence[Facts], right: Sequence[Facts]) -> list[str]:
    """Words that all wrong calls share, one or two of which no right call has together."""
    first = wrong[0]
    same = [
        name
        for name, fact in first.items()
        if name not in _NUMBERS and all(facts.get(name) == fact for facts in wrong)
    ]
    sets = [(name,) for name in same] + [(a, b) for i, a in enumerate(same) for b in same[:i]]
    for names in sets:
        if not any(all(facts.get(name) == first[name] for name in names) for facts in right):
            return [" and ".join(_word(name, first[name]) for name in names)]
    return []


def _word(name: str, fact: Fact) -> str:
    if fact == "none":
        return f"no {name}"
    if fact in ("stored", "sparse", "dense"):
        return f"{fact} {name}"
    if name in ("numbers", "metric", "form", "linkage"):
        return str(fact)
    return name if fact == "given" else f"{name} {fact}"

"""The facts of a call, and what the wrong calls of a kernel have in common (chapter 81).

A fault that shows for one size or one kind of number is told best by saying so: "wrong in 15 of 600
calls: those with K from 33 to 47". Realises no clause.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, TypeAlias

from refclust.data.dataset import Dataset
from refclust.kernels.centres import CentreMatrix
from refclust.kernels.contingency import LabelPairs
from refclust.kernels.gaussian import Gaussians
from refclust.kernels.mixture import Rule
from refclust.kernels.multinomial import Terms

Fact: TypeAlias = int | str
Facts: TypeAlias = Mapping[str, Fact]
Trial: TypeAlias = tuple[Facts, bool]  # the facts of a call, and whether it was right

_NUMBERS: Final = ("n", "d", "K", "top", "samples", "candidates", "call", "threads")


def facts_of(kernel: str, data: Any, args: Sequence[Any]) -> dict[str, Fact]:
    """What can be told about a call in a few words.

    >>> facts_of("contingency.table", LabelPairs([1], [2]), ())
    {'n': 1, 'labels': 'objects', 'weights': 'none'}
    """
    found: dict[str, Fact] = {}
    match data:
        case Dataset(matrix=matrix):
            found |= {"n": data.n, "d": data.d, "rows": data.kind}
            found["numbers"] = "float32" if matrix.values.format == "f" else "float64"
            found["weights"] = "none" if data.weights is None else "given"
        case LabelPairs(clusters=clusters, classes=classes, weights=weights):
            named = f"of format {clusters.format!r}" if isinstance(clusters, memoryview) else ""
            found |= {"n": len(classes), "labels": named or "objects"}
            found["weights"] = "none" if weights is None else "given"
        case _ if kernel == "linkage.agglomerate":
            found |= {"n": args[0], "linkage": args[1]}
    found |= _of_arguments(kernel, args)
    return found


def _of_arguments(kernel: str, args: Sequence[Any]) -> dict[str, Fact]:
    found: dict[str, Fact] = {}
    k = _clusters(kernel, args)
    if k is not None:
        found["K"] = k
    if kernel == "seeding.best_candidate":
        found["candidates"] = len(args[1])
    if kernel in ("kmeans.assign", "kmeans.lloyd_step", "distances.pairwise"):
        found["metric"] = args[-1]
    for arg in args:
        match arg:
            case Rule(draws=draws, samples=samples) if draws is not None:
                found["samples"] = samples
            case Rule(top=top):
                found["top"] = top
            case Gaussians(form=form):
                found["form"] = form
            case str() if arg in ("full", "diagonal", "spherical"):
                found["form"] = arg
    return found


def _clusters(kernel: str, args: Sequence[Any]) -> int | None:
    if kernel in ("kmeans.accumulate", "kmeans.squares", "gaussian.moments", "multinomial.moments"):
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


def told(facts: Facts) -> str:
    """Facts in words.

    >>> told({"n": 65, "d": 3, "rows": "sparse", "weights": "none"})
    'n = 65, d = 3, sparse rows'
    """
    words = []
    for name, fact in facts.items():
        if name in _NUMBERS:
            words.append(f"{name} = {fact}")
        elif name in ("rows", "labels"):
            words.append(f"{fact} {name}" if name == "rows" else f"{name} {fact}")
        elif fact not in ("none", "float64", "euclidean", "objects"):
            words.append("weights" if name == "weights" else str(fact))
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
    shared = list(filter(None, (_range(name, wrong, right) for name in _NUMBERS)))
    shared = shared or _pair(wrong, right)
    among = f"wrong in {len(wrong)} of {len(known)} calls"
    return f"{among}: those with {shared[0]}" if shared else among


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
    return f"no {name}" if fact == "none" else name if fact == "given" else f"{name} {fact}"

"""Record what other Python libraries print for external clustering metrics.

The observations are evidence, not truth: they show the conventions that the
profiles of refclust reproduce as rules, together with the rounding accidents
and bugs that they do not.  One JSON file per library is written beside this
script (or into the folder given with --out).

To rerun, install the pinned versions into a virtual environment of their own

    pip install scikit-learn==1.9.1 genieclust==1.3.0
    pip install torch==2.13.0 torchmetrics==1.9.0 torch_linear_assignment==0.1.0

and call

    python observe.py sklearn genieclust torchmetrics

The R libraries are observed by observe.R, on the same labelings.

File format: {"library", "version", "precision", "functions", "cases"}.
"functions" maps a key to the expression that was evaluated, in which
`labels_true` and `labels_pred` stand for the two labelings in the form the
library wants.  A key is a metric key of refclust, or starts with "x:" when
refclust has no metric of that definition.  "cases" holds, per pair of
labelings, one value for every key: a number in shortest round-trip form, a
list of numbers, "nan", "inf", "-inf", or {"error": class of the exception}.
"""

from __future__ import annotations

import argparse
import importlib
import json
import math
import random
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from importlib.metadata import version
from itertools import permutations
from pathlib import Path
from typing import Any

Labels = tuple[int, ...]
Table = tuple[tuple[int, ...], ...]

LARGEST_EXHAUSTIVE = 5
RANDOM_CASES = 30
SEED = 20240229


@dataclass(frozen=True)
class Library:
    """What is called, under which names, and how labels are handed over."""

    name: str
    distribution: str
    precision: str
    modules: tuple[str, ...]
    convert: Callable[[Labels], Any]
    functions: dict[str, str]
    accepts_empty: bool = True


def restricted_growth_strings(n: int) -> Iterator[Labels]:
    """All set partitions of n objects, as labelings in canonical form."""

    def extend(prefix: Labels, used: int) -> Iterator[Labels]:
        if len(prefix) == n:
            yield prefix
            return
        for label in range(used + 1):
            yield from extend((*prefix, label), max(used, label + 1))

    return extend((), 0)


def table_of(labels_true: Labels, labels_pred: Labels) -> Table:
    """Contingency table with rows = clusters and columns = classes."""
    counts = [[0] * (max(labels_true) + 1) for _ in range(max(labels_pred) + 1)]
    for cls, cluster in zip(labels_true, labels_pred, strict=True):
        counts[cluster][cls] += 1
    return tuple(map(tuple, counts))


def canonical(table: Table) -> Table:
    """The smallest table that reordering rows and columns can reach."""
    return min(
        tuple(sorted(tuple(row[j] for j in order) for row in table))
        for order in permutations(range(len(table[0])))
    )


def exhaustive_cases() -> Iterator[tuple[Labels, Labels]]:
    """One pair of labelings per table of up to five objects, up to row and column order."""
    for n in range(1, LARGEST_EXHAUSTIVE + 1):
        seen: set[Table] = set()
        for labels_true in restricted_growth_strings(n):
            for labels_pred in restricted_growth_strings(n):
                key = canonical(table_of(labels_true, labels_pred))
                if key not in seen:
                    seen.add(key)
                    yield labels_true, labels_pred


def named_cases() -> Iterator[tuple[Labels, Labels]]:
    """Larger degenerate and structured pairs."""
    for n in (6, 7, 9, 12, 30):
        one, singletons, halves = (0,) * n, tuple(range(n)), tuple(2 * i // n for i in range(n))
        yield one, one
        yield singletons, singletons
        yield one, singletons
        yield singletons, one
        yield one, halves
        yield halves, one
        yield halves, halves
        yield halves, singletons
        yield singletons, halves
    for rows, columns, count in ((2, 2, 1), (2, 3, 1), (3, 2, 2), (3, 3, 1), (4, 3, 2), (5, 7, 1)):
        cells = [(i, j) for i in range(rows) for j in range(columns) for _ in range(count)]
        yield tuple(j for _, j in cells), tuple(i for i, _ in cells)


def relabel(labels: list[int]) -> Labels:
    """Number labels 0, 1, … in order of first appearance."""
    names: dict[int, int] = {}
    return tuple(names.setdefault(label, len(names)) for label in labels)


def random_cases() -> Iterator[tuple[Labels, Labels]]:
    """Random pairs of 6 to 60 objects, from independent to nearly equal labelings."""
    draw = random.Random(SEED).random
    for case in range(RANDOM_CASES):
        n = 6 + int(draw() * 55)
        classes, clusters = 2 + int(draw() * 6), 2 + int(draw() * 6)
        if case % 2:
            clusters = classes
        agreement = (0.0, 0.5, 0.9)[case % 3]
        labels_true = [int(draw() * classes) for _ in range(n)]
        labels_pred = [
            label % clusters if draw() < agreement else int(draw() * clusters)
            for label in labels_true
        ]
        if case % 5 == 4:  # some clusters of one object
            labels_pred[: n // 4] = range(clusters, clusters + n // 4)
        yield relabel(labels_true), relabel(labels_pred)


def all_cases() -> Iterator[tuple[Labels, Labels]]:
    """Empty input, then small tables, named cases and random cases."""
    yield (), ()
    yield from exhaustive_cases()
    yield from named_cases()
    yield from random_cases()


def to_tensor(labels: Labels) -> Any:
    """Labels as a tensor of 64-bit integers."""
    import torch

    return torch.tensor(labels, dtype=torch.int64)


def to_array(labels: Labels) -> Any:
    """Labels as an array of 64-bit integers."""
    import numpy

    return numpy.array(labels, dtype=numpy.int64)


AVERAGES = ("arithmetic", "geometric", "max", "min")


def sklearn_library() -> Library:
    """The external metrics of sklearn.metrics.cluster."""
    pair = "(labels_true, labels_pred)"
    functions = {
        "rand": f"rand_score{pair}",
        "adjusted_rand": f"adjusted_rand_score{pair}",
        "fowlkes_mallows": f"fowlkes_mallows_score{pair}",
        "x:pair_confusion_matrix": f"pair_confusion_matrix{pair}.ravel().tolist()",
        "entropy_classes": "entropy(labels_true)",
        "entropy_clusters": "entropy(labels_pred)",
        "mutual_information": f"mutual_info_score{pair}",
        "expected_mutual_information": "expected_mutual_information("
        "contingency_matrix(labels_true, labels_pred, sparse=True), len(labels_true))",
        "homogeneity": f"homogeneity_score{pair}",
        "completeness": f"completeness_score{pair}",
        "v_measure": f"v_measure_score{pair}",
        "v_measure[beta=0]": "v_measure_score(labels_true, labels_pred, beta=0)",
        "v_measure[beta=1/2]": "v_measure_score(labels_true, labels_pred, beta=0.5)",
        "v_measure[beta=2]": "v_measure_score(labels_true, labels_pred, beta=2)",
    }
    for short, function, default in (
        ("nmi", "normalized_mutual_info_score", "geometric"),
        ("ami", "adjusted_mutual_info_score", "arithmetic"),
    ):
        for average in AVERAGES:
            key = short if average == default else f"{short}[average={average}]"
            functions[key] = f"{function}(labels_true, labels_pred, average_method={average!r})"
    return Library(
        "sklearn",
        "scikit-learn",
        "binary64",
        ("sklearn.metrics.cluster",),
        to_array,
        functions,
    )


def genieclust_library() -> Library:
    """The scores of genieclust.compare_partitions, reference labels first."""
    pair = "(labels_true, labels_pred)"
    functions = {
        "rand": f"rand_score{pair}",
        "adjusted_rand": f"adjusted_rand_score{pair}",
        "fowlkes_mallows": f"fm_score{pair}",
        "adjusted_fowlkes_mallows": f"adjusted_fm_score{pair}",
        "mutual_information": f"mi_score{pair}",
        "nmi[average=arithmetic]": f"normalized_mi_score{pair}",
        "ami": f"adjusted_mi_score{pair}",
        "nca": f"normalized_clustering_accuracy{pair}",
        "npa": f"normalized_pivoted_accuracy{pair}",
        "psi": f"pair_sets_index{pair}",
        "x:psi_unclipped": "pair_sets_index(labels_true, labels_pred, clipped=False)",
        "simplified_psi": "pair_sets_index(labels_true, labels_pred, simplified=True)",
        "x:compare_partitions_nca": f"compare_partitions{pair}['nca']",
    }
    # Empty input is not observed: 1.3.0 reads past the end of the empty array.
    return Library(
        "genieclust",
        "genieclust",
        "binary64",
        ("genieclust.compare_partitions",),
        to_array,
        functions,
        accepts_empty=False,
    )


def torchmetrics_library() -> Library:
    """The external metrics of torchmetrics.functional, predictions first."""
    pair = "(labels_pred, labels_true)"
    sizes = "num_classes=max(2, len(labels_pred.unique()), len(labels_true.unique()))"
    functions = {
        "rand": f"rand_score{pair}",
        "adjusted_rand": f"adjusted_rand_score{pair}",
        "fowlkes_mallows": f"fowlkes_mallows_index{pair}",
        "matching_accuracy": f"cluster_accuracy(labels_pred, labels_true, {sizes})",
        "mutual_information": f"mutual_info_score{pair}",
        "homogeneity": f"homogeneity_score{pair}",
        "completeness": f"completeness_score{pair}",
        "v_measure": f"v_measure_score{pair}",
        "v_measure[beta=0]": "v_measure_score(labels_pred, labels_true, beta=0)",
        "v_measure[beta=1/2]": "v_measure_score(labels_pred, labels_true, beta=0.5)",
        "v_measure[beta=2]": "v_measure_score(labels_pred, labels_true, beta=2)",
        "cramers_v": "cramers_v(labels_pred, labels_true, bias_correction=False)",
        "x:cramers_v_bias_corrected": f"cramers_v{pair}",
        "theils_u[predict=clusters]": f"theils_u{pair}",
        "theils_u": "theils_u(labels_true, labels_pred)",
    }
    for short, function, default in (
        ("nmi", "normalized_mutual_info_score", "geometric"),
        ("ami", "adjusted_mutual_info_score", "arithmetic"),
    ):
        for average in AVERAGES:
            key = short if average == default else f"{short}[average={average}]"
            functions[key] = f"{function}(labels_pred, labels_true, average_method={average!r})"
    return Library(
        "torchmetrics",
        "torchmetrics",
        "binary32",
        ("torchmetrics.functional.nominal", "torchmetrics.functional.clustering"),
        to_tensor,
        functions,
    )


LIBRARIES = {
    "sklearn": sklearn_library,
    "genieclust": genieclust_library,
    "torchmetrics": torchmetrics_library,
}


def encode(value: Any) -> Any:
    """A returned value as JSON: number, list, or the name of a special float."""
    if isinstance(value, list):
        return [encode(item) for item in value]
    number = value.item() if hasattr(value, "item") else value
    if isinstance(number, float) and not math.isfinite(number):
        return "nan" if math.isnan(number) else "inf" if number > 0 else "-inf"
    return number


def observe(library: Library) -> dict[str, Any]:
    """Evaluate every function of the library on every case."""
    names: dict[str, Any] = {}
    for module in library.modules:
        names |= vars(importlib.import_module(module))
    cases = []
    for labels_true, labels_pred in all_cases():
        if not labels_true and not library.accepts_empty:
            continue
        values = {}
        for key, expression in library.functions.items():
            # Converted anew each time: a function may change its argument.
            given = {
                "labels_true": library.convert(labels_true),
                "labels_pred": library.convert(labels_pred),
            }
            try:
                values[key] = encode(eval(expression, names | given))
            except Exception as error:  # any class is an observation
                values[key] = {"error": type(error).__name__}
        cases.append({"labels_true": labels_true, "labels_pred": labels_pred, "values": values})
    return {
        "library": library.name,
        "version": version(library.distribution),
        "precision": library.precision,
        "functions": library.functions,
        "cases": cases,
    }


def write(observation: dict[str, Any], path: Path) -> None:
    """Write one case a line, so that differences between versions are readable."""
    dumps = partial(json.dumps, ensure_ascii=False, separators=(",", ":"), sort_keys=True)
    head = {key: value for key, value in observation.items() if key != "cases"}
    lines = ",\n".join(map(dumps, observation["cases"]))
    opening = dumps(head).removesuffix("}")
    path.write_text(f'{opening},"cases":[\n{lines}\n]}}\n', encoding="utf-8")


def main() -> None:
    """Observe the libraries named on the command line."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("library", nargs="+", choices=sorted(LIBRARIES))
    parser.add_argument("--out", type=Path, default=Path(__file__).parent)
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    for name in arguments.library:
        write(observe(LIBRARIES[name]()), arguments.out / f"{name}.json")


if __name__ == "__main__":
    main()

"""Metrics of pairs of objects from their definitions: copies written out, loops over all pairs."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from .exact import Node
from .surds import Quotient, Surd, divide, larger, smaller, total, value_of
from .values import Infinite, Irrational, Undefined, Value

F = Fraction
Row = Sequence[Fraction]
ZERO = Surd.of(0)


@dataclass(frozen=True, slots=True)
class Objects:
    """Objects with copies written out: labels, proximities, and rows if there are any."""

    labels: tuple[int, ...]
    matrix: tuple[tuple[Surd, ...], ...]
    rows: tuple[Row, ...] | None
    listed: tuple[int, ...]  # the place of the first copy of each listed object

    @staticmethod
    def of_rows(rows: Sequence[Row], labels: Sequence[int], weights: Sequence[int]) -> Objects:
        """Objects by their rows."""
        copies = [i for i, w in enumerate(weights) for _ in range(w)]
        table = [[Surd.root(_square(rows[i], rows[j])) for j in copies] for i in copies]
        return Objects(
            tuple(labels[i] for i in copies),
            tuple(map(tuple, table)),
            tuple(rows[i] for i in copies),
            tuple(copies.index(i) for i in range(len(rows))),
        )

    @staticmethod
    def of_matrix(matrix: Sequence[Row], labels: Sequence[int]) -> Objects:
        """Objects by their proximities."""
        table = tuple(tuple(Surd.of(w) for w in row) for row in matrix)
        return Objects(tuple(labels), table, None, tuple(range(len(labels))))

    @property
    def clusters(self) -> list[list[int]]:
        """The objects of each cluster, by their places."""
        return [
            [i for i, y in enumerate(self.labels) if y == name] for name in sorted(set(self.labels))
        ]

    @property
    def pairs(self) -> list[tuple[int, int]]:
        """All pairs of objects."""
        return list(itertools.combinations(range(len(self.labels)), 2))

    def inside(self, i: int, j: int) -> bool:
        """Whether two objects share a cluster."""
        return self.labels[i] == self.labels[j]

    def sums(self, s: Sequence[int], r: Sequence[int]) -> Surd:
        """The proximities of all ordered pairs."""
        return total(self.matrix[i][j] for i in s for j in r)


def _square(x: Row, y: Row) -> Fraction:
    return sum(((a - b) ** 2 for a, b in zip(x, y, strict=True)), F(0))


def _centre(objects: Objects, members: Sequence[int]) -> Row:
    assert objects.rows is not None
    columns = zip(*(objects.rows[i] for i in members), strict=True)
    return [sum(column, F(0)) / len(members) for column in columns]


def _to(objects: Objects, members: Sequence[int], centre: Row) -> Surd:
    assert objects.rows is not None
    return total(Surd.root(_square(objects.rows[i], centre)) for i in members)


def cuts(objects: Objects) -> dict[str, Value]:
    """Sums of proximities, cuts and the modularity."""
    everyone = range(len(objects.labels))
    inside, outside, volumes = [], [], []
    for members in objects.clusters:
        others = [i for i in everyone if i not in members]
        inside.append(objects.sums(members, members))
        outside.append(objects.sums(members, others))
        volumes.append(objects.sums(members, everyone))
    n, whole = len(objects.labels), objects.sums(everyone, everyone)
    half, sizes = F(1, 2), [len(c) for c in objects.clusters]
    diagonal = [objects.matrix[i][i] for i in everyone]
    within = [objects.matrix[i][j] for i, j in objects.pairs if objects.inside(i, j)]
    between = [objects.matrix[i][j] for i, j in objects.pairs if not objects.inside(i, j)]
    loose = [divide(a, whole) for a in inside]
    square = whole * whole
    chance = [divide(ZERO - v * v, square) for v in volumes]
    return {
        "weight_inside": tuple(w.value() for w in inside),
        "volumes": tuple(v.value() for v in volumes),
        "weight_within": (total(within) + total(diagonal).times(half)).value(),
        "weight_between": total(between).value(),
        "normalized_cut": value_of(divide(o, v) for o, v in zip(outside, volumes, strict=True)),
        "ratio_cut": total(o.times(F(1, k)) for o, k in zip(outside, sizes, strict=True)).value(),
        "ratio_cut[per=all]": total(outside).times(F(1, n)).value(),
        "modularity": value_of([*loose, *chance]),
    }


# -- silhouettes ----------------------------------------------------------------------------


def _width(a: Surd, b: Surd) -> Quotient:
    """One less the smaller over the larger, with the sign of what is good."""
    if not (a - b).terms:
        return Quotient(ZERO, Surd.of(1))
    return Quotient(b - a, larger(a, b))


def _least(numbers: Sequence[Surd]) -> Surd:
    values = numbers[0]
    for number in numbers[1:]:
        values = smaller(values, number)
    return values


def widths(objects: Objects) -> list[Quotient] | None:
    """The silhouettes of all objects; none where there is one cluster."""
    if len(objects.clusters) == 1:
        return None
    values = []
    for i, label in enumerate(objects.labels):
        own = [j for j, y in enumerate(objects.labels) if y == label and j != i]
        others = [c for c in objects.clusters if i not in c]
        if not own:
            values.append(Quotient(ZERO, Surd.of(1)))
            continue
        a = objects.sums([i], own).times(F(1, len(own)))
        b = _least([objects.sums([i], c).times(F(1, len(c))) for c in others])
        values.append(_width(a, b))
    return values


def _scaled(quotient: Quotient, factor: Fraction) -> Quotient:
    return Quotient(quotient.top.times(factor), quotient.bottom)


def silhouettes(objects: Objects) -> dict[str, Value]:
    """Silhouettes of objects and clusters, and their means."""
    values = widths(objects)
    keys = ("silhouettes", "silhouette", "silhouette[average=clusters]", "silhouette[cluster=0]")
    larger_key = "silhouette[average=larger]"
    if values is None:
        return {key: Undefined() for key in (*keys[1:], larger_key, "medoid_silhouette")}
    n, clusters = len(values), objects.clusters
    by_cluster = [
        _scaled(values[i], F(1, len(clusters) * len(members)))
        for members in clusters
        for i in members
    ]
    large = [members for members in clusters if len(members) > 1]
    by_larger = [
        _scaled(values[i], F(1, len(large) * len(members))) for members in large for i in members
    ]
    first = [_scaled(values[i], F(1, len(clusters[0]))) for i in clusters[0]]
    medoids = [_medoid(objects, members) for members in clusters]
    away = []
    for i, label in enumerate(objects.labels):
        lengths = {objects.labels[m]: objects.matrix[i][m] for m in medoids}
        own = lengths.pop(label)
        away.append(_scaled(_width(own, _least(list(lengths.values()))), F(1, n)))
    return {
        keys[0]: tuple(value_of([values[i]]) for i in objects.listed),
        keys[1]: value_of(_scaled(s, F(1, n)) for s in values),
        keys[2]: value_of(by_cluster),
        keys[3]: value_of(first),
        larger_key: value_of(by_larger) if large else Undefined(),
        "medoid_silhouette": value_of(away),
        "medoids": tuple(F(_place(objects, m)) for m in medoids),
    }


def _medoid(objects: Objects, members: Sequence[int]) -> int:
    sums = [objects.sums([i], members) for i in members]
    best = 0
    for place, number in enumerate(sums):
        if (number - sums[best]).sign() < 0:
            best = place
    return members[best]


def _place(objects: Objects, i: int) -> int:
    """The place of the listed object that a copy belongs to."""
    return max(place for place, first in enumerate(objects.listed) if first <= i)


# -- Dunn -----------------------------------------------------------------------------------

SEPARATIONS = ("nearest", "farthest", "mean", "centres", "own_centres", "hausdorff")
DIAMETERS = ("farthest", "mean", "centre")
INDICES = (
    *itertools.product(SEPARATIONS, DIAMETERS),
    ("to_centre", "farthest"),
    ("centres", "radius"),
)


def _separation(objects: Objects, x: list[int], y: list[int], way: str) -> Surd:
    lengths = [objects.matrix[i][j] for i in x for j in y]
    if way == "nearest":
        return _least(lengths)
    if way == "farthest":
        return _most(lengths)
    if way == "mean":
        return total(lengths).times(F(1, len(lengths)))
    if way == "centres":
        return Surd.root(_square(_centre(objects, x), _centre(objects, y)))
    if way == "own_centres":
        own = [_to(objects, part, _centre(objects, part)) for part in (x, y)]
        return total(own).times(F(1, len(x) + len(y)))
    if way == "to_centre":
        return _least([_to(objects, [j], _centre(objects, x)) for j in y])
    there = [_least([objects.matrix[i][j] for j in y]) for i in x]
    back = [_least([objects.matrix[i][j] for i in x]) for j in y]
    return _most(there + back)


def _most(numbers: Sequence[Surd]) -> Surd:
    values = numbers[0]
    for number in numbers[1:]:
        values = larger(values, number)
    return values


def _diameter(objects: Objects, x: list[int], way: str) -> Surd:
    lengths = [objects.matrix[i][j] for i, j in itertools.combinations(x, 2)]
    if not lengths:
        return ZERO
    if way == "farthest":
        return _most(lengths)
    if way == "mean":
        return total(lengths).times(F(1, len(lengths)))
    if way == "radius":
        return _most([_to(objects, [i], _centre(objects, x)) for i in x])
    return _to(objects, x, _centre(objects, x)).times(F(2, len(x)))


def dunn(objects: Objects) -> dict[str, Value]:
    """All of the generalised Dunn indices that the evidence allows."""
    values: dict[str, Value] = {}
    for between, within in INDICES:
        needs_rows = "centre" in between or within in ("centre", "radius")
        if needs_rows and objects.rows is None:
            continue
        options = [f"between={between}"] if between != "nearest" else []
        options += [f"within={within}"] if within != "farthest" else []
        key = f"dunn[{','.join(options)}]" if options else "dunn"
        if len(objects.clusters) == 1:
            values[key] = Undefined()
            continue
        parts = itertools.combinations(objects.clusters, 2)
        apart = _least([_separation(objects, x, y, between) for x, y in parts])
        wide = _most([_diameter(objects, x, within) for x in objects.clusters])
        values[key] = value_of([divide(apart, wide)])
    return values


# -- pairs ----------------------------------------------------------------------------------


def ranks(objects: Objects) -> dict[str, Value]:
    """What compares pairs within clusters with pairs between them."""
    lengths = {pair: objects.matrix[pair[0]][pair[1]] for pair in objects.pairs}
    within = [d for pair, d in lengths.items() if objects.inside(*pair)]
    between = [d for pair, d in lengths.items() if not objects.inside(*pair)]
    plus = sum((d - e).sign() < 0 for d in within for e in between)
    minus = sum((d - e).sign() > 0 for d in within for e in between)
    n, n_w, n_b = len(lengths), len(within), len(between)
    most = n_w * n_b * n * (n - 1)
    values: dict[str, Value] = {
        "pair_counts": (F(n_w), F(n_b)),
        "orders": (F(plus), F(minus)),
        "baker_hubert_gamma": value_of([divide(Surd.of(plus - minus), Surd.of(plus + minus))]),
        "tau_index": value_of([divide(Surd.of(plus - minus), Surd.root(F(most, 2)))]),
        "g_plus": value_of([divide(Surd.of(2 * minus), Surd.of(n * (n - 1)))]),
    }
    order = sorted(lengths.values(), key=_by_length)
    least, largest = total(order[:n_w]), total(order[n - n_w :])
    values["c_index"] = value_of([divide(total(within) - least, largest - least)])
    if not n_w or not n_b:
        keys = ("beta_cv", "point_biserial", "point_biserial_unscaled")
        return values | {key: Undefined() for key in keys}
    near, far = total(within).times(F(1, n_w)), total(between).times(F(1, n_b))
    values["beta_cv"] = value_of([divide(near, far)])
    shares = Surd.root(F(n_w * n_b, n * n))
    values["point_biserial_unscaled"] = ((near - far) * shares).value()
    values["point_biserial"] = correlation(
        [(d, Surd.of(not objects.inside(*pair))) for pair, d in lengths.items()]
    )
    return values


def _by_length(d: Surd) -> Fraction:
    square = (d * d).rational
    assert square is not None
    return square


def correlation(points: Sequence[tuple[Surd, Surd]]) -> Value:
    """Pearson's correlation from means, variances and the covariance of all points."""
    share = F(1, len(points))
    mean_x, mean_y = (total(p[side] for p in points).times(share) for side in (0, 1))
    covariance = total((x - mean_x) * (y - mean_y) for x, y in points)
    spread_x = total((x - mean_x) * (x - mean_x) for x, _ in points)
    spread_y = total((y - mean_y) * (y - mean_y) for _, y in points)
    if not spread_x.terms or not spread_y.terms:
        return Undefined()
    squares = spread_x * spread_y
    exact = squares.rational
    if exact is not None:
        return value_of([divide(covariance, Surd.root(exact))])
    square = value_of([divide(covariance * covariance, squares)])
    if isinstance(square, Fraction):
        return Surd.root(square).times(covariance.sign()).value()
    return Irrational(
        Node("/", (covariance.expr, Node("sqrt", (squares.expr,)))),
        Node(
            "/",
            (
                covariance.written,
                Node("*", (Node("sqrt", (spread_x.written,)), Node("sqrt", (spread_y.written,)))),
            ),
        ),
    )


def hubert(objects: Objects) -> dict[str, Value]:
    """Distances of objects against distances of the centres of their clusters."""
    centres = {objects.labels[c[0]]: _centre(objects, c) for c in objects.clusters}
    points = [
        (
            objects.matrix[i][j],
            Surd.root(_square(centres[objects.labels[i]], centres[objects.labels[j]])),
        )
        for i, j in objects.pairs
    ]
    if not points:
        keys = ("internal_hubert_raw", "internal_hubert_normalized")
        return {key: Undefined() for key in keys}
    return {
        "internal_hubert_raw": total(d * e for d, e in points).times(F(1, len(points))).value(),
        "internal_hubert_normalized": correlation(points),
    }


__all__ = ["Infinite", "Objects", "cuts", "dunn", "hubert", "ranks", "silhouettes"]

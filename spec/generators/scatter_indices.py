"""Internal indices from their definitions: copies for weights, sums over pairs for scatters.

A sum of squares about a mean is found from the squared differences of pairs, so no mean is formed
for it; determinants and inverses are those of python-flint; distances are roots in normal form.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from fractions import Fraction

from flint import fmpq, fmpq_mat

from . import roots
from .exact import Expr, Node
from .roots import Roots, added, largest, root, whole
from .values import ZERO, Infinite, Irrational, Undefined, Value, divide, log

F = Fraction
Row = tuple[Fraction, ...]
Matrix = list[list[Fraction]]


class Clusters:
    """Rows by clusters, each as often as it weighs."""

    def __init__(self, rows: Sequence[Row], labels: Sequence[int], weights: Sequence[int]) -> None:
        self.rows = [x for x, w in zip(rows, weights, strict=True) for _ in range(w)]
        copied = [y for y, w in zip(labels, weights, strict=True) for _ in range(w)]
        self.own = [
            [x for x, y in zip(self.rows, copied, strict=True) if y == k]
            for k in sorted(set(copied))
        ]
        self.n, self.k, self.p = len(self.rows), len(self.own), len(rows[0])
        self.means = [mean(own) for own in self.own]
        self.within = plus(*map(scatter, self.own))
        self.whole = scatter(self.rows)
        self.between = plus(self.whole, [[-x for x in line] for line in self.within])
        self.w, self.t = trace(self.within), trace(self.whole)
        self.b = self.t - self.w
        self.gaps = {
            pair: squared(self.means[pair[0]], self.means[pair[1]])
            for pair in itertools.combinations(range(self.k), 2)
        }


def mean(rows: Sequence[Row]) -> Row:
    """The mean of rows."""
    return tuple(sum(column, F(0)) / len(rows) for column in zip(*rows, strict=True))


def squared(x: Row, y: Row) -> Fraction:
    """The squared distance of two rows."""
    return sum(((a - b) ** 2 for a, b in zip(x, y, strict=True)), F(0))


def scatter(rows: Sequence[Row]) -> Matrix:
    """The scatter of rows about their mean, by all ordered pairs."""
    p, n = len(rows[0]), len(rows)
    return [
        [
            sum(((a[i] - b[i]) * (a[j] - b[j]) for a in rows for b in rows), F(0)) / (2 * n)
            for j in range(p)
        ]
        for i in range(p)
    ]


def plus(*matrices: Matrix) -> Matrix:
    """The sum of matrices."""
    return [
        [sum(entries, F(0)) for entries in zip(*lines, strict=True)]
        for lines in zip(*matrices, strict=True)
    ]


def trace(matrix: Matrix) -> Fraction:
    """The sum of the diagonal."""
    return sum((matrix[i][i] for i in range(len(matrix))), F(0))


def flint(matrix: Matrix) -> fmpq_mat:
    """The same matrix for python-flint."""
    return fmpq_mat([[fmpq(x.numerator, x.denominator) for x in line] for line in matrix])


def det(matrix: Matrix) -> Fraction:
    """The determinant."""
    number = flint(matrix).det()
    return F(int(number.p), int(number.q))


def trace_of_quotient(top: Matrix, bottom: Matrix) -> Value:
    """The trace of the product with an inverse."""
    if det(bottom) == 0:
        return Undefined()
    product = flint(bottom).inv() * flint(top)
    entries = [product[i, i] for i in range(len(top))]
    return sum((F(int(x.p), int(x.q)) for x in entries), F(0))


def log_of(value: Value, factor: Fraction) -> Value:
    """A multiple of the logarithm of a value."""
    if not isinstance(value, Fraction):
        return value
    return log(value).times(factor).value() if value else Infinite(negative=True)


def sums_of_squares(c: Clusters) -> dict[str, Value]:
    """What comes from W, B and T."""
    own = [(len(rows), trace(scatter(rows))) for rows in c.own]
    means = [w / n for n, w in own]
    logs = ZERO
    for n, w in own:
        logs = logs + log(w / n).times(F(n)) if w else logs
    variance = divide(c.w, F(c.p * (c.n - c.k)))
    return {
        "sse": c.w,
        "bss": c.b,
        "r_squared": divide(c.b, c.t),
        "trace_ratio": divide(c.b, c.w),
        "log_trace_ratio": log_of(divide(c.b, c.w), F(1)),
        "calinski_harabasz": divide(c.b * (c.n - c.k), c.w * (c.k - 1)),
        "rmsstd": root(variance).value() if isinstance(variance, Fraction) else variance,
        "ball_hall": sum(means, F(0)) / c.k,
        "ball_hall[form=sum]": sum(means, F(0)),
        "ball_hall[form=pooled]": c.w / c.k,
        "banfield_raftery": logs.value() if all(means) else Infinite(negative=True),
        "ratkowsky_lance": ratkowsky(c),
    }


def ratkowsky(c: Clusters) -> Value:
    """The root of the mean share of scatter between clusters."""
    shares = [divide(c.between[j][j], c.whole[j][j]) for j in range(c.p)]
    known = [share for share in shares if isinstance(share, Fraction)]
    return root(sum(known, F(0)) / (c.p * c.k)).value() if len(known) == c.p else Undefined()


def determinants(c: Clusters) -> dict[str, Value]:
    """What comes from determinants and inverses."""
    quotient = divide(det(c.whole), det(c.within))
    low, high = min(map(min, c.within)), max(map(max, c.within))
    scaled: Value = Undefined()
    if low != high:
        scaled = c.k**2 * det([[(x - low) / (high - low) for x in line] for line in c.within])
    logs, flat = ZERO, False
    for rows in c.own:
        size = det(scatter(rows)) / len(rows) ** c.p
        flat = flat or not size
        logs = logs + log(size).times(F(len(rows))) if size else logs
    return {
        "relative_trace": trace_of_quotient(c.between, c.within),
        "residual_trace": trace_of_quotient(c.within, c.whole),
        "det_ratio": quotient,
        "log_det_ratio": log_of(quotient, F(c.n)),
        "k_squared_det": c.k**2 * det(c.within),
        "k_squared_det[entries=scaled]": scaled,
        "scott_symons": Infinite(negative=True) if flat else logs.value(),
    }


def length(v: Sequence[Fraction]) -> Roots:
    """The length of a vector."""
    return root(sum((x * x for x in v), F(0)))


def variances(rows: Sequence[Row]) -> list[Fraction]:
    """The variance of each column."""
    return [scatter(rows)[j][j] / len(rows) for j in range(len(rows[0]))]


def bouldin(c: Clusters, spreads: list[Roots], coincident: str) -> Value:
    """The Davies-Bouldin index from the spreads of the clusters."""
    if c.k < 2:
        return Undefined()
    alike: dict[tuple[int, int], Roots] = {}
    missing: list[Value] = []
    for (k, m), gap in c.gaps.items():
        both = added([spreads[k], spreads[m]])
        if gap:
            alike[k, m] = both.over_root(gap)
        elif coincident == "ignored" or (coincident == "zero" and not both.parts):
            alike[k, m] = whole(F(0))
        else:
            missing.append(Infinite() if both.parts else Undefined())
    if missing:
        return Undefined() if Undefined() in missing else Infinite()
    worst = [largest(alike[pair] for pair in alike if k in pair) for k in range(c.k)]
    return added(worst).times(F(1, c.k)).value()


def of_means(c: Clusters) -> dict[str, Value]:
    """What comes from distances of means."""
    away = [
        added(root(squared(x, m)) for x in rows) for rows, m in zip(c.own, c.means, strict=True)
    ]
    first = [d.times(F(1, len(rows))) for d, rows in zip(away, c.own, strict=True)]
    second = [root(trace(scatter(rows)) / len(rows)) for rows in c.own]
    values: dict[str, Value] = {
        "davies_bouldin": bouldin(c, first, "infinite"),
        "davies_bouldin[q=2]": bouldin(c, second, "infinite"),
        "davies_bouldin[coincident=ignored]": bouldin(c, first, "ignored"),
        "davies_bouldin[coincident=zero]": bouldin(c, first, "zero"),
    }
    if c.k < 2:
        keys = (
            "ray_turi", "xie_beni", "xie_beni[separation=points]", "xie_beni[centre=nearest]",
            "pbm", "sd_distances",
        )  # fmt: skip
        return values | dict.fromkeys(keys, Undefined())
    touching = min(squared(x, y) for k, m in c.gaps for x in c.own[k] for y in c.own[m])
    nearest = sum((min(squared(x, m) for m in c.means) for x in c.rows), F(0))
    least = min(c.gaps.values())
    centre = mean(c.rows)
    top = added(root(squared(x, centre)) for x in c.rows)
    return values | {
        "ray_turi": divide(c.w, c.n * least),
        "xie_beni": divide(c.w, c.n * least),
        "xie_beni[separation=points]": divide(c.w, c.n * touching),
        "xie_beni[centre=nearest]": divide(nearest, c.n * least),
        "pbm": times_root(top, max(c.gaps.values()), added(away).times(F(c.k))),
        "sd_distances": distances(c),
    }


def times_root(top: Roots, square: Fraction, bottom: Roots) -> Value:
    """The square of top times a root, over the bottom."""
    product = top.over_root(1 / square) if square else whole(F(0))
    return roots.quotient(product, bottom, 2)


def distances(c: Clusters) -> Value:
    """Dis of the SD index."""
    least, most = min(c.gaps.values()), max(c.gaps.values())
    if not least:
        return Infinite() if most else Undefined()
    stretch = root(most).over_root(least)
    reaches = [added(root(gap) for pair, gap in c.gaps.items() if k in pair) for k in range(c.k)]
    if all(len(reach.parts) == 1 for reach in reaches):
        terms = []
        for reach in reaches:
            ((f, factor),) = reach.parts
            terms.append(root(F(stretch.parts[0][0])).over_root(F(f)).times(1 / factor))
        return added(terms).times(stretch.parts[0][1]).value()
    first, second = (
        Node("*", (long(stretch), Node("+", tuple(Node("/", (F(1), long(r))) for r in reaches))))
        for long in (Roots.expr, lambda number: number.written)
    )
    return Irrational(first, second)


def combined(*terms: tuple[Fraction, Value]) -> Value:
    """A combination of values, which is undefined or infinite if one of them is."""
    values = [value for _, value in terms]
    for kind in (Undefined, Infinite):
        for value in values:
            if isinstance(value, kind):
                return value
    known = [factor * value for factor, value in terms if isinstance(value, Fraction)]
    if len(known) == len(terms):
        return sum(known, F(0))
    first, second = (
        Node("+", tuple(Node("*", (factor, road(value))) for factor, value in terms))
        for road in (_first, _second)
    )
    return Irrational(first, second)


def _first(value: Value) -> Expr:
    assert isinstance(value, Fraction | Irrational)
    return value if isinstance(value, Fraction) else value.first


def _second(value: Value) -> Expr:
    assert isinstance(value, Fraction | Irrational)
    return value if isinstance(value, Fraction) else value.second


def scattering(c: Clusters) -> Value:
    """Scat of the SD index."""
    lengths = added(length(variances(rows)) for rows in c.own).times(F(1, c.k))
    return roots.quotient(lengths, length(variances(c.rows)))


def densities(c: Clusters) -> Value:
    """What S_Dbw adds to Scat."""
    if c.k < 2:
        return Undefined()
    radius = added(length(variances(rows)) for rows in c.own).times(F(1, c.k**2))
    total, missing = F(0), []
    for k, m in c.gaps:
        middle = mean([c.means[k], c.means[m]])
        near = [
            sum(radius.less(whole(squared(x, u))).sign() >= 0 for x in c.own[k] + c.own[m])
            for u in (middle, c.means[k], c.means[m])
        ]
        share = divide(F(near[0]), F(max(near[1:])))
        if isinstance(share, Fraction):
            total += share
        else:
            missing.append(share)
    if missing:
        return Undefined() if Undefined() in missing else Infinite()
    return total / len(c.gaps)


def of_scattering(c: Clusters) -> dict[str, Value]:
    """The SD index and S_Dbw."""
    scat = scattering(c)
    dis = distances(c) if c.k > 1 else Undefined()
    return {
        "sd_scattering": scat,
        "sd": combined((F(1), scat), (F(1), dis)),
        "sd[alpha=5/2]": combined((F(5, 2), scat), (F(1), dis)),
        "s_dbw": combined((F(1), scat), (F(1), densities(c))),
    }


def of_rows(c: Clusters) -> dict[str, Value]:
    """What comes from the distances of rows from all means."""
    if c.k < 2:
        return {"wemmert_gancarski": Undefined(), "simplified_silhouette": Undefined()}
    gains, widths = [], []
    undefined = False
    for k, rows in enumerate(c.own):
        terms, infinite = [whole(F(len(rows)))], False
        for x in rows:
            a = squared(x, c.means[k])
            b = min(squared(x, m) for j, m in enumerate(c.means) if j != k)
            undefined = undefined or a == b == 0
            infinite = infinite or b == 0
            if b:
                terms.append(root(a / b).times(F(-1)))
            if len(rows) > 1:
                low, high = min(a, b), max(a, b)
                width = added([whole(F(1)), root(low / high).times(F(-1))]) if high else whole(F(0))
                widths.append(width.times(F(1 if a <= b else -1)))
        gain = added(terms)
        if not infinite and gain.sign() > 0:
            gains.append(gain)
    return {
        "wemmert_gancarski": (Undefined() if undefined else added(gains).times(F(1, c.n)).value()),
        "simplified_silhouette": added(widths).times(F(1, c.n)).value(),
    }


def size_entropy(c: Clusters) -> Value:
    """The entropy of the sizes."""
    entropy = ZERO
    for rows in c.own:
        entropy = entropy + log(F(c.n, len(rows))).times(F(len(rows), c.n))
    return entropy.value()

"""Chapter 43, entropies and what is made of them, as sums over the cells of the table."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from functools import cache
from math import factorial, lcm

from .exact import ZERO_LOGS, Expr, Logs, Node
from .expectation import URN_LIMIT, Margin, checkable, shuffled_tables, urn
from .tables import Table, make_table
from .values import (
    ZERO,
    Failure,
    Info,
    Irrational,
    Undefined,
    Value,
    divide_geometric,
    divide_info,
    geometric_mean,
    larger,
    log,
    smaller,
)

AVERAGES = ("geometric", "arithmetic", "min", "max", "joint")


def weighted_logs(terms: Iterable[tuple[Fraction, Fraction]]) -> Info:
    """The sum of weight times logarithm; each argument is positive."""
    kept = [(weight, argument) for weight, argument in terms if weight]
    exact = Logs.total((weight, Logs.of(argument)) for weight, argument in kept)
    written = Node(
        "+", tuple(Node("*", (weight, Node("log", (argument,)))) for weight, argument in kept)
    )
    return Info(exact, written)


def entropy(shares: Iterable[Fraction]) -> Info:
    """Minus the sum of p log p; shares of zero add nothing."""
    return weighted_logs((-p, p) for p in shares if p)


def mutual_information(table: Table) -> Info:
    """The sum over cells of p_ij log(p_ij / (p_i p_j))."""
    n, rows, columns = table.total, table.rows, table.columns
    return weighted_logs(
        (x / n, (x / n) / (rows[i] / n * (columns[j] / n))) for i, j, x in table.filled()
    )


def conditional_entropy(table: Table) -> Info:
    """Entropy of the classes inside a cluster, averaged over objects."""
    n, rows = table.total, table.rows
    return weighted_logs((-x / n, x / rows[i]) for i, _, x in table.filled())


def expected_information(rows: Margin, columns: Margin) -> Info | None:
    """Mutual information averaged over all permutations of one label list.

    Cell by cell with urns; where all tables can be listed the exact mean over them must be equal.
    """
    return _expected_information(tuple(sorted(rows)), tuple(sorted(columns)))


@cache
def _expected_information(rows: Margin, columns: Margin) -> Info | None:
    n = sum(rows)
    if n > URN_LIMIT:
        return None
    exact: list[tuple[Fraction, Logs]] = []
    written: list[Expr] = []
    for size in rows:
        for other in columns:
            chances = urn(max(size, other), n - max(size, other), min(size, other))
            scale = lcm(*(chance.denominator for chance in chances))
            coefficients: dict[int, int] = {}
            for count, chance in enumerate(chances):
                if not count or not chance:
                    continue
                argument = Fraction(n * count, size * other)
                whole = count * chance.numerator * (scale // chance.denominator)
                for prime, power in Logs.of(argument).terms.items():
                    coefficients[prime] = coefficients.get(prime, 0) + whole * int(power)
                weight = chance * count / n
                written.append(Node("*", (weight, Node("log", (argument,)))))
            part = Logs({p: Fraction(k, scale * n) for p, k in coefficients.items() if k})
            exact.append((Fraction(1), part))
    result = Info(Logs.total(exact), Node("+", tuple(written)))
    counts = shuffled_tables(rows, columns) if checkable(rows, columns) else None
    if counts is not None:
        over_tables = Logs.total(
            (Fraction(count, factorial(n)), mutual_information(make_table(cells)).exact)
            for cells, count in counts.items()
        )
        assert over_tables == result.exact, "all tables and urns disagree"
    return result


def adjusted(table: Table, information: Info, mean: Info, average: str) -> Value:
    """(I - E) / (average of the entropies - E)."""
    n = table.total
    left = entropy(x / n for x in table.rows)
    right = entropy(x / n for x in table.columns)
    top = information - mean
    if average == "joint":
        return divide_info(top, entropy(x / n for _, _, x in table.filled()) - mean)
    if average != "geometric":
        return divide_info(top, _average(left, right, average) - mean)
    middle = geometric_mean(left, right)
    if middle is not None:
        return divide_info(top, middle - mean)
    if top.zero:
        # The denominator is not zero: sqrt(H H') = E would make H, H' and E proportional with a
        # rational mean, which geometric_mean has excluded.
        return Fraction(0)
    roots = Node("*", (Node("sqrt", (left.exact.expr(),)), Node("sqrt", (right.exact.expr(),))))
    return Irrational(
        Node("/", (top.exact.expr(), Node("-", (roots, mean.exact.expr())))),
        Node(
            "/",
            (
                top.written,
                Node(
                    "-", (Node("sqrt", (Node("*", (left.written, right.written)),)), mean.written)
                ),
            ),
        ),
    )


def _average(left: Info, right: Info, average: str) -> Info:
    match average:
        case "arithmetic":
            return (left + right).times(Fraction(1, 2))
        case "min":
            return smaller(left, right)
        case "max":
            return larger(left, right)
    raise ValueError(average)


def option(name: str, value: str, default: str) -> str:
    """A key with one option, left out when it is the default.

    >>> option("nmi", "min", "geometric")
    'nmi[average=min]'
    """
    return name if value == default else f"{name}[average={value}]"


def metrics(table: Table, bases: tuple[int, ...] = (2,)) -> dict[str, Value]:
    """Every information key of a table; the expected ones left out where out of reach."""
    n = table.total
    clusters = entropy(x / n for x in table.rows)
    classes = entropy(x / n for x in table.columns)
    joint = entropy(x / n for _, _, x in table.filled())
    of_classes, of_clusters = conditional_entropy(table), conditional_entropy(table.transposed())
    information = mutual_information(table)
    distance = of_clusters + of_classes
    quantities = {
        "entropy_clusters": clusters,
        "entropy_classes": classes,
        "joint_entropy": joint,
        "conditional_entropy": of_classes,
        "conditional_entropy[of=clusters]": of_clusters,
        "mutual_information": information,
        "variation_of_information": distance,
    }
    mean = None
    if table.integral:
        mean = expected_information(tuple(map(int, table.rows)), tuple(map(int, table.columns)))
    if mean is not None:
        quantities["expected_mutual_information"] = mean
    result: dict[str, Value] = {}
    for key, quantity in quantities.items():
        result[key] = quantity.value()
        for base in bases:
            result[_with_base(key, base)] = divide_info(quantity, log(Fraction(base)))
    most = larger(clusters, classes)
    result |= {
        "information_ratio": divide_info(information, clusters),
        "information_ratio[of=classes]": divide_info(information, classes),
        "nmi": divide_geometric(information, clusters, classes),
        "nmi_strehl_ghosh": _strehl_ghosh(table),
        "homogeneity": _one_minus(of_classes, classes, information),
        "completeness": _one_minus(of_clusters, clusters, information),
        "normalized_variation_of_information": divide_info(distance, joint),
        "normalized_information_distance": divide_info(most - information, most),
        "nmi[average=joint]": divide_info(information, joint),
    }
    for average in ("arithmetic", "min", "max"):
        result[f"nmi[average={average}]"] = divide_info(
            information, _average(clusters, classes, average)
        )
    for beta in (Fraction(1), Fraction(2), Fraction(1, 2)):
        name = "v_measure" if beta == 1 else f"v_measure[beta={beta}]"
        result[name] = divide_info(information.times(1 + beta), clusters.times(beta) + classes)
    for average in AVERAGES:
        key = option("ami", average, "arithmetic")
        if not table.integral:
            result[key] = Failure("weights-not-integer")
        elif mean is not None:
            result[key] = adjusted(table, information, mean, average)
    if not table.integral:
        refused = Failure("weights-not-integer")
        result["expected_mutual_information"] = refused
        for base in bases:
            result[_with_base("expected_mutual_information", base)] = refused
    _check(table, result)
    return result


def _with_base(key: str, base: int) -> str:
    return key.replace("[", f"[base={base},") if "[" in key else f"{key}[base={base}]"


def _one_minus(rest: Info, whole: Info, information: Info) -> Value:
    """1 - rest/whole, and 1 when the whole is zero, as the paper has it."""
    assert (whole - rest - information).zero, "H(T) - H(T|C) must be I"
    if whole.zero:
        return Fraction(1)
    return divide_info(whole - rest, whole)


def _strehl_ghosh(table: Table) -> Value:
    """The form in counts; the two sums under the root are both negative or zero."""
    n, rows, columns = table.total, table.rows, table.columns
    top = weighted_logs((x, n * x / (rows[i] * columns[j])) for i, j, x in table.filled())
    left = weighted_logs((x, x / n) for x in rows)
    right = weighted_logs((x, x / n) for x in columns)
    minus = Fraction(-1)
    return divide_geometric(top, left.times(minus), right.times(minus))


def _check(table: Table, result: dict[str, Value]) -> None:
    """The conditions under which the adjusted forms are 0/0, as the chapter words them."""
    if "ami" not in result or not table.integral:
        return
    n, one, single = table.total, [], []
    for sizes in (table.rows, table.columns):
        one.append(len(sizes) == 1)
        single.append(len(sizes) == n)
    both = all(one) or all(single)
    either = any(one) or any(single)
    for average in ("arithmetic", "max", "joint"):
        assert (result[option("ami", average, "arithmetic")] == Undefined()) == both
    assert (result["ami[average=min]"] == Undefined()) == either
    assert (result["ami[average=geometric]"] == Undefined()) == (any(one) or all(single))


__all__ = ["ZERO", "ZERO_LOGS", "entropy", "metrics", "mutual_information", "weighted_logs"]

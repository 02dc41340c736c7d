"""Scatter: definitions against pairs of rows, copies, moves and exchanges (chapter 45)."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import refclust.metrics
from refclust.data.accepting.door import dataset
from refclust.errors import BadOption, NegativeCount, WeightsNotInteger, WrongEvidence
from refclust.formulas import scatter as room
from refclust.formulas.clustered import Clustered
from refclust.formulas.memberships import Memberships
from refclust.formulas.undefined import Undefined
from refclust.formulas.vectors import distance, squared_distance, total
from refclust.metrics import catalogue
from refclust.metrics.calls.clusterings import clustered as clusters_of
from refclust.numbers.real import Real, log, sqrt

F = Fraction
NAMES = [entry.name for entry in catalogue.ENTRIES.values() if entry.family == "scatter"]
OF_ROWS = [name for name in NAMES if "partition" not in name]
CLAUSES = {name: catalogue.ENTRIES[name].clauses for name in NAMES}


@st.composite
def clusterings(draw: st.DrawFn, most: int = 7, span: int = 6) -> Clustered:
    """A few rows on a small grid, so that equal rows, equal means and ties occur."""
    p = draw(st.integers(1, 3))
    n = draw(st.integers(1, most))
    k = draw(st.integers(1, min(n, 3)))
    row = st.tuples(*[st.integers(0, span)] * p)
    rows = draw(st.lists(row, min_size=n, max_size=n))
    labels = [*range(k), *draw(st.lists(st.integers(0, k - 1), min_size=n - k, max_size=n - k))]
    weights = draw(st.none() | st.lists(st.integers(1, 3), min_size=n, max_size=n))
    return Clustered.of(rows, labels, weights)


def value(formula: Callable[..., Any], evidence: Any, **options: Any) -> Any:
    """The exact value; infinities and what is undefined as floats and text."""
    try:
        return formula(evidence, **options)
    except Undefined as missing:
        return missing.value if math.isinf(missing.value) else "undefined"


def same(first: Any, second: Any) -> bool:
    return type(first) is type(second) and bool(first == second)


def changed(evidence: Clustered, change: Callable[[Sequence[Any]], Sequence[Any]]) -> Clustered:
    """The same clusters of other rows."""
    rows: Sequence[Any] = evidence.points
    return Clustered.of([change(x) for x in rows], evidence.labels, evidence.weights)


def copies(evidence: Clustered) -> list[tuple[int, Any]]:
    """Cluster and row of every object, each as often as it weighs."""
    return [
        (evidence.labels[i], evidence.points[i])
        for i in range(evidence.n)
        for _ in range(int(evidence.weight(i)))
    ]


@pytest.mark.spec("INT-SIZE", "INT-MEAN", "INT-TMEAN")
@given(clusterings())
def test_the_mean_of_all_is_the_mean_of_the_means(evidence: Clustered) -> None:
    n = F(evidence.total)
    sizes = [room.size(evidence, k) for k in range(evidence.k)]
    assert sum(sizes) == n
    assert sizes == [
        sum(1 for label, _ in copies(evidence) if label == k) for k in range(evidence.k)
    ]
    means = [room.cluster_mean(evidence, k) for k in range(evidence.k)]
    for j, whole in enumerate(room.overall_mean(evidence)):
        assert whole == sum(size * m[j] for size, m in zip(sizes, means, strict=True)) / n
        for k, m in enumerate(means):
            assert sum(x[j] - m[j] for label, x in copies(evidence) if label == k) == 0


@pytest.mark.spec("INT-SI", "INT-SW", "INT-SB", "INT-ST", "INT-TRACE", "INT-SSE", "INT-TSS")
@given(clusterings())
def test_scatters_add_up(evidence: Clustered) -> None:
    """PROP-INT-1, and PROP-INT-3 entry by entry: scatter by pairs, without a mean."""
    within, between, whole = (
        f(evidence) for f in (room.within_scatter, room.between_scatter, room.total_scatter)
    )
    p = len(within)
    for i, j in itertools.product(range(p), repeat=2):
        assert whole[i][j] == within[i][j] + between[i][j]
        for k in range(evidence.k):
            own = [x for label, x in copies(evidence) if label == k]
            by_pairs = sum((a[i] - b[i]) * (a[j] - b[j]) for a in own for b in own)
            assert room.cluster_scatter(evidence, k)[i][j] == F(by_pairs, 2 * len(own))
    sse = room.sse(evidence)
    assert room.traces(evidence) == (sse.fraction, room.bss(evidence).fraction)
    assert room.tss(evidence) == sum(whole[j][j] for j in range(p))
    assert sse == sum(
        squared_distance(x, room.cluster_mean(evidence, label)) for label, x in copies(evidence)
    )


@pytest.mark.spec("INT-BSS", "INT-R2", "INT-TRRATIO", "INT-LOGSS", "INT-CH", "INT-RMSSTD")
@given(clusterings())
def test_sums_of_squares(evidence: Clustered) -> None:
    w, t = room.sse(evidence).fraction, room.tss(evidence)
    n, k, p = evidence.total, evidence.k, len(evidence.points[0])
    assert w is not None
    b = t - w
    assert room.bss(evidence) == b
    assert value(room.r_squared, evidence) == (1 - w / t if t else "undefined")
    ratio = b / w if w else math.inf if b else "undefined"
    assert value(room.trace_ratio, evidence) == ratio
    logarithm = value(room.log_trace_ratio, evidence)
    if isinstance(ratio, Fraction):
        assert logarithm == (log(ratio) if ratio else -math.inf)
    else:
        assert logarithm == ratio
    ch = value(room.calinski_harabasz, evidence)
    if w and k > 1:
        assert ch == (b / (k - 1)) / (w / (n - k))
    else:
        assert ch == (math.inf if b and k < n else "undefined")
    spread = value(room.rmsstd, evidence)
    assert spread == (sqrt(w / (p * (n - k))) if n > k else "undefined")


@pytest.mark.spec("INT-BALL", "INT-BR", "INT-SCOTT")
@given(clusterings())
def test_means_over_clusters(evidence: Clustered) -> None:
    own = [[x for label, x in copies(evidence) if label == k] for k in range(evidence.k)]
    spreads = [
        total(squared_distance(a, b) for a in rows for b in rows) / (2 * len(rows) ** 2)
        for rows in own
    ]
    assert room.ball_hall(evidence, form="sum") == sum(spreads)
    assert room.ball_hall(evidence) == sum(spreads) / len(spreads)
    assert room.ball_hall(evidence, form="pooled") == room.sse(evidence) / len(spreads)
    banfield, scott = (value(f, evidence) for f in (room.banfield_raftery, room.scott_symons))
    if all(spreads):
        powers = math.prod(s ** len(rows) for s, rows in zip(spreads, own, strict=True))
        assert banfield == log(powers)
        if len(evidence.points[0]) == 1:
            assert scott == banfield
    else:
        assert banfield == scott == -math.inf


@pytest.mark.spec("INT-RL", "INT-WIB", "INT-TIW", "INT-DETRATIO", "INT-LOGDET", "INT-KDET")
@given(clusterings(), st.sampled_from([2, F(1, 3), -1]))
def test_determinants_do_not_mind_units(evidence: Clustered, unit: Fraction) -> None:
    p = len(evidence.points[0])
    stretched = changed(evidence, lambda x: [unit * x[0], *x[1:]])
    mixed = changed(evidence, lambda x: [x[0] + sum(x[1:]), *x[1:]])
    for formula in (
        room.relative_trace,
        room.residual_trace,
        room.det_ratio,
        room.log_det_ratio,
    ):
        plain = value(formula, evidence)
        assert same(value(formula, stretched), plain)
        assert same(value(formula, mixed), plain)
    assert same(value(room.ratkowsky_lance, stretched), value(room.ratkowsky_lance, evidence))
    assert room.k_squared_det(stretched) == unit**2 * room.k_squared_det(evidence)
    if p == 1:
        b_over_w = value(room.trace_ratio, evidence)
        if isinstance(b_over_w, Real):
            assert room.relative_trace(evidence) == b_over_w
            assert room.det_ratio(evidence) == 1 + b_over_w
            assert room.log_det_ratio(evidence) == evidence.total * log(1 + b_over_w)
            assert room.residual_trace(evidence) == 1 / (1 + b_over_w)
            assert room.ratkowsky_lance(evidence) == sqrt(room.r_squared(evidence) / evidence.k)
        assert room.k_squared_det(evidence) == evidence.k**2 * room.sse(evidence)
        assert value(room.k_squared_det, evidence, entries="scaled") == "undefined"


@pytest.mark.spec("INT-KDET")
@given(clusterings())
def test_scaled_entries_have_their_ends_at_0_and_1(evidence: Clustered) -> None:
    assume(len(evidence.points[0]) == 2)
    (a, b), (_, d) = room.within_scatter(evidence)
    low, high = min(a, b, d), max(a, b, d)
    assume(low != high)
    unit = [(entry - low) / (high - low) for entry in (a, b, d)]
    due = evidence.k**2 * (unit[0] * unit[2] - unit[1] ** 2)
    assert room.k_squared_det(evidence, entries="scaled") == due


def by_hand(evidence: Clustered, q: int) -> Any:
    """Davies-Bouldin in one dimension, where distances are rational for q = 1."""
    means = [room.cluster_mean(evidence, k)[0] for k in range(evidence.k)]
    spreads: list[Any] = []
    for k, m in enumerate(means):
        own = [abs(x[0] - m) ** q for label, x in copies(evidence) if label == k]
        mean = sum(own) / F(len(own))
        spreads.append(mean if q == 1 else sqrt(mean))
    worst = [
        max(
            (spreads[k] + spreads[m]) / abs(means[k] - means[m])
            for m in range(len(means))
            if m != k
        )
        for k in range(len(means))
    ]
    return sum(worst) / F(len(worst))


@pytest.mark.spec("INT-DB")
@given(clusterings(), st.sampled_from([1, 2]))
def test_davies_bouldin(evidence: Clustered, q: int) -> None:
    found = value(room.davies_bouldin, evidence, q=q)
    if evidence.k == 1:
        assert found == "undefined"
        return
    pairs = list(itertools.combinations(range(evidence.k), 2))
    touching = [pair for pair in pairs if room.between_means(evidence, *pair) == 0]
    points = [k for k in range(evidence.k) if room.cluster_sse(evidence, k) == 0]
    zero = value(room.davies_bouldin, evidence, q=q, coincident="zero")
    ignored = room.davies_bouldin(evidence, q=q, coincident="ignored")
    if not touching:
        assert same(found, zero)
        assert same(found, ignored)
        if len(evidence.points[0]) == 1:
            assert found == by_hand(evidence, q)
    elif any(k in points and m in points for k, m in touching):
        assert found == "undefined"
    else:
        assert found == zero == math.inf


@pytest.mark.spec("INT-DB")
@pytest.mark.parametrize("q", [0, 3, F(3, 2)])
def test_other_powers_are_refused(q: Fraction) -> None:
    with pytest.raises(BadOption, match=r"allowed: 1 \(mean distance\), 2"):
        refclust.metrics.davies_bouldin([[0], [1]], [0, 1], q=q)


@pytest.mark.spec("INT-RT", "INT-XB", "INT-PBM", "INT-SDDIS")
@given(clusterings())
def test_distances_of_two_clusters(evidence: Clustered) -> None:
    assume(evidence.k == 2)
    gap = distance(*(room.cluster_mean(evidence, k) for k in (0, 1)))
    own = [[x for label, x in copies(evidence) if label == k] for k in (0, 1)]
    touching = min(squared_distance(x, y) for x in own[0] for y in own[1])
    errors, n = room.sse(evidence), evidence.total
    turi = value(room.ray_turi, evidence)
    assert same(turi, value(room.xie_beni, evidence))
    points = value(room.xie_beni, evidence, separation="points")
    nearest = sum(
        min(room.squared_to_means(evidence, i)) * evidence.weight(i) for i in range(evidence.n)
    )
    if gap:
        assert turi == errors / n / gap**2
        assert room.xie_beni(evidence, centre="nearest") == nearest / n / gap**2
        assert room.sd_distances(evidence) == 2 / gap
    else:
        assert turi == (math.inf if errors else "undefined")
        assert value(room.sd_distances, evidence) == "undefined"
    if touching:
        assert points == errors / n / touching
    else:
        assert points == (math.inf if errors else "undefined")
    centre = room.overall_mean(evidence)
    whole = sum((distance(x, centre) for x in own[0] + own[1]), Real(0))
    within = sum(
        (distance(x, room.cluster_mean(evidence, k)) for k in (0, 1) for x in own[k]), Real(0)
    )
    pbm = value(room.pbm, evidence)
    if within:
        assert float(pbm) == float((whole / within * gap / 2) ** 2)
    else:
        assert pbm == (math.inf if gap else "undefined")


@pytest.mark.spec("INT-SDSCAT", "INT-SD", "INT-SDBW")
@given(clusterings(), st.sampled_from([0, 2, F(5, 2)]))
def test_scattering(evidence: Clustered, alpha: Fraction) -> None:
    scat = value(room.sd_scattering, evidence)
    p, n = len(evidence.points[0]), evidence.total
    if not room.tss(evidence):
        assert scat == "undefined"
        return
    lengths = [
        sqrt(
            sum(
                (room.cluster_scatter(evidence, k)[j][j] / room.size(evidence, k)) ** 2
                for j in range(p)
            )
        )
        for k in range(evidence.k)
    ]
    whole = sqrt(sum((room.total_scatter(evidence)[j][j] / n) ** 2 for j in range(p)))
    assert scat == sum(lengths, Real(0)) / evidence.k / whole
    dis = value(room.sd_distances, evidence)
    assert value(room.sd, evidence, alpha=alpha) == (
        alpha * scat + dis if isinstance(dis, Real) else dis
    )
    if evidence.k != 2:
        return
    radius = sum(lengths, Real(0)) / 4
    means = [room.cluster_mean(evidence, k) for k in (0, 1)]
    middle = [(a + b) / 2 for a, b in zip(*means, strict=True)]
    inside, *ends = (
        sum(1 for _, x in copies(evidence) if squared_distance(x, u) <= radius)
        for u in (middle, *means)
    )
    found = value(room.s_dbw, evidence)
    if max(ends):
        assert found == scat + F(inside, max(ends))
    else:
        assert found == (math.inf if inside else "undefined")


@pytest.mark.spec("INT-WG", "INT-SSIL")
@given(clusterings())
def test_rows_and_all_means(evidence: Clustered) -> None:
    gancarski, silhouette = (
        value(f, evidence) for f in (room.wemmert_gancarski, room.simplified_silhouette)
    )
    if evidence.k == 1:
        assert gancarski == silhouette == "undefined"
        return
    means = [room.cluster_mean(evidence, k) for k in range(evidence.k)]
    gains, widths, doubtful = [Real(0)], [Real(0)], False
    for k in range(evidence.k):
        own = [x for label, x in copies(evidence) if label == k]
        quotients: list[Any] = []
        for x in own:
            a = distance(x, means[k])
            b = min(distance(x, m) for j, m in enumerate(means) if j != k)
            doubtful = doubtful or not (a or b)
            quotients.append(a / b if b else math.inf)
            if len(own) > 1 and (a or b):
                widths.append((b - a) / max(a, b))
        if math.inf not in quotients:
            gains.append(max(Real(0), len(own) - sum(quotients, Real(0))))
    assert silhouette == sum(widths, Real(0)) / evidence.total
    assert gancarski == ("undefined" if doubtful else sum(gains, Real(0)) / evidence.total)


@pytest.mark.spec("INT-HSIZE")
@given(clusterings())
def test_size_entropy(evidence: Clustered) -> None:
    n = int(evidence.total)
    sizes = list(map(int, evidence.sizes))
    assert sizes == [room.size(evidence, k) for k in range(evidence.k)]
    entropy = room.size_entropy(evidence)
    assert n * entropy == log(F(n**n, math.prod(size**size for size in sizes)))
    assert 0 <= entropy <= log(evidence.k)


@pytest.mark.parametrize("name", OF_ROWS)
@settings(max_examples=25)
@given(evidence=clusterings(most=6), data=st.data())
def test_what_must_not_matter(name: str, evidence: Clustered, data: st.DataObject) -> None:
    """Copies for weights, a move of all rows, the order of rows, columns and clusters."""
    formula = getattr(room, name)
    plain = value(formula, evidence)
    labels, rows = zip(*copies(evidence), strict=True)
    assert same(value(formula, Clustered.of(rows, labels)), plain)
    far = changed(evidence, lambda x: [coordinate + 10**15 for coordinate in x])
    assert same(value(formula, far), plain)
    turned = changed(evidence, lambda x: x[::-1])
    assert same(value(formula, turned), plain)
    sparse = changed(evidence, lambda x: dict(enumerate(x)))  # type: ignore[arg-type,return-value]
    assert same(value(formula, sparse), plain)
    order = data.draw(st.permutations(range(evidence.n)))
    mixed = Clustered.of(
        [evidence.points[i] for i in order],
        ["cab"[evidence.labels[i]] for i in order],
        [evidence.weight(i) for i in order],
    )
    assert same(value(formula, mixed), plain)


SCALED = {
    **dict.fromkeys(["sse", "bss", "ball_hall", "pbm"], 2),
    **dict.fromkeys(["rmsstd"], 1),
    **dict.fromkeys(["sd_distances"], -1),
}
UNLIKE = {"k_squared_det", "scott_symons", "banfield_raftery", "sd"}


@pytest.mark.parametrize("name", [name for name in OF_ROWS if name not in UNLIKE])
@settings(max_examples=25)
@given(evidence=clusterings(most=6), unit=st.sampled_from([2, F(1, 3)]))
def test_another_unit(name: str, evidence: Clustered, unit: Fraction) -> None:
    formula = getattr(room, name)
    plain = value(formula, evidence)
    stretched = value(formula, changed(evidence, lambda x: [unit * part for part in x]))
    factor = F(unit) ** SCALED.get(name, 0)
    assert same(stretched, factor * plain if isinstance(plain, Real) else plain)


@st.composite
def shares(draw: st.DrawFn) -> list[list[Fraction]]:
    n, k = draw(st.integers(1, 5)), draw(st.integers(1, 4))
    parts = st.lists(st.integers(0, 4), min_size=k, max_size=k).filter(any)
    return [[F(x, sum(row)) for x in row] for row in draw(st.lists(parts, min_size=n, max_size=n))]


@pytest.mark.spec("INT-PC", "INT-PE", "INT-MPC")
@given(shares())
def test_fuzzy_clusters(table: list[list[Fraction]]) -> None:
    evidence, n, k = Memberships.of(table), len(table), len(table[0])
    coefficient = room.partition_coefficient(evidence)
    assert F(1, k) <= coefficient <= 1
    assert coefficient == sum(sum(u * u for u in row) for row in table) / F(n)
    entropy = room.partition_entropy(evidence)
    assert entropy == sum((-u * log(u) for row in table for u in row if u), Real(0)) / n
    assert (entropy == 0) == (coefficient == 1)
    modified = value(room.modified_partition_coefficient, evidence)
    assert modified == ("undefined" if k == 1 else 1 - F(k, k - 1) * (1 - coefficient))
    doubled = Memberships.of(table, weights=[2] * n)
    twice = Memberships.of(table + table)
    for name in ("partition_coefficient", "partition_entropy", "modified_partition_coefficient"):
        formula = getattr(room, name)
        assert same(value(formula, doubled), value(formula, evidence))
        assert same(value(formula, twice), value(formula, evidence))


@pytest.mark.spec("INT-PC", "INT-PE", "INT-MPC")
def test_fuzzy_calls() -> None:
    metrics = refclust.metrics
    found = metrics.partition_coefficient([[1, 0], [0.5, 0.5], [9, 9]], weights=[1, 1, 0])
    assert found.fraction == F(3, 4)
    assert metrics.partition_entropy([{0: 1}, {0: 0.5, 1: 0.5}]).exact == log(2) / 2
    assert "fuzzy clusters" in metrics.partition_coefficient([[1, 0]]).evidence.size()
    assert metrics.partition_coefficient([[0.5, 0.5]], weights=[0.5]).fraction == F(1, 2)
    with pytest.raises(NegativeCount, match=r"object 1 has the share -0\.5 in cluster 0"):
        metrics.partition_coefficient([[1, 0], [-0.5, 1.5]])


def test_calls() -> None:
    metrics = refclust.metrics
    rows = [[0.0, 0.0], [0.0, 1.0], [2.0, 1.0], [7.0, 7.0], [9.0, 7.0], [9.0, 8.5]]
    labels = ["x", "x", "x", "y", "y", "y"]
    evidence = clusters_of(rows, labels)
    for name in OF_ROWS:
        found = getattr(metrics, name)(rows, labels)
        assert found.certified
        due = value(getattr(room, name), Clustered.of(rows, labels))
        assert same(found.exact, due) if isinstance(due, Real) else found.undefined
        assert repr(getattr(metrics, name)) == f"<refclust metric {name}>"
        assert found.explain().text()
        assert found.spec == CLAUSES[name]
        assert found.evidence.size() == evidence.size() == "6 objects in 2 clusters"
    with pytest.raises(WeightsNotInteger):
        metrics.calinski_harabasz(rows, labels, weights=[0.5, 1, 1, 1, 1, 1])
    with pytest.raises(WrongEvidence):
        metrics.sse(proximity=[[0, 1], [1, 0]], labels=[0, 1])
    assert metrics.size_entropy(proximity=[[0, 1], [1, 0]], labels=[0, 1]).exact == log(2)
    assert metrics.sse(rows, labels, weights=[F(1, 2), 1, 0, 1, 0, 0]).fraction == F(1, 3)


@pytest.mark.spec("INT-RL", "INT-DETRATIO", "INT-RMSSTD")
def test_a_sparse_column_of_zeros_is_a_column() -> None:
    metrics = refclust.metrics
    sparse = dataset([{0: 1}, {1: 2}, {0: 5, 1: 5}, {0: 7}], features=[0, 1, 2])
    dense = [[1, 0, 0], [0, 2, 0], [5, 5, 0], [7, 0, 0]]
    for name in OF_ROWS:
        call = getattr(metrics, name)
        one, other = (call(table, [0, 0, 1, 1]) for table in (sparse, dense))
        assert one.undefined == other.undefined
        assert repr(float(one)) == repr(float(other))
    assert metrics.ratkowsky_lance(sparse, [0, 0, 1, 1]).undefined == "0/0: a column is constant"

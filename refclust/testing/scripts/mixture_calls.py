"""The calls of mixtures in a script: a few iterations of EM made by the reference (chapter 81).

The M-steps here are small ones of the kit's own, good enough to get from one state to the next;
what they make is an argument, and it is the same for every backend.
"""

from __future__ import annotations

import math
from array import array
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any, Final, TypeVar

from refclust.kernels.centres import CentreMatrix
from refclust.kernels.clusters.kmeans import assign
from refclust.kernels.mixtures.gaussian import Form, Gaussians, Moments
from refclust.kernels.mixtures.multinomial import Tallies, Terms
from refclust.kernels.mixtures.shared import HARD, SOFT, Doubles, Posterior, Rule, shares
from refclust.kernels.mixtures.words import CountModel
from refclust.kernels.points import Points, Vector
from refclust.numbers.sampling import stream

if TYPE_CHECKING:
    from refclust.testing.scripts.lockstep import Script

FORMS: Final[tuple[Form, ...]] = ("full", "diagonal", "spherical")
D = TypeVar("D", Gaussians, Terms)

_BARELY: Final = "columns that leave a few roundings of themselves, more or less than they must"
_BARRED: Final = "a word that no component has: rows that nobody can have made"
_EQUAL: Final = "every component is there twice"
_FLOOR: Final = 2.0**-10  # of the mean variance of a component, added to all its variances
_ODD: Final = "draws of 0 and just below 1, the first component has no share"
_FEW_SHARES: Final = 150  # rows times components, up to which all rules are tried
_SMOOTH: Final = 0.125  # of a count, added to every word


@dataclass(frozen=True, slots=True)
class _Normals:
    """Calls under normal densities of K components, written into a script."""

    made: Script
    k: int
    sharp: float  # how many times narrower densities are than the rows ask for

    def call(self, kernel: str, *args: Any, note: str = "") -> Any:
        """What is due to a call."""
        return self.made.due(self.made.call(f"gaussian.{kernel}", *args, k=self.k, note=note))

    def step(self, densities: Gaussians, rule: Rule, around: Any = None, note: str = "") -> Any:
        """The moments of one iteration."""
        note = note or rule_in_words(rule)
        return self.call("em_step", densities, rule, around, note=note).moments

    def fitted(self, moments: Moments, form: Form) -> Gaussians:
        """Densities fitted to moments."""
        whitening = self.call("whitening", covariances_of(moments, form), form, note=form)
        return densities_of(moments, whitening, form, self.sharp)


def gaussian_calls(
    made: Script, starts: Sequence[Vector], *, sharp: float = 1.0, few: bool = False
) -> None:
    """Passes under normal densities of all three forms, by all rules; some of them if few.

    With ``sharp`` densities are so many times narrower than the rows ask for.
    """
    points = Points(made.data[0])
    k, centres = len(starts), CentreMatrix.of(starts)
    normals = _Normals(made, k, sharp)
    call = normals.call
    # Some rows belong to no component.
    labels = array("i", (-1 if i % 5 == 4 else c for i, c in enumerate(assign(points, centres))))
    moments = call("moments", labels, k, centres, "full", note="labels, -1 for none")
    call("exact_moments", labels, k, centres, "full", note="labels, -1 for none")
    full = normals.fitted(moments, "full")
    posterior = call("posterior", full, True)
    moments = normals.step(full, SOFT)
    call("traces", moments.seconds, full.whitening, "full", note="full")
    call("scatters", moments, (), note="full")
    call("scatters", moments, tuple(0.5 + j for j in range(points.d)), note="full, with a floor")
    for exponent in (-560, 520):
        call("scatters", _weighed(moments, exponent), (), note=f"weights times 2**{exponent}")
    if few:
        return
    call("moments", labels, k, full.means, "diagonal", note="labels, -1 for none")
    call("moments", _shares(posterior, points.n), k, full.means, "full", note="shares")
    call("exact_moments", _shares(posterior, points.n), k, full.means, "full", note="shares")
    full = normals.fitted(moments, "full")
    call("posterior", full, False)
    for rule in (HARD, Rule(top=2), drawn(points.n, 1), drawn(points.n, 3)):
        normals.step(full, rule)
    _other_forms(normals, full, centres)


def _other_forms(normals: _Normals, full: Gaussians, centres: CentreMatrix) -> None:
    """From full covariances to diagonal and spherical ones, and to what is degenerate."""
    points, k, call = Points(normals.made.data[0]), normals.k, normals.call
    diagonal = normals.fitted(normals.step(full, SOFT, centres, "around others"), "diagonal")
    posterior = call("posterior", diagonal, True, note="diagonal")
    call("moments", _shares(posterior, points.n), k, centres, "diagonal", note="shares")
    call("exact_moments", _shares(posterior, points.n), k, centres, "diagonal", note="shares")
    note = "diagonal, the 2 most probable, around others"
    moments = normals.step(diagonal, Rule(top=2), centres, note)
    call("traces", moments.seconds, diagonal.whitening, "diagonal", note="diagonal")
    call("scatters", moments, (), note="diagonal")
    call("scatters", moments, (0.25,) * points.d, note="diagonal, with a floor")
    spherical = normals.fitted(moments, "spherical")
    call("posterior", spherical, False, note="spherical")
    moments = normals.step(spherical, SOFT, note="spherical")
    call("traces", moments.seconds, spherical.whitening, "spherical", note="spherical")
    absent = array("d", [-math.inf, *spherical.offsets[1:]])
    note = "spherical, the first component has no share"
    normals.step(replace(spherical, offsets=absent), SOFT, note=note)
    call("posterior", replace(spherical, offsets=absent), True, note=note)
    _degenerate(normals, full, moments)


def _degenerate(normals: _Normals, full: Gaussians, moments: Moments) -> None:
    """Equal components, components without a share, and without any variance."""
    points, k, call = Points(normals.made.data[0]), normals.k, normals.call
    doubled = _twice(full)
    call("posterior", doubled, True, note=_EQUAL)
    for rule in (SOFT, HARD):
        normals.step(doubled, rule, note=f"{rule_in_words(rule)} {_EQUAL}".strip())
    call("whitening", _barely(points.d, k), "full", note=_BARELY)
    nobody = replace(full, offsets=array("d", [-math.inf] * k))
    for rule in (SOFT, Rule(top=1), drawn(points.n, 3)):
        normals.step(nobody, rule, note=f"no component has a share {rule_in_words(rule)}".strip())
    for form in FORMS:
        flat = covariances_of(moments, form)
        size = len(flat) // k
        flat[-size:] = array("d", bytes(8 * size))
        call("whitening", flat, form, note=f"{form}, the last component has no spread at all")


def count_calls(made: Script, k: int, *, few: bool = False) -> None:
    """Passes under densities of counts, by all rules; some of them if few."""
    points = Points(made.data[0])
    n = points.n
    labels = array("i", (-1 if i % 7 == 5 else i * k // n for i in range(n)))

    def call(kernel: str, *args: Any, note: str = "") -> Any:
        return made.due(made.call(f"multinomial.{kernel}", *args, k=k, note=note))

    def estimated(tallies: Tallies, kind: CountModel, m: float, p: float) -> None:
        note = f"{kind}, {m} observations imagined"
        words = call("m_step", tallies, m, (p,) * points.d, kind, note=note)
        call("logs", words.probabilities, kind, note=kind)

    labelled: Tallies = call("moments", labels, k, note="labels, -1 for none")
    call("exact_tallies", labels, k, note="labels, -1 for none")
    estimated(labelled, "multinomial", 0.5, 1.0 / points.d)
    terms = terms_of(labelled, _SMOOTH)
    posterior = call("posterior", terms, True)
    step = call("em_step", terms, SOFT)
    if few:
        return
    shared: Tallies = call("moments", _shares(posterior, n), k, note="shares")
    call("exact_tallies", _shares(posterior, n), k, note="shares")
    estimated(labelled, "multinomial", 0.0, 1.0 / points.d)
    estimated(labelled, "bernoulli", 0.0, 0.5)
    estimated(shared, "bernoulli", 3.0, 0.25)
    terms = terms_of(step.moments, _SMOOTH)
    call("posterior", terms, False)
    for rule in (HARD, Rule(top=2), drawn(n, 1), drawn(n, 3)):
        call("em_step", terms, rule, note=rule_in_words(rule))
    bare = terms_of(labelled, 0.0)
    absent = replace(terms, offsets=array("d", [-math.inf, *terms.offsets[1:]]))
    for rule in (SOFT, Rule(top=1), Rule(top=2), drawn(n, 3)):
        call("em_step", _barred(terms), rule, note=f"{_BARRED} {rule_in_words(rule)}".strip())
    for odd, note in (
        (bare, "words that a component never has: slopes of -inf"),
        (absent, "the first component has no share"),
        (_certain(points, terms), "columns that must be there"),
        (_odds(terms), "slopes of both signs"),
        (_twice(terms), _EQUAL),
    ):
        call("posterior", odd, True, note=note)
        call("em_step", odd, SOFT, note=note)


def rule_calls(made: Script, k: int) -> None:
    """A step of each rule under normal densities of the three forms, and under those of counts."""
    points = Points(made.data[0])
    n = points.n
    labels = array("i", (i * k // n for i in range(n)))
    rows = [points.whole_row(i * n // k) for i in range(k)]
    forms = FORMS[(n + k) % 3 :] + FORMS[: (n + k) % 3]
    for place, form in enumerate(forms if n * k <= _FEW_SHARES else forms[:1]):
        spread = "full" if form == "full" else "diagonal"
        centres = CentreMatrix.of(rows)
        moments = made.call("gaussian.moments", labels, k, centres, spread, k=k, note="labels")
        made.call("gaussian.exact_moments", labels, k, centres, spread, k=k, note="labels")
        covariances = covariances_of(made.due(moments), form)
        white = made.due(made.call("gaussian.whitening", covariances, form, k=k, note=form))
        densities = densities_of(made.due(moments), white, form, 1.0)
        made.call("gaussian.posterior", densities, place == 0, k=k, note=form)
        for rule in rules_of(n, k) if place == 0 else (SOFT,):
            made.call(
                "gaussian.em_step", densities, rule, None, k=k, note=f"{form} {rule_in_words(rule)}"
            )
        if k > 1:
            made.call("gaussian.em_step", _absent(densities), _odd_draws(n), None, k=k, note=_ODD)
        step = made.call("gaussian.em_step", densities, SOFT, centres, k=k, note="around others")
        sums = made.due(step).moments
        made.call("gaussian.scatters", sums, (), k=k, note=form)
        made.call("gaussian.traces", sums.seconds, densities.whitening, form, k=k, note=form)
    tallies = made.call("multinomial.moments", labels, k, k=k, note="labels")
    made.call("multinomial.exact_tallies", labels, k, k=k, note="labels")
    terms = terms_of(made.due(tallies), _SMOOTH)
    made.call("multinomial.posterior", terms, n % 2 == 0, k=k)
    for rule in rules_of(n, k):
        made.call("multinomial.em_step", terms, rule, k=k, note=rule_in_words(rule))
    if k > 1:
        made.call("multinomial.em_step", _absent(terms), _odd_draws(n), k=k, note=_ODD)
    made.call("multinomial.m_step", made.due(tallies), 0.5, (1.0 / points.d,) * points.d,
              "multinomial", k=k)  # fmt: skip


def rules_of(n: int, k: int) -> list[Rule]:
    """All there is to try: the 1 to K most probable and more, few and many draws, odd ones.

    Spec: none (made-up data)
    """
    tops = sorted({1, 2, 3, 4, 5, k // 2, k - 1, k, k + 1} - {0, -1})
    samples = (1, 2, 3, 4, 5, 8, 9, 17)
    many = n * k > _FEW_SHARES
    chosen = tops[n % len(tops) :][:1] if many else tops
    drawn_of = samples[n % 8 :][:1] if many else samples
    draws = [drawn(n, number) for number in drawn_of]
    return [SOFT, *(Rule(top=top) for top in chosen), *draws, _odd_draws(n)]


def _odd_draws(n: int) -> Rule:
    """Random numbers at both ends and in the middle, two for each row."""
    ends = [0.0, 1.0 - 2.0**-53, 0.5]
    return Rule(draws=array("d", (ends[i % 3] for i in range(2 * n))), samples=2)


def _absent(densities: D) -> D:
    """The same densities, but the first component has no share."""
    offsets = array("d", [-math.inf, *list(densities.offsets)[1:]])
    return replace(densities, offsets=offsets)


def _twice(densities: D) -> D:
    """Densities each of which is there twice."""

    def both(values: Any) -> Any:
        if isinstance(values, CentreMatrix):
            return CentreMatrix.of(values.rows() * 2)
        return values * 2 if isinstance(values, array) else values

    return replace(densities, **{field.name: both(getattr(densities, field.name))
                                 for field in fields(densities)})  # fmt: skip


def rule_in_words(rule: Rule) -> str:
    """What a rule is, in words."""
    if rule.draws is not None:
        return f"{rule.samples} draw{'s' * (rule.samples > 1)} for each row"
    return f"the {rule.top} most probable" if rule.top else ""


def drawn(n: int, samples: int) -> Rule:
    """A rule that draws, with random numbers of its own.

    Spec: none (made-up data)
    """
    rng = stream(100 + samples)
    return Rule(draws=array("d", (rng.random() for _ in range(n * samples))), samples=samples)


def _shares(posterior: Posterior, n: int) -> array[float]:
    """The responsibilities of all rows."""
    assert posterior.joint is not None
    flat = posterior.joint.tolist()
    k = len(flat) // n
    return array("d", (q for i in range(n) for q in shares(flat[i * k : (i + 1) * k], SOFT).q))


def covariances_of(moments: Moments, form: Form) -> array[float]:
    """The covariances of all components, with a floor; one without rows is as wide as one.

    Spec: none (a state to start from)
    """
    d, covariances = len(moments.around[0]), array("d")
    for c, n in enumerate(moments.counts):
        square = _covariance(moments, c, d)
        mean = math.fsum(square[j][j] for j in range(d)) / d if n else 0.0
        for j in range(d):
            square[j][j] = max(square[j][j], 0.0) + (_FLOOR * mean if mean > 0.0 else 1.0)
        diagonal = [square[j][j] for j in range(d)]
        if form == "full":
            covariances.extend(x for line in square for x in line)
        else:
            covariances.extend(diagonal if form == "diagonal" else [math.fsum(diagonal) / d])
    return covariances


def _covariance(moments: Moments, c: int, d: int) -> list[list[float]]:
    """The covariance of a component, or its diagonal."""
    n, full = moments.counts[c], moments.spread == "full"
    shift = _shift(moments, c, d)
    covariance = [[0.0] * d for _ in range(d)]
    for i in range(d if n else 0):
        for j in range(d) if full else (i,):
            second = moments.seconds[(c * d + i) * d + j if full else c * d + i]
            covariance[i][j] = second / n - shift[i] * shift[j]
    return covariance


def _shift(moments: Moments, c: int, d: int) -> list[float]:
    n = moments.counts[c]
    return [x / n if n else 0.0 for x in moments.firsts[c * d : (c + 1) * d]]


def densities_of(moments: Moments, white: Doubles, form: Form, sharp: float) -> Gaussians:
    """Normal densities with the means of these moments, but narrower.

    Spec: none (a state to start from)
    """
    d, k = len(moments.around[0]), len(moments.counts)
    whitening = array("d", (w * sharp for w in white))
    offsets, means, size = array("d"), [], len(whitening) // k
    whole = math.fsum(moments.counts)
    for c, n in enumerate(moments.counts):
        shift, own = _shift(moments, c, d), whitening[c * size : (c + 1) * size]
        means.append([a + x for a, x in zip(moments.around[c], shift, strict=True)])
        scales = {"full": own[:: d + 1], "diagonal": own, "spherical": own * d}[form]
        # Without a factor that all have in common: how narrow they are is no part of the offset.
        logs = math.fsum(math.log(w / sharp) for w in scales if w)
        offsets.append(math.log((n + 1.0) / (whole + k)) + logs)
    return Gaussians(offsets, CentreMatrix.of(means), whitening, form)


def terms_of(tallies: Tallies, smooth: float) -> Terms:
    """Densities of counts with these sums, smoothed; -inf where a word never occurs.

    Spec: none (a state to start from)
    """
    k = len(tallies.counts)
    d, whole = len(tallies.sums) // k, math.fsum(tallies.counts)
    slopes = array("d")
    for c in range(k):
        sums = [x + smooth for x in tallies.sums[c * d : (c + 1) * d]]
        total = math.fsum(sums)
        slopes.extend(math.log(x / total) if x else -math.inf for x in sums)
    return Terms(array("d", (math.log((n + 1.0) / (whole + k)) for n in tallies.counts)), slopes)


def _odds(terms: Terms) -> Terms:
    """Densities of which every other slope is positive, as log-odds may be."""
    slopes = array("d", (-x if j % 2 else x for j, x in enumerate(terms.slopes)))
    return replace(terms, slopes=slopes)


def _barred(terms: Terms) -> Terms:
    """Densities none of which ever has the first word."""
    d = len(terms.slopes) // terms.k
    slopes = array("d", (x if j % d else -math.inf for j, x in enumerate(terms.slopes)))
    return replace(terms, slopes=slopes)


def _barely(d: int, k: int) -> array[float]:
    """Covariances of which one column leaves some roundings of itself beside the one before it.

    Every operation of a Cholesky factor is exact here: all is 1, or 1 and a few roundings. LIN-CHOL
    asks of column j for more than 4 (j + 1)^2 of them; what is left goes from one to twice that.
    """
    covariances = array("d")
    for c in range(k):
        j = 1 + c % (d - 1) if d > 1 else 0
        share = (1 + c) / (k + 1)
        left = max(1, round(8 * (j + 1) ** 2 * share)) * 2.0**-52
        matrix = [[float(a == b) for b in range(d)] for a in range(d)]
        if j:
            matrix[j][j] = 1.0 + left
            matrix[j][j - 1] = matrix[j - 1][j] = 1.0
        covariances.extend(x for line in matrix for x in line)
    return covariances


def _certain(points: Points, terms: Terms) -> Terms:
    """The same densities, but some columns must be there, each time those of some row."""
    k, n = terms.k, points.n
    some = [points.nonzero[(2 * c + 1) * n // (2 * k)][0][: 1 + c] for c in range(k)]
    some[-1] = ()  # one component asks for nothing
    return replace(terms, certain=tuple(some))


def _weighed(moments: Moments, exponent: int) -> Moments:
    """The same sums for weights times a power of two: products of two sums leave the doubles."""
    counts, firsts, seconds = (
        array("d", (math.ldexp(x, exponent) for x in memoryview(values).tolist()))
        for values in (moments.counts, moments.firsts, moments.seconds)
    )
    return replace(moments, counts=counts, firsts=firsts, seconds=seconds)

"""The E-step of one row and the M-step of one component, number by number."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from refclust.cli.commands.explain.model import MOST, full_row, left_out, listed
from refclust.cli.show.pieces import Formula, Piece, Words, number
from refclust.cli.show.tables import Table, in_latex
from refclust.mixture.families.named import record

if TYPE_CHECKING:
    from refclust.cli.commands.explain.em import Iteration
    from refclust.mixture.families.counts.means import Law, MeanParameters
    from refclust.mixture.families.counts.parameters import CountParameters
    from refclust.mixture.families.gaussian.parameters import GaussianParameters


def expectation(iteration: Iteration) -> Iterator[Piece]:
    """How log p(x, k) of the row comes about."""
    law = record(iteration.model.family).law
    if law is not None:
        yield from _mean_row(iteration, iteration.before.parameters, law)
    elif iteration.model.family == "gaussian":
        yield from _gaussian_row(iteration, iteration.before.parameters)
    else:
        yield from _count_row(iteration, iteration.before.parameters)


def maximisation(iteration: Iteration) -> Iterator[Piece]:
    """The shares of all components, and all about the one that the row most likely is from."""
    whole = math.fsum(iteration.counts)
    old, new = iteration.before.parameters, iteration.after.parameters
    yield Formula(
        "N_k = sum of w_i q_ik,  weight_k = N_k / sum of all N",
        r"N_k=\sum_i w_iq_{ik},\qquad \pi_k'=\frac{N_k}{\sum_l N_l}",
    )
    yield Table(
        ["component", "N", "N / sum", "weight before", "weight after"],
        [
            [str(k), number(n), number(n / whole), number(old.weights[k]), number(new.weights[k])]
            for k, n in enumerate(iteration.counts)
        ],
    )
    shares = iteration.q[iteration.row]
    k = max(range(len(shares)), key=shares.__getitem__)
    yield Words(f"Component {k}, to which the row most likely belongs:")
    if record(iteration.model.family).law is not None:
        yield from _mean_update(iteration, k, old, new)
    elif iteration.model.family == "gaussian":
        yield from _gaussian_update(iteration, k, old, new)
    else:
        yield from _count_update(iteration, k, old, new)
    if iteration.variation == "generalized":
        share = number(iteration.model.params.damping)
        yield Words(f"Generalized EM goes {share} of the way from the old parameters to these.")


def _gaussian_row(iteration: Iteration, parameters: GaussianParameters) -> Iterator[Piece]:
    from refclust.mixture.density import half_log_precision, mahalanobis, whitened

    x = full_row(iteration.data, iteration.row)
    shown = listed(iteration.data)
    yield Table(
        ["", *(iteration.data.feature_name(j) for j in shown)],
        [
            ["x", *(number(x[j]) for j in shown)],
            *(
                [f"mean {k}", *(number(mean[j]) for j in shown)]
                for k, mean in enumerate(parameters.means)
            ),
        ],
    )
    yield from left_out(iteration.data)
    constant = -0.5 * iteration.data.d * math.log(2.0 * math.pi)
    yield Formula(
        "log p(x, k) = log weight - d/2 log 2 pi - 1/2 log |C| - 1/2 D^2,"
        f"  -d/2 log 2 pi = {number(constant)}",
        r"\log p(x,k)=\log\pi_k-\tfrac d2\log2\pi-\tfrac12\log\lvert\Sigma_k\rvert-\tfrac12D_k^2,"
        rf"\qquad -\tfrac d2\log2\pi={in_latex(number(constant))}",
    )
    rows = []
    for k, covariance in enumerate(parameters.covariances):
        rows.append(
            [
                str(k),
                number(_log(parameters.weights[k])),
                number(half_log_precision(whitened(covariance))),
                number(-0.5 * mahalanobis(x, parameters.means[k], covariance)),
                number(iteration.joint[iteration.row][k]),
            ]
        )
    yield Table(["component", "log weight", "-log |C| / 2", "-D^2 / 2", "log p(x, k)"], rows)


def _count_row(iteration: Iteration, parameters: CountParameters) -> Iterator[Piece]:
    x = full_row(iteration.data, iteration.row)
    presence = iteration.model.family == "bernoulli"
    shown = [j for j, value in enumerate(x) if value][:MOST]
    if presence:
        yield Formula(
            "log p(x, k) = log weight + sum of log theta (there) and log(1 - theta) (not there)",
            r"\log p(x,k)=\log\pi_k+\sum_j x_j\log\theta_{kj}+(1-x_j)\log(1-\theta_{kj})",
        )
    else:
        yield Formula(
            "log p(x, k) = log weight + sum of x_j log theta_kj",
            r"\log p(x,k)=\log\pi_k+\sum_j x_j\log\theta_{kj}",
        )
    others = [j for j in range(iteration.data.d) if j not in shown and (presence or x[j])]
    counted = [f"{number(x[j])} log {iteration.data.feature_name(j)}" for j in shown]
    rows = []
    for k, theta in enumerate(parameters.probabilities):
        terms = [x[j] * _log(theta[j]) for j in shown]
        rest = [x[j] * _log(theta[j]) if x[j] else _log(1.0 - theta[j]) for j in others]
        numbers = [_log(parameters.weights[k]), *terms]
        numbers += [-math.inf if -math.inf in rest else math.fsum(rest)] if others else []
        rows.append([str(k), *map(number, numbers), number(iteration.joint[iteration.row][k])])
    left = ["all others"] if others else []
    yield Table(["component", "log weight", *counted, *left, "log p(x, k)"], rows)


def _mean_row(iteration: Iteration, parameters: MeanParameters, law: Law) -> Iterator[Piece]:
    x, shown = full_row(iteration.data, iteration.row), listed(iteration.data)
    yield Formula(
        f"log p(x, k) = log weight + sum of {law.text}",
        rf"\log p(x,k)=\log\pi_k+\sum_j {law.latex}",
    )
    names = [f"{iteration.data.feature_name(j)} = {number(x[j])}" for j in shown]
    rows = []
    for k, means in enumerate(parameters.means):
        logs = [law.log(x[j], means[j]) for j in range(iteration.data.d)]
        cells = [_log(parameters.weights[k]), *(logs[j] for j in shown)]
        if len(shown) < iteration.data.d:
            cells.append(math.fsum(logs[j] for j in range(iteration.data.d) if j not in shown))
        rows.append([str(k), *map(number, cells), number(iteration.joint[iteration.row][k])])
    left = ["all others"] if len(shown) < iteration.data.d else []
    yield Table(["component", "log weight", *names, *left, "log p(x, k)"], rows)


def _mean_update(
    iteration: Iteration, k: int, old: MeanParameters, new: MeanParameters
) -> Iterator[Piece]:
    settings: Any = iteration.model.params.settings
    n, m, totals = iteration.counts[k], settings.m, _totals(iteration, k)
    whole = math.fsum(iteration.weights)
    yield Formula(
        f"mu_j = (T_j + m p_j) / (N + m),  N = {number(n)},  m = {number(m)}",
        r"\mu_{kj}'=\frac{T_{kj}+m\,p_j}{N_k+m},"
        rf"\qquad N_k={in_latex(number(n))},\quad m={in_latex(number(m))}",
    )
    everybody = [math.fsum(column) for column in zip(*_weighted(iteration), strict=True)]
    rows = []
    for j in listed(iteration.data):
        mean = everybody[j] / whole if settings.p is None else settings.p[j]
        cells = [totals[j], m * mean, old.means[k][j], new.means[k][j]]
        rows.append([iteration.data.feature_name(j), *map(number, cells)])
    yield Table(["feature", "T_j", "m p_j", "mean before", "mean after"], rows)
    yield from left_out(iteration.data)


def _weighted(iteration: Iteration) -> Iterator[list[float]]:
    """Every row times its weight."""
    for i, weight in enumerate(iteration.weights):
        yield [weight * x for x in full_row(iteration.data, i)]


def _gaussian_update(
    iteration: Iteration, k: int, old: GaussianParameters, new: GaussianParameters
) -> Iterator[Piece]:
    n, shown, totals = iteration.counts[k], listed(iteration.data), _totals(iteration, k)
    yield Formula("mean = sum of w q x / N", r"\mu_k'=\frac1{N_k}\sum_i w_iq_{ik}x_i")
    rows = [
        [
            iteration.data.feature_name(j),
            number(totals[j]),
            number(totals[j] / n),
            number(old.means[k][j]),
            number(new.means[k][j]),
        ]
        for j in shown
    ]
    yield Table(["feature", "sum of w q x", "sum / N", "mean before", "mean after"], rows)
    yield from left_out(iteration.data)
    settings: Any = iteration.model.params.settings
    floor = f", floor {number(settings.floor)}" if settings.floor else ""
    yield Words(f"Its covariance, under the model {settings.covariance}{floor}:")
    names = [iteration.data.feature_name(j) for j in shown]
    before, after = old.covariances[k], new.covariances[k]
    yield Table(
        ["", *(f"{name} before" for name in names), *(f"{name} after" for name in names)],
        [
            [
                iteration.data.feature_name(i),
                *(number(before[i][j]) for j in shown),
                *(number(after[i][j]) for j in shown),
            ]
            for i in shown
        ],
    )


def _count_update(
    iteration: Iteration, k: int, old: CountParameters, new: CountParameters
) -> Iterator[Piece]:
    presence = iteration.model.family == "bernoulli"
    settings: Any = iteration.model.params.settings
    d, m = iteration.data.d, settings.m
    totals = _totals(iteration, k)
    whole = iteration.counts[k] if presence else math.fsum(totals)
    of = "N" if presence else "T"
    yield Formula(
        f"theta_j = (T_j + m p_j) / ({of} + m),  {of} = {number(whole)},  m = {number(m)}",
        rf"\theta_{{kj}}'=\frac{{T_{{kj}}+m\,p_j}}{{{of}_k+m}},"
        rf"\qquad {of}_k={in_latex(number(whole))},"
        rf"\quad m={in_latex(number(m))}",
    )
    present = [j for j, value in enumerate(full_row(iteration.data, iteration.row)) if value][
        : 2 * MOST
    ]
    even = 0.5 if presence else 1.0 / d
    rows = []
    for j in present:
        share = even if settings.p is None else settings.p[j]
        numbers = [totals[j], m * share, old.probabilities[k][j], new.probabilities[k][j]]
        rows.append([iteration.data.feature_name(j), *map(number, numbers)])
    if rows:
        yield Table(["feature of the row", "T_j", "m p_j", "theta before", "theta after"], rows)


def _totals(iteration: Iteration, k: int) -> list[float]:
    """sum of w q x of one component, for every column."""
    terms: list[list[float]] = [[] for _ in range(iteration.data.d)]
    for weight, shares, row in zip(
        iteration.weights, iteration.q, iteration.data.rows(), strict=True
    ):
        share = weight * shares[k]
        for j, x in row.items() if isinstance(row, dict) else enumerate(row):
            terms[j].append(share * x)
    return [*map(math.fsum, terms)]


def _log(x: float) -> float:
    return math.log(x) if x else -math.inf

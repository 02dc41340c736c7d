"""Run EM for multinomial and Bernoulli mixtures twice, to sixty digits and in NumPy.

An independent statement of the algorithm: it imports nothing of refclust.  The sixty-digit run
multiplies plain probabilities (no logarithm is needed where nothing underflows) and its results,
rounded once to the nearest double, are what the file holds.  The NumPy run works with logarithms
and log-sum-exp; "numpy_error" is the largest relative difference between the two runs over all
parameters and log-likelihoods of the case, but for those below 1e-290 or 0 in NumPy.

To rerun with numpy 2.4.6 and mpmath 1.4.1, in the folder above this one:

    python -m mixtures.multinomial_mixture [--out FOLDER]

File format of multinomial.json
  counts          60 documents x 12 words; document 17 is empty, word 11 never occurs
  row_weights     the weights of the weighted cases, zeros among them
  start           weights and probabilities before the first iteration, multiples of 1/256
  log_coefficient sum over documents of log(N! / prod x_j!): add it to the log-likelihood of the
                  multinomial to get the one of count vectors (weighted_log_coefficient likewise)
  cases           per family, smoothing m and weighting, the state after some iterations

One iteration is an E-step with the old parameters, then an M-step: weights are shares of the
posterior mass, theta_kj = (T_kj + m/V) / (T_k + m) for the multinomial (V words) and
(T_kj + m/2) / (N_k + m) for the Bernoulli family, which reads "count > 0".  The log-likelihood is
that of the new parameters, without multinomial coefficients; "log_prior" is
sum m/V log theta or sum m/2 (log theta + log(1 - theta)), null when m = 0.
"posteriors" are those of the documents in "rows" under the new parameters.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable
from functools import partial
from importlib.metadata import version
from pathlib import Path
from random import Random
from typing import Any

import mpmath
import numpy as np

DOCUMENTS, WORDS, COMPONENTS = 60, 12, 3
EMPTY_DOCUMENT, UNUSED_WORD = 17, 11
ITERATIONS = (1, 2, 10, 100)
ROWS = (0, 17, 30, 45)
SEED = 20240229
DIGITS = 60
NEGLIGIBLE = 1e-290

Table = list[list[Any]]
State = tuple[list[Any], Table]


def corpus() -> list[list[int]]:
    """Documents of 1 to 30 words from three overlapping topics, one of them empty."""
    draw = Random(SEED).random
    counts = []
    for document in range(DOCUMENTS):
        topic, row = document % 3, [0] * WORDS
        for _ in range(0 if document == EMPTY_DOCUMENT else 1 + int(draw() ** 2 * 30)):
            own = draw() < 0.6
            row[3 * topic + int(draw() * 4) if own else int(draw() * UNUSED_WORD)] += 1
        row[0] += row[UNUSED_WORD]
        row[UNUSED_WORD] = 0
        counts.append(row)
    return counts


def start() -> State:
    """Weights 1/2, 1/4, 1/4 and uneven probabilities, all exact doubles."""
    table = []
    for component in range(COMPONENTS):
        parts = [12 + (5 * word + 7 * component * (word + 1)) % 16 for word in range(WORDS)]
        parts[component] += 256 - sum(parts)
        table.append([part / 256 for part in parts])
    return [0.5, 0.25, 0.25], table


def exact_joint(family: str, state: State, counts: list[list[int]]) -> Table:
    """Probability of each document with each component, by multiplication alone."""
    weights, table = state

    def one(row: list[int], theta: list[Any]) -> Any:
        if family == "bernoulli":
            return mpmath.fprod(t if x else 1 - t for x, t in zip(row, theta, strict=True))
        return mpmath.fprod(t**x for x, t in zip(row, theta, strict=True) if x)

    return [
        [w * one(row, theta) for w, theta in zip(weights, table, strict=True)] for row in counts
    ]


def exact_step(
    family: str, m: Any, state: State, counts: list[list[int]], row_weights: list[Any]
) -> State:
    """One iteration in mpmath."""
    joint = exact_joint(family, state, counts)
    shares = [
        [w * p / mpmath.fsum(row) for p in row] for w, row in zip(row_weights, joint, strict=True)
    ]
    masses = [mpmath.fsum(row[k] for row in shares) for k in range(COMPONENTS)]
    table = []
    for k in range(COMPONENTS):
        sums = [
            mpmath.fsum(
                q[k] * (x[j] > 0 if family == "bernoulli" else x[j])
                for q, x in zip(shares, counts, strict=True)
            )
            for j in range(WORDS)
        ]
        if family == "bernoulli":
            table.append([(t + m / 2) / (masses[k] + m) for t in sums])
        else:
            table.append([(t + m / WORDS) / (mpmath.fsum(sums) + m) for t in sums])
    total = mpmath.fsum(masses)
    return [mass / total for mass in masses], table


def log_prior(family: str, m: Any, table: Table, log: Callable[[Any], Any]) -> Any:
    """Logarithm of the unnormalised Dirichlet or beta prior that smoothing stands for."""
    if family == "bernoulli":
        return m / 2 * sum(log(t) + log(1 - t) for theta in table for t in theta)
    return m / WORDS * sum(log(t) for theta in table for t in theta)


def numpy_posterior(family: str, state: Any, counts: Any) -> tuple[Any, Any]:
    """Posteriors and log-likelihood of each row, by log-sum-exp."""
    weights, table = state
    present = counts[:, None, :] > 0
    with np.errstate(divide="ignore", invalid="ignore"):  # 0 log 0 is not used
        slopes, against = np.log(table), np.log1p(-table)
        multiples = np.where(present, counts[:, None, :] * slopes, 0.0)
    terms = np.where(present, slopes, against) if family == "bernoulli" else multiples
    joint = np.log(weights) + terms.sum(axis=2)
    top = joint.max(axis=1, keepdims=True)
    scaled = np.exp(joint - top)
    total = scaled.sum(axis=1, keepdims=True)
    return scaled / total, (top + np.log(total))[:, 0]


def numpy_step(family: str, m: float, state: Any, counts: Any, row_weights: Any) -> Any:
    """One iteration in binary64."""
    shares = numpy_posterior(family, state, counts)[0] * row_weights[:, None]
    masses = shares.sum(axis=0)
    if family == "bernoulli":
        table = (shares.T @ (counts > 0) + m / 2) / (masses[:, None] + m)
    else:
        sums = shares.T @ counts
        table = (sums + m / WORDS) / (sums.sum(axis=1, keepdims=True) + m)
    return masses / masses.sum(), table


def numbers(values: list[Any]) -> list[float]:
    """Nearest doubles."""
    return [float(value) for value in values]


def difference(exact: list[Any], rough: Any) -> float:
    """Largest relative difference over the numbers that are not negligible."""
    found: list[float] = np.ravel(rough).tolist()
    pairs = zip(numbers(exact), found, strict=True)
    return max(abs(a - b) / abs(a) for a, b in pairs if abs(a) > NEGLIGIBLE and b != 0.0)


def observe(family: str, smoothing: int, row_weights: list[float]) -> dict[str, Any]:
    """Both runs of one case."""
    counts = corpus()
    weights, table = start()
    m = mpmath.mpf(smoothing)
    state: State = (list(map(mpmath.mpf, weights)), [list(map(mpmath.mpf, row)) for row in table])
    given = [mpmath.mpf(weight) for weight in row_weights]
    rough: Any = (np.array(weights), np.array(table))
    array, array_weights = np.array(counts, dtype=float), np.array(row_weights)
    worst, states = 0.0, []
    for iteration in range(1, max(ITERATIONS) + 1):
        state = exact_step(family, m, state, counts, given)
        rough = numpy_step(family, smoothing, rough, array, array_weights)
        if iteration not in ITERATIONS:
            continue
        joint = exact_joint(family, state, counts)
        logs = [mpmath.log(mpmath.fsum(row)) for row in joint]
        likelihood = mpmath.fsum(w * log for w, log in zip(given, logs, strict=True))
        rough_likelihood = array_weights @ numpy_posterior(family, rough, array)[1]
        flat = [t for theta in state[1] for t in theta]
        for exact, found in (
            (state[0], rough[0]),
            (flat, rough[1]),
            ([likelihood], [rough_likelihood]),
        ):
            worst = max(worst, difference(exact, found))
        states.append(
            {
                "iteration": iteration,
                "log_likelihood": float(likelihood),
                "log_prior": float(log_prior(family, m, state[1], mpmath.log)) if m else None,
                "weights": numbers(state[0]),
                "probabilities": [numbers(theta) for theta in state[1]],
                "posteriors": [
                    numbers([p / mpmath.fsum(joint[i]) for p in joint[i]]) for i in ROWS
                ],
            }
        )
    return {
        "family": family,
        "smoothing": smoothing,
        "weighted": set(row_weights) != {1.0},
        "numpy_error": float(f"{worst:.1e}"),
        "states": states,
    }


def main() -> None:
    """Write multinomial.json beside this script."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("--out", type=Path, default=Path(__file__).parent)
    folder = parser.parse_args().out
    mpmath.mp.dps = DIGITS
    counts = corpus()
    ones = [1.0] * DOCUMENTS
    row_weights = [(1.0, 2.0, 0.5, 0.0, 1.25)[document % 5] for document in range(DOCUMENTS)]
    coefficients = [
        mpmath.loggamma(sum(row) + 1) - mpmath.fsum(mpmath.loggamma(x + 1) for x in row)
        for row in counts
    ]
    weights, table = start()
    head = {
        "library": "own EM",
        "versions": {name: version(name) for name in ("mpmath", "numpy")},
        "precision": f"{DIGITS} digits, rounded to binary64",
        "rows": ROWS,
        "counts": counts,
        "row_weights": row_weights,
        "start": {"weights": weights, "probabilities": table},
        "log_coefficient": float(mpmath.fsum(coefficients)),
        "weighted_log_coefficient": float(mpmath.fdot(row_weights, coefficients)),
    }
    cases = [
        observe(family, smoothing, given)
        for family in ("multinomial", "bernoulli")
        for smoothing, given in ((0, ones), (1, ones), (1, row_weights))
    ]
    dumps = partial(json.dumps, separators=(",", ":"))
    lines = ",\n".join(map(dumps, cases))
    opening = dumps(head).removesuffix("}").replace(',"', ',\n"')
    text = f'{opening},\n"cases":[\n{lines}\n]}}\n'
    (folder / "multinomial.json").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()

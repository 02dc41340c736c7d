"""Steps of mixtures as a plain program takes them, every operation rounded by a given function.

With nothing but doubles this is a careful program of another style than refclust's: sums in order,
forward substitution, shares from log p(x). With another rounding, or with a known mistake switched
on, the vectors have to notice.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

Rounding = Callable[[float], float]
Rows = list[list[float]]
POOLED = ("EEE", "EEI", "EII")


def double(x: float) -> float:
    return x


def single(x: float) -> float:
    try:
        found: float = struct.unpack("f", struct.pack("f", x))[0]
    except OverflowError:
        return math.copysign(math.inf, x)
    return found


def numbers(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: numbers(one) for key, one in value.items()}
    if isinstance(value, list):
        return [numbers(one) for one in value]
    return float.fromhex(value) if "0x" in value else float(Fraction(value))


@dataclass(frozen=True)
class Plain:
    """One step; ``mistakes`` are names of what is done wrongly."""

    rounding: Rounding = double
    mistakes: frozenset[str] = field(default_factory=frozenset)

    def total(self, terms: Sequence[float]) -> float:
        found = 0.0
        for term in terms:
            found = self.rounding(found + term)
        return found

    def dot(self, left: Sequence[float], right: Sequence[float]) -> float:
        r = self.rounding
        return self.total([r(a * b) for a, b in zip(left, right, strict=True)])

    def log(self, x: float) -> float:
        return self.rounding(math.log(x)) if x > 0 else -math.inf

    def cholesky(self, matrix: Rows) -> Rows:
        r, lower = self.rounding, [[0.0] * len(matrix) for _ in matrix]
        for i, line in enumerate(matrix):
            for j in range(i + 1):
                rest = r(r(line[j]) - self.dot(lower[i][:j], lower[j][:j]))
                if i == j:
                    lower[i][i] = r(math.sqrt(rest)) if rest > 0 else math.nan
                else:
                    lower[i][j] = r(rest / lower[j][j])
        return lower

    def square(self, lower: Rows, x: Sequence[float], mean: Sequence[float]) -> float:
        r = self.rounding
        if "expanded" in self.mistakes:
            own, cross, other = (
                self.dot(self.solved(lower, a), self.solved(lower, b))
                for a, b in ((x, x), (x, mean), (mean, mean))
            )
            return own - 2 * cross + other
        z = self.solved(lower, [r(a - b) for a, b in zip(x, mean, strict=True)])
        return self.dot(z, z)

    def solved(self, lower: Rows, x: Sequence[float]) -> list[float]:
        r, z = self.rounding, list[float]()
        for i, line in enumerate(lower):
            z.append(r(r(r(x[i]) - self.dot(line[:i], z)) / line[i]))
        return z

    def gaussian_joint(self, rows: Rows, state: dict[str, Any]) -> Rows:
        r, d = self.rounding, len(rows[0])
        columns = []
        for share, mean, spread in zip(
            state["weights"], state["means"], state["spreads"], strict=True
        ):
            lower = self.cholesky(whole(spread, d))
            log_det = self.total([self.log(lower[i][i]) for i in range(d)])
            sign = 1.0 if "sign" in self.mistakes else -1.0
            top = r(r(self.log(share) - r(d * 0.5 * r(math.log(2 * math.pi)))) - log_det)
            columns.append(
                [
                    r(top + r(sign * 0.5 * self.square(lower, [r(x) for x in row], mean)))
                    for row in rows
                ]
            )
        return [list(row) for row in zip(*columns, strict=True)]

    def count_joint(self, rows: Rows, kind: str, state: dict[str, Any]) -> Rows:
        found = []
        for row in rows:
            line = []
            for share, theta in zip(state["weights"], state["probabilities"], strict=True):
                terms = [
                    self.rounding(x * self.log(t)) for x, t in zip(row, theta, strict=True) if x
                ]
                if kind == "bernoulli":
                    terms += [self.log(1.0 - t) for x, t in zip(row, theta, strict=True) if not x]
                line.append(self.total([self.log(share), *terms]))
            found.append(line)
        return found

    def log_sum(self, logs: Sequence[float]) -> float:
        r, peak = self.rounding, max(logs)
        if peak == -math.inf:
            return peak
        if "unshifted" in self.mistakes:
            return self.log(self.total([r(math.exp(x)) for x in logs]))
        return r(peak + self.log(self.total([r(math.exp(x - peak)) for x in logs])))

    def answers(self, given: dict[str, Any]) -> dict[str, Any]:
        """Every key that is asked for."""
        r, rows = self.rounding, numbers(given["rows"])
        weights = numbers(given.get("weights", ["1"] * len(rows)))
        state = numbers(given["state"])
        normal = "model" in given
        logs = self._joint(given, rows, state)
        log_p = [self.log_sum(row) for row in logs]
        shares = [
            [r(math.exp(r(x - p))) if x > -math.inf else 0.0 for x in row]
            for row, p in zip(logs, log_p, strict=True)
        ]
        labels = [row.index(max(row)) for row in logs]
        q = shares
        if given.get("assign") == "hard":
            q = [[float(k == label) for k in range(len(logs[0]))] for label in labels]
        if "q" in given:
            q = numbers(given["q"])
        after, counts = (
            self._normal(given, rows, weights, q, state)
            if normal
            else self._counts(given, rows, weights, q)
        )
        found = {
            "row_log_likelihoods": log_p,
            "densities": [r(math.exp(x)) for x in log_p],
            "log_likelihood": self.weighed(weights, log_p),
            "responsibilities": shares,
            "labels": [Fraction(label) for label in labels],
            "counts": counts,
            **{f"next.{name}": value for name, value in after.items()},
        }
        entropy = -self.expected(weights, q, [[self.log(x) for x in row] for row in q])
        found |= {"entropy": entropy, "expected_complete": self.expected(weights, q, logs)}
        found["lower_bound"] = r(found["expected_complete"] + entropy)
        post = [[x - p for x in row] for row, p in zip(logs, log_p, strict=True)]
        gaps = [
            [self.log(a) - b if a else 0.0 for a, b in zip(*pair, strict=True)]
            for pair in zip(q, post, strict=True)
        ]
        found["kl"] = self.expected(weights, q, gaps)
        try:
            new = self._joint(given, rows, after)
        except ZeroDivisionError:
            return found
        complete = self.expected(weights, q, new)
        found |= {
            "next.expected_complete": complete,
            "next.lower_bound": complete
            if "no entropy" in self.mistakes
            else r(complete + entropy),
            "next.log_likelihood": self.weighed(weights, [self.log_sum(row) for row in new]),
        }
        return found

    def weighed(self, weights: list[float], values: list[float]) -> float:
        return self.total([self.rounding(w * x) for w, x in zip(weights, values, strict=True) if w])

    def expected(self, weights: list[float], q: Rows, values: Rows) -> float:
        r = self.rounding
        return self.total(
            [
                r(w * r(share * x))
                for w, row, line in zip(weights, q, values, strict=True)
                for share, x in zip(row, line, strict=True)
                if share and w
            ]
        )

    def _joint(self, given: dict[str, Any], rows: Rows, state: dict[str, Any]) -> Rows:
        if "model" in given:
            return self.gaussian_joint(rows, state)
        return self.count_joint(rows, given["kind"], state)

    def _normal(
        self,
        given: dict[str, Any],
        rows: Rows,
        weights: list[float],
        q: Rows,
        state: dict[str, Any],
    ) -> tuple[dict[str, Any], list[float]]:
        r, d, k = self.rounding, len(rows[0]), len(q[0])
        mass = [[r(w * row[c]) for w, row in zip(weights, q, strict=True)] for c in range(k)]
        counts, whole_weight = [self.total(m) for m in mass], self.total(weights)
        columns = [[r(x) for x in column] for column in zip(*rows, strict=True)]
        means = [
            [r(self.dot(m, x) / n) for x in columns] for m, n in zip(mass, counts, strict=True)
        ]
        floor = numbers(given.get("floor", "0"))
        scatters = []
        for c, m in enumerate(mass):
            around = state["means"][c] if "old mean" in self.mistakes else means[c]
            away = [[r(x - a) for x in column] for column, a in zip(columns, around, strict=True)]
            scatter = [
                [
                    self.dot(m, [r(a * b) for a, b in zip(away[i], away[j], strict=True)])
                    for j in range(d)
                ]
                for i in range(d)
            ]
            if "raw moments" in self.mistakes:
                scatter = [
                    [
                        r(
                            self.dot(
                                m, [r(a * b) for a, b in zip(columns[i], columns[j], strict=True)]
                            )
                            - r(counts[c] * r(means[c][i] * means[c][j]))
                        )
                        for j in range(d)
                    ]
                    for i in range(d)
                ]
            for j, column in enumerate(columns):
                mean = self.dot(weights, column) / whole_weight
                variance = self.dot(weights, [(x - mean) ** 2 for x in column]) / whole_weight
                scatter[j][j] = r(scatter[j][j] + floor * variance)
            scatters.append(scatter)
        sizes = [n - 1 if "divisor" in self.mistakes else n for n in counts]
        if given["model"] in POOLED:
            pooled = [[self.total([s[i][j] for s in scatters]) for j in range(d)] for i in range(d)]
            scatters, sizes = [pooled] * k, [self.total(sizes)] * k
        spreads = [shaped(given["model"], s, n) for s, n in zip(scatters, sizes, strict=True)]
        shares = [r(n / whole_weight) for n in counts]
        return {"weights": shares, "means": means, "spreads": spreads}, counts

    def _counts(
        self,
        given: dict[str, Any],
        rows: Rows,
        weights: list[float],
        q: Rows,
    ) -> tuple[dict[str, Any], list[float]]:
        r, k, d = self.rounding, len(q[0]), len(rows[0])
        m, bernoulli = numbers(given.get("m", "0")), given["kind"] == "bernoulli"
        p = numbers(given["p"]) if "p" in given else [0.5 if bernoulli else 1 / d] * d
        mass = [[r(w * row[c]) for w, row in zip(weights, q, strict=True)] for c in range(k)]
        counts = [self.total(one) for one in mass]
        thetas = []
        for one, n in zip(mass, counts, strict=True):
            words = [self.dot(one, column) for column in zip(*rows, strict=True)]
            whole_words = n if bernoulli else self.total(words)
            thetas.append(
                [r(r(x + r(m * y)) / r(whole_words + m)) for x, y in zip(words, p, strict=True)]
            )
        whole_weight = self.total(counts)
        shares = [r(n / whole_weight) for n in counts]
        return {"weights": shares, "probabilities": thetas}, counts


def whole(spread: list[float], d: int) -> Rows:
    if len(spread) == d * d:
        return [spread[i * d : (i + 1) * d] for i in range(d)]
    diagonal = spread * d if len(spread) == 1 else spread
    return [[diagonal[i] if i == j else 0.0 for j in range(d)] for i in range(d)]


def shaped(model: str, scatter: Rows, n: float) -> list[float]:
    d = len(scatter)
    if model in ("VVV", "EEE"):
        return [x / n for line in scatter for x in line]
    if model in ("VVI", "EEI"):
        return [scatter[i][i] / n for i in range(d)]
    return [math.fsum(scatter[i][i] for i in range(d)) / n / d]

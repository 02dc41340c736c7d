"""Golden vectors of chapters 30, 31 and 33 answered by the formula room, key by key.

Normal densities and their estimates are written here once more, plainly: chapter 32 has a file of
its own in the room. Runs round their parameters once per iteration, so that their answers have
bounds; everything else is exact.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

from refclust.formulas import classify, mixtures, multinomial
from refclust.formulas.kmeans import centre
from refclust.formulas.mixtures import Log
from refclust.formulas.vectors import determinant, difference, dot, exact, scaled, solution, total
from refclust.numbers.real import Real, exp, sqrt
from refclust.numbers.reals.constants import pi
from refclust.numbers.sampling import stream
from refclust.vectors.answers import Answer, Computed, passes

SHARED = ("EEE", "EEI", "EII")


def number(text: Any) -> Any:
    """The numbers of a case, exactly."""
    if isinstance(text, dict):
        return {key: number(one) for key, one in text.items()}
    if isinstance(text, list):
        return [number(one) for one in text]
    return Fraction(float.fromhex(text)) if "0x" in text else Fraction(text)


def answer(value: Any) -> Answer:
    """An exact value as an answer."""
    if isinstance(value, Sequence):
        return [answer(one) for one in value]
    if isinstance(value, Real):
        return Computed(value)
    return Fraction(value) if isinstance(value, int) else value


def sharp(expected: Any) -> Any:
    """An expectation without its bound: only the nearest double will do."""
    if "list" in expected:
        return {"list": [sharp(one) for one in expected["list"]]}
    return {key: value for key, value in expected.items() if key != "bound"}


def meets(expected: Any, found: Any, *, rounded: bool) -> bool:
    """Whether a value of the room meets an expectation, by its bound or to the nearest double."""
    return passes(expected if rounded else sharp(expected), answer(found))


# Normal densities.


def distance(x: Any, mu: Any, sigma: Any) -> Any:
    away = difference(x, mu)
    return dot(away, solution(sigma, away))


def normal(x: Any, mu: Any, sigma: Any) -> Any:
    return exp(-distance(x, mu, sigma) / 2) / sqrt((2 * pi) ** len(mu) * determinant(sigma))


def whole(spread: Sequence[Any], d: int) -> list[list[Any]]:
    """A covariance as a matrix, from what the model writes down."""
    if len(spread) == d * d:
        return [list(spread[i * d : (i + 1) * d]) for i in range(d)]
    own = list(spread) * (1 if len(spread) == d else d)
    return [[own[i] if i == j else Fraction(0) for j in range(d)] for i in range(d)]


def flat(model: str, sigma: Any) -> list[Any]:
    d = range(len(sigma))
    if model.endswith("II"):
        return [total(sigma[i][i] for i in d) / len(sigma)]
    diagonal = model.endswith("I")
    return [sigma[i][j] for i in d for j in d if i == j or not diagonal]


def maximised(model: str, x: Any, w: Any, q: Any) -> Any:
    """The M-step of VVV, VVI, VII and their shared twins."""
    parts, d = [], len(x[0])
    for q_k in zip(*q, strict=True):
        mass = [exact(a) * exact(b) for a, b in zip(w, q_k, strict=True)]
        mu = centre(x, mass)
        parts.append((mass, mu, classify.scatter(x, mass, mu)))
    pooled = scaled(1 / total(w), [*map(list, _sum(s for _, _, s in parts))])
    theta = [
        (mu, whole(flat(model, pooled if model in SHARED else scaled(1 / total(mass), s)), d))
        for mass, mu, s in parts
    ]
    return mixtures.component_weights(q, w), theta


def _sum(matrices: Iterator[Any]) -> Any:
    from refclust.formulas.vectors import sum_of

    return sum_of(matrices)


# One step.


@dataclass(frozen=True)
class Step:
    """A state, and the rows with their shares."""

    given: dict[str, Any]

    @cached_property
    def x(self) -> Any:
        return number(self.given["rows"])

    @cached_property
    def w(self) -> Any:
        return number(self.given.get("weights", ["1"] * len(self.x)))

    @property
    def kind(self) -> str:
        return str(self.given.get("kind", "gaussian"))

    @cached_property
    def mixture(self) -> Any:
        state = number(self.given["state"])
        if self.kind != "gaussian":
            return state["weights"], state["probabilities"]
        d = len(self.x[0])
        spreads = [whole(spread, d) for spread in state["spreads"]]
        return state["weights"], list(zip(state["means"], spreads, strict=True))

    @property
    def p(self) -> Callable[[Any, Any], Any]:
        return {
            "multinomial": multinomial.probability,
            "bernoulli": multinomial.presence_probability,
            "gaussian": lambda x, theta: normal(x, *theta),
        }[self.kind]

    @cached_property
    def smoothing(self) -> tuple[Any, Any]:
        d = len(self.x[0])
        usual = [Fraction(1, d if self.kind == "multinomial" else 2)] * d
        return number(self.given.get("m", "0")), number(self.given.get("p", [])) or usual

    @cached_property
    def responsibilities(self) -> Any:
        own = {
            "multinomial": multinomial.responsibilities,
            "bernoulli": multinomial.presence_responsibilities,
        }.get(self.kind)
        if own is not None:
            return [own(x, self.mixture) for x in self.x]
        return [mixtures.responsibilities(x, self.mixture, self.p) for x in self.x]

    @cached_property
    def labels(self) -> Any:
        return [mixtures.prediction(x, self.mixture, self.p, "prior")[0] for x in self.x]

    @cached_property
    def q(self) -> Any:
        if "q" in self.given:
            return number(self.given["q"])
        if self.given.get("assign") == "hard":
            return [mixtures.one_hot(y, len(self.mixture[0])) for y in self.labels]
        return self.responsibilities

    @cached_property
    def next(self) -> Any:
        if self.kind == "gaussian":
            return maximised(self.given["model"], self.x, self.w, self.q)
        own = {
            "multinomial": multinomial.word_probabilities,
            "bernoulli": multinomial.presence_probabilities,
        }[self.kind]
        columns = zip(*self.q, strict=True)
        theta = [own(self.x, self.w, q_k, *self.smoothing) for q_k in columns]
        # An impossible row has no share, so the shares need not add up to the weight.
        by_rows = multinomial.weights if all(map(any, self.q)) else mixtures.component_weights
        return by_rows(self.q, self.w), theta

    def log_likelihood(self, mixture: Any) -> Log:
        own = {
            "multinomial": multinomial.log_likelihood,
            "bernoulli": multinomial.presence_log_likelihood,
        }.get(self.kind)
        if own is not None:
            return own(self.x, self.w, mixture)
        return mixtures.log_likelihood(self.x, self.w, mixture, self.p)

    def expected(self, mixture: Any) -> Log:
        return mixtures.expected_log_likelihood(self.q, self.x, self.w, mixture, self.p)

    @property
    def posterior(self) -> bool:
        return "q" not in self.given and "assign" not in self.given

    def bound(self) -> Log:
        if self.posterior and self.kind == "multinomial":
            return multinomial.bound(self.mixture, self.x, self.w, self.next)
        return mixtures.bound(self.mixture, self.x, self.w, self.next, self.p)

    def joint_bound(self) -> Log:
        """EM-ELBO itself, over all ways to give components to rows."""
        k = range(len(self.mixture[0]))
        q = {
            z: math.prod((row[c] for row, c in zip(self.q, z, strict=True)), start=Fraction(1))
            for z in itertools.product(k, repeat=len(self.x))
        }
        return mixtures.lower_bound(q, self.x, self.mixture, self.p)

    def certified(self) -> Fraction:
        low, high = mixtures.certified(self.x, self.w, self.mixture, self.p)
        return (Fraction(low) + Fraction(high)) / 2

    def row(self, x: Any) -> Log:
        if self.kind == "multinomial" and list(self.mixture[0]) == [1]:
            return multinomial.document_log_likelihood(x, self.mixture[1][0])
        return mixtures.log_likelihood([x], [1], self.mixture, self.p)


STEP: Mapping[str, Callable[[Step], Any]] = {
    "row_log_likelihoods": lambda s: [s.row(x) for x in s.x],
    "densities": lambda s: [mixtures.density(x, s.mixture, s.p) for x in s.x],
    "log_likelihood": lambda s: s.log_likelihood(s.mixture),
    "log_likelihood[coefficient=multinomial]": lambda s: multinomial.count_log_likelihood(
        s.x, s.w, s.mixture
    ),
    "certified_log_likelihood": Step.certified,
    "responsibilities": lambda s: s.responsibilities,
    "labels": lambda s: s.labels,
    "entropy": lambda s: total(
        exact(w) * mixtures.entropy(q) for w, q in zip(s.w, s.q, strict=True)
    ),
    "expected_complete": lambda s: s.expected(s.mixture),
    "lower_bound": lambda s: mixtures.lower_bound_by_rows(s.q, s.x, s.w, s.mixture, s.p),
    "kl": lambda s: mixtures.divergence(s.q, s.x, s.w, s.mixture, s.p),
    "counts": lambda s: (
        scaled(total(s.w), mixtures.component_weights(s.q, s.w))
        if all(map(any, s.q))
        else [total(w * q[k] for w, q in zip(s.w, s.q, strict=True)) for k in range(len(s.q[0]))]
    ),
    "next.weights": lambda s: s.next[0],
    "next.means": lambda s: [mu for mu, _ in s.next[1]],
    "next.spreads": lambda s: [flat(s.given["model"], sigma) for _, sigma in s.next[1]],
    "next.probabilities": lambda s: s.next[1],
    "next.expected_complete": lambda s: s.expected(s.next),
    "next.lower_bound": Step.bound,
    "next.log_likelihood": lambda s: s.log_likelihood(s.next),
    "log_prior": lambda s: multinomial.log_prior(s.mixture[1], *s.smoothing, s.kind),
    "next.log_prior": lambda s: multinomial.log_prior(s.next[1], *s.smoothing, s.kind),
}


# Classes.


@dataclass(frozen=True)
class Trained(Step):
    """Labelled rows and rows to be classified."""

    @property
    def kind(self) -> str:
        return str(self.given.get("kind", "gaussian"))

    @property
    def y(self) -> list[int]:
        return list(self.given["labels"])

    @property
    def k(self) -> int:
        return max(self.y) + 1

    @cached_property
    def queries(self) -> Any:
        return number(self.given["queries"])

    @cached_property
    def prior(self) -> Any:
        by = self.given.get("prior", "documents")
        return multinomial.class_prior(self.x, self.y, self.w, self.k, by)

    @cached_property
    def estimates(self) -> Any:
        """QDA-PARAM, in the form of the model; shared ones LDA-POOL."""
        model, d = self.given["model"], len(self.x[0])
        found = classify.estimates(self.x, self.y, self.w)
        pooled = classify.pooled(self.x, self.y, self.w) if model in SHARED else None
        return [
            (pi_k, mu, whole(flat(model, pooled or sigma), d))
            for pi_k, (_, mu, sigma) in zip(self.prior, found, strict=True)
        ]

    @cached_property
    def mixture(self) -> Any:
        if self.kind == "gaussian":
            return self.prior, [one[1:] for one in self.estimates]
        parts = [classify.own(c, self.x, self.y, self.w) for c in range(self.k)]
        m, p = self.smoothing
        if self.kind == "multinomial" and not m:
            return self.prior, multinomial.class_probabilities(self.x, self.y, self.w, self.k, p)
        if self.halves:
            sums = [multinomial.word_counts(*part, [1] * len(part[0])) for part in parts]
            theta = [[multinomial.half_estimate(t_j, total(t)) for t_j in t] for t in sums]
            return self.prior, theta
        own = {
            "multinomial": multinomial.word_probabilities,
            "bernoulli": multinomial.presence_probabilities,
        }[self.kind]
        return self.prior, [own(*part, [1] * len(part[0]), m, p) for part in parts]

    @property
    def halves(self) -> bool:
        m, p = self.smoothing
        return self.kind == "multinomial" and m == 1 and set(p) == {Fraction(1, 2)}

    def score(self, x: Any, c: int) -> Log:
        rows, w = classify.own(c, self.x, self.y, self.w)
        if self.kind == "multinomial":
            return multinomial.score(x, self.prior[c], self.mixture[1][c])
        if self.kind == "bernoulli":
            return classify.bernoulli_naive_bayes(x, self.prior[c], rows, w, *self.smoothing)
        if self.given["model"] == "VVI":
            return classify.gaussian_naive_bayes(x, self.prior[c], rows, w, normal)
        return mixtures.logs([(1, mixtures.joint(x, self.mixture, self.p)[c])])

    def label(self, x: Any) -> int:
        if self.kind == "gaussian":
            if self.given.get("prior") == "equal":
                return classify.nearest_gaussian(x, self.estimates, normal)
            return classify.most_probable(x, self.estimates, normal)
        if self.kind == "multinomial":
            return multinomial.predicted(x, self.mixture)
        return mixtures.prediction(x, self.mixture, self.p)[0]

    def joint(self) -> Log:
        if self.kind == "multinomial":
            return multinomial.complete_log_likelihood(self.x, self.y, self.w, self.mixture)
        one_hot = [mixtures.one_hot(y, self.k) for y in self.y]
        return mixtures.expected_log_likelihood(one_hot, self.x, self.w, self.mixture, self.p)


TRAINED: Mapping[str, Callable[[Trained], Any]] = {
    "weights": lambda s: s.prior,
    "probabilities": lambda s: s.mixture[1],
    "totals": lambda s: [total(theta) for theta in s.mixture[1]],
    "means": lambda s: [mu for _, mu, _ in s.estimates],
    "spreads": lambda s: [flat(s.given["model"], sigma) for _, _, sigma in s.estimates],
    "discriminants": lambda s: [
        [classify.discriminant(x, a, b, c, distance) for a, b, c in s.estimates] for x in s.queries
    ],
    "scores": lambda s: [[s.score(x, c) for c in range(s.k)] for x in s.queries],
    "posteriors": lambda s: [mixtures.prediction(x, s.mixture, s.p, "prior")[1] for x in s.queries],
    "labels": lambda s: [s.label(x) for x in s.queries],
    "linear.slopes": lambda s: [classify.linear_form(*one)[0] for one in s.estimates],
    "linear.offsets": lambda s: [classify.linear_form(*one)[1] for one in s.estimates],
    "log_likelihood": Trained.joint,
}


# Runs.


@dataclass(frozen=True)
class Run(Step):
    """A whole run, rounded once per iteration."""

    @property
    def k(self) -> int:
        return int(self.given["k"])

    @property
    def variation(self) -> str:
        return str(self.given.get("variation", "em"))

    @cached_property
    def numbers(self) -> Any:
        return stream(int(self.given.get("seed", "0")))

    def m_step(self, x: Any, w: Any, q: Any) -> Any:
        if self.kind == "gaussian":
            return maximised(self.given["model"], x, w, q)
        own = {
            "multinomial": multinomial.word_probabilities,
            "bernoulli": multinomial.presence_probabilities,
        }[self.kind]
        columns = zip(*q, strict=True)
        return multinomial.weights(q, w), [own(x, w, q_k, *self.smoothing) for q_k in columns]

    def first_step(self, x: Any, w: Any, q: Any) -> Any:
        """The M-step of a start that is not given labels: with an imagined row for counts."""
        if self.kind == "gaussian":
            return self.m_step(x, w, q)
        theta = []
        for q_k in zip(*q, strict=True):
            t = multinomial.word_counts(x, w, q_k)
            size = (
                total(t)
                if self.kind == "multinomial"
                else total(a * exact(b) for a, b in zip(w, q_k, strict=True))
            )
            theta.append(self.like(t, size))
        return multinomial.weights(q, w), theta

    def like(self, t: Any, size: Any) -> Any:
        return multinomial.starting_probabilities(
            t, size, self.x, self.w, *self.smoothing, self.kind
        )

    def around(self, rows: Any) -> Any:
        equal = [Fraction(1, self.k)] * self.k
        if self.kind == "gaussian":
            ones = [[1]] * len(self.x)
            sigma = maximised(self.given["model"], self.x, self.w, ones)[1][0][1]
            return equal, [(row, sigma) for row in rows]
        sizes = [total(row) if self.kind == "multinomial" else 1 for row in rows]
        return equal, [self.like(row, size) for row, size in zip(rows, sizes, strict=True)]

    def start(self) -> Any:
        given = self.given["start"]
        if isinstance(given, dict):
            return Step({**self.given, "state": given}).mixture
        count = self.k * (len(self.x) if given == "random" else 1)
        u = [] if isinstance(given, list) else [self.numbers.random() for _ in range(count)]
        step = self.m_step if isinstance(given, list) else self.first_step
        found = mixtures.start(given, self.x, self.w, self.k, u, step, self.around)
        return mixtures.in_doubles(found)

    def shares(self, x: Any, mixture: Any, p: Any) -> Any:
        if self.variation == "stochastic":
            return mixtures.drawn_component(x, self.numbers.random(), mixture, p)
        if self.variation == "monte-carlo":
            u = [self.numbers.random() for _ in range(int(self.given["samples"]))]
            return mixtures.drawn_shares(x, u, mixture, p)
        if self.variation in ("hard", "top"):
            return mixtures.restricted(x, self.top, mixture, p)[0]
        return mixtures.responsibilities(x, mixture, p)

    @property
    def top(self) -> int:
        return int(self.given.get("top", "1"))

    def log_prior(self, mixture: Any) -> Log:
        if self.kind == "gaussian":
            return Fraction(0)
        return multinomial.log_prior(mixture[1], *self.smoothing, self.kind)

    def objective(self, mixture: Any) -> Log:
        if self.variation in ("hard", "top"):
            parts = [mixtures.restricted(x, self.top, mixture, self.p)[1] for x in self.x]
            own = total(exact(w) * f for w, f in zip(self.w, parts, strict=True))
            return mixtures.added(own, self.log_prior(mixture))
        return mixtures.penalised(self.x, self.w, mixture, self.p, self.log_prior)

    def damped(self, mixture: Any) -> Callable[..., Any]:
        """The M-step of generalised EM, which knows where it comes from."""
        now = [mixture]

        def step(x: Any, w: Any, q: Any) -> Any:
            def value(one: Any) -> Log:
                own = mixtures.lower_bound_by_rows(q, x, w, one, self.p)
                return mixtures.added(own, self.log_prior(one))

            eta = number(self.given["damping"])
            now[0] = mixtures.damped(now[0], self.m_step(x, w, q), eta, value)
            now[0] = mixtures.in_doubles(now[0])
            return now[0]

        return step

    def once(self) -> dict[str, Any]:
        mixture = self.start()
        step = self.damped(mixture) if self.variation == "generalized" else self.m_step
        loop = mixtures.em(self.x, self.w, mixture, self.p, step, self.shares)
        if self.kind == "multinomial" and self.variation == "em":
            loop = multinomial.em(self.x, self.w, mixture, *self.smoothing)
        states = [(mixture, mixtures.log_likelihood(self.x, self.w, mixture, self.p))]
        objectives = [float(self.objective(mixture))]
        tau = number(self.given.get("tolerance", "0"))
        sampled = self.variation in ("stochastic", "monte-carlo")
        while True:
            # Where components are drawn no gain ends a run: each pass counts as a great one.
            known = list(map(float, range(len(states)))) if sampled else objectives
            why = mixtures.stopped(known, self.w, tau, int(self.given["limit"]))
            if why is not None:
                break
            states.append(next(loop))
            objectives.append(float(self.objective(states[-1][0])))
        if sampled:  # the last pass has draws, too, though nothing follows from them
            for x in self.x:
                self.shares(x, states[-1][0], self.p)
        best = mixtures.best_run(objectives) if sampled else len(states) - 1
        return {
            "trace.log_likelihood": [j for _, j in states],
            "trace.objective": objectives,
            "iterations": len(states) - 1,
            "stopped": ("tolerance", "limit").index(why),
            "mixture": states[best][0],
            "log_likelihood": states[best][1],
            "objective": objectives[best],
        }

    @cached_property
    def found(self) -> dict[str, Any]:
        runs = [self.once() for _ in range(int(self.given.get("restarts", "1")))]
        best = mixtures.best_run([run["objective"] for run in runs])
        found = runs[best]
        weights, theta = found["mixture"]
        found |= {
            "best": best,
            "runs.log_likelihood": [run["log_likelihood"] for run in runs],
            "weights": weights,
            "probabilities": theta,
            "labels": [mixtures.prediction(x, (weights, theta), self.p)[0] for x in self.x],
        }
        if self.kind == "gaussian":
            found["means"] = [mu for mu, _ in theta]
            found["spreads"] = [flat(self.given["model"], sigma) for _, sigma in theta]
        return found


# Samples.


def sample(given: dict[str, Any]) -> dict[str, Any]:
    """Rows of words or of presences drawn from a state."""
    state = number(given["state"])
    rng = stream(int(given["seed"]))
    u = iter(rng.random, None)

    def draw(theta: Any, u: Any) -> Any:
        if given["kind"] == "bernoulli":
            return multinomial.drawn_presences(theta, u)
        return multinomial.drawn_document(theta, u, number(given["length"]))

    mixture = state["weights"], state["probabilities"]
    found = [mixtures.sample(u, mixture, draw) for _ in range(int(given["n"]))]
    return {"labels": [z for z, _ in found], "rows": [row for _, row in found]}

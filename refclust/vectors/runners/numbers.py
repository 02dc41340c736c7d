"""Answers about numbers: exact reals, log space, random streams (chapter 05)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any

from refclust.backends.session import Session
from refclust.errors import BadVectorFile
from refclust.numbers import logspace, real, sampling
from refclust.numbers.real import Real
from refclust.vectors.answers import Answer, Computed, Input


def reals(inputs: Input, key: str, session: Session) -> Answer:  # noqa: ARG001
    """Answer one key of a case about an exact real number."""
    x = build(inputs["expression"])
    if key == "value":
        return Computed(x)
    if key == "sign":
        return Fraction(x.sign())
    raise BadVectorFile(f"no reading of a real is called {key!r}")


_FUNCTIONS: Mapping[str, Callable[[Real], Real]] = {
    "log": real.log,
    "exp": real.exp,
    "sqrt": real.sqrt,
}


def build(expression: Any) -> Real:
    """Build a real from its tree in JSON: a rational as a string, or [operator, arguments…].

    >>> float(build(["/", ["log", "8"], ["log", "2"]]))
    3.0
    """
    if isinstance(expression, str):
        return Real(expression)
    operator, *arguments = expression
    if operator == "^":
        base, exponent = arguments
        return build(base) ** int(exponent)
    values = [build(argument) for argument in arguments]
    if operator in _FUNCTIONS:
        return _FUNCTIONS[operator](*values)
    if operator == "-" and len(values) == 1:
        return -values[0]
    accumulated, *rest = values
    for value in rest:
        if operator == "+":
            accumulated = accumulated + value
        elif operator == "-":
            accumulated = accumulated - value
        elif operator == "*":
            accumulated = accumulated * value
        elif operator == "/":
            accumulated = accumulated / value
        else:
            raise BadVectorFile(f"no operator is called {operator!r}")
    return accumulated


def logarithms(inputs: Input, key: str, session: Session) -> Answer:  # noqa: ARG001
    """Answer one key of a case about sums in log space."""
    if key == "log1mexp":
        return logspace.log1mexp(number(inputs["x"]))
    if key == "xlogy":
        return logspace.xlogy(number(inputs["x"]), number(inputs["y"]))
    weights = [number(text) for text in inputs["log_weights"]]
    if key == "logsumexp":
        return logspace.logsumexp(weights)
    shares, total = logspace.normalise(weights)
    return shares if key == "log_shares" else total


def draws(inputs: Input, key: str, session: Session) -> Answer:  # noqa: ARG001
    """Answer one key of a case about a random stream."""
    rng = sampling.stream(int(inputs["seed"]))
    if key == "numbers":
        return [Fraction(rng.random()) for _ in range(5)]
    if key == "indices":
        return [Fraction(sampling.below(rng, int(inputs["k"]))) for _ in range(8)]
    if key == "order":
        return [Fraction(item) for item in sampling.shuffled(rng, range(int(inputs["s"])))]
    raise BadVectorFile(f"no reading of a random stream is called {key!r}")


def number(text: Any) -> Any:
    """Read a number of a vector file; what is no number is passed on to be refused."""
    if not isinstance(text, str):
        return text
    if "0x" in text:
        return float.fromhex(text)
    return float(text) if text in ("nan", "inf", "-inf") else Fraction(text)

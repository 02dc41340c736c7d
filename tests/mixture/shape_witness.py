"""The 14 covariance models by free numbers: a second description, to search for better covariances.

A model is spelt out as volumes, shapes and rotations; their number is that of the free parameters.
The objective, and every search, run in NumPy and SciPy.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy.linalg import expm

from refclust.mixture.covariance.models import MODELS
from refclust.mixture.covariance.parts import Blocks


@dataclass(frozen=True)
class Case:
    """Counts and scatter matrices of some components."""

    counts: tuple[float, ...]
    matrices: Any

    @property
    def d(self) -> int:
        """The number of columns."""
        return int(self.matrices.shape[1])

    @cached_property
    def weight(self) -> float:
        """All rows together."""
        return sum(self.counts)

    def scatters(self, model: str) -> Blocks:
        """The scatters as the model wants them."""
        if MODELS[model].form == "full":
            return tuple(tuple(map(float, s.ravel())) for s in self.matrices)
        return tuple(tuple(map(float, np.diag(s))) for s in self.matrices)

    def objective(self, covariances: Any) -> float:
        """Minus half the sum of N log|C| + tr(S / C)."""
        parts = zip(self.counts, self.matrices, covariances, strict=True)
        return float(
            sum(
                -0.5 * (n * np.linalg.slogdet(c)[1] + np.trace(np.linalg.solve(c, s)))
                for n, s, c in parts
            )
        )


def case(k: int, d: int, seed: int) -> Case:
    """Groups of few rows, each with axes, shape and volume of its own."""
    random = np.random.default_rng(seed)
    sizes = random.integers(d + 2, 6 * d, size=k)
    matrices = []
    for n in sizes:
        rotation = np.linalg.qr(random.normal(size=(d, d)))[0]
        x = random.normal(size=(n, d)) * np.exp(random.normal(size=d)) @ rotation
        x = (x - x.mean(axis=0)) * np.exp(random.normal())
        matrices.append((x.T @ x + (x.T @ x).T) / 2)
    return Case(tuple(map(float, sizes)), np.array(matrices))


def whole(model: str, blocks: Blocks, d: int) -> Any:
    """The covariances as matrices."""
    form = MODELS[model].form
    if form == "spherical":
        return np.array([np.eye(d) * v for (v,) in blocks])
    return np.array([np.diag(b) if form == "diagonal" else np.reshape(b, (d, d)) for b in blocks])


class Description:
    """A point of a model, as volumes, shapes and rotations away from it."""

    def __init__(self, model: str, covariances: Any) -> None:
        self.letters = model
        self.k: int = covariances.shape[0]
        self.d: int = covariances.shape[1]
        volumes = np.exp(np.linalg.slogdet(covariances)[1] / self.d)
        shapes = covariances / volumes[:, None, None]
        if model[2] == "I":
            self.axes = np.array([np.eye(self.d)] * self.k)
        elif model[2] == "E":
            # Common axes are those of any mixture of the shapes; irrational factors avoid ties.
            factors = np.sqrt(np.arange(2, self.k + 2))
            mixture = np.tensordot(factors, shapes, axes=1)
            self.axes = np.array([np.linalg.eigh(mixture)[1]] * self.k)
        else:
            self.axes = np.linalg.eigh(shapes)[1]
        along = np.log([np.diag(a.T @ s @ a) for a, s in zip(self.axes, shapes, strict=True)])
        self.start = np.concatenate(
            [
                np.log(volumes)[: self._copies(0)],
                along[: self._copies(1), :-1].ravel(),
                np.zeros(self._copies(2) * self.d * (self.d - 1) // 2),
            ]
        )

    def _copies(self, place: int) -> int:
        return {"I": 0, "E": 1, "V": self.k}[self.letters[place]]

    def covariances(self, numbers: Any) -> Any:
        """The covariances that belong to some numbers."""
        first = self._copies(0)
        second = first + self._copies(1) * (self.d - 1)
        volumes = np.broadcast_to(np.exp(numbers[:first]), self.k)
        free = np.zeros((max(self._copies(1), 1), self.d - 1))
        if second > first:
            free = numbers[first:second].reshape(-1, self.d - 1)
        logs = np.column_stack([free, -free.sum(axis=1)])
        shapes = np.broadcast_to(np.exp(logs), (self.k, self.d))
        turns = np.zeros((max(self._copies(2), 1), self.d, self.d))
        if len(numbers) > second:
            upper = np.triu_indices(self.d, 1)
            for turn, angles in zip(
                turns, numbers[second:].reshape(self._copies(2), -1), strict=True
            ):
                turn[upper] = angles
                turn -= turn.T.copy()
        axes = self.axes @ np.array([expm(turn) for turn in turns])
        return np.einsum("k,kij,kj,klj->kil", volumes, axes, shapes, axes)

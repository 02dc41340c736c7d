"""The M-step of VVE from the start labels of mclust.json, by an independent method.

mclust's VVE is not the maximum (see observe_mixtures.R), so no peer is left to compare with.  Here
the common orientation D minimises sum_k n_k log |diag(D' S_k D)|, S_k the covariance of group k
with divisor n_k, by rotations of two columns at a time (the idea of Flury and Gautschi): for each
pair the best angle is searched on a grid and polished by Newton's method.  Of STARTS starting
orientations the best end is kept; "local_minima" counts the distinct values reached.
Then Sigma_k = D diag(D' S_k D) D'.  With one group only D = eigenvectors, so G starts at 2.

To rerun with numpy 2.4.6, in the folder above this one: python -m mixtures.vve_step [--out FOLDER]

File format of vve.json: per data set and number of components "criterion" (the minimum),
"mclust_criterion" (of mclust's "step"), "gradient" (largest absolute derivative of the criterion
by an angle between two columns, at the minimum), "covariances", and "log_likelihood" of the data
with these covariances, the groups' means and shares.
"""

from __future__ import annotations

import argparse
import json
from functools import partial
from importlib.metadata import version
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np

STARTS = 24
SWEEPS = 200
ANGLES = np.linspace(-np.pi / 4, np.pi / 4, 65)


def criterion(rotated: Any, sizes: Any) -> float:
    """Sum of n_k log |diag| over the rotated covariances."""
    return float(sizes @ np.log(np.diagonal(rotated, axis1=1, axis2=2)).sum(axis=1))


def gradient(rotated: Any, sizes: Any, i: int, j: int) -> float:
    """Derivative of the criterion when columns i and j turn towards each other."""
    ratio = 1 / rotated[:, i, i] - 1 / rotated[:, j, j]
    return float(sizes @ (2 * rotated[:, i, j] * ratio))


def best_angle(p: Any, q: Any, r: Any, sizes: Any) -> float:
    """The angle in [-45, 45] degrees that suits all 2 x 2 blocks (p q; q r) best."""

    def parts(angle: Any) -> tuple[Any, Any, Any]:
        # Diagonal and off-diagonal of the turned block, from the double angle.
        mean, half = (p + r) / 2, (p - r) / 2
        turn = half * np.cos(2 * angle) + q * np.sin(2 * angle)
        off = q * np.cos(2 * angle) - half * np.sin(2 * angle)
        return mean + turn, mean - turn, off

    def value(angle: float) -> float:
        first, second, _ = parts(angle)
        return float(sizes @ (np.log(first) + np.log(second)))

    angle = float(min(ANGLES, key=value))
    for _ in range(8):
        first, second, off = parts(angle)
        slope = sizes @ (2 * off * (1 / first - 1 / second))
        turn = (first - second) / 2
        bend = -4 * turn * (1 / first - 1 / second) - 4 * off**2 * (1 / first**2 + 1 / second**2)
        curvature = sizes @ bend
        if curvature <= 0:
            break
        angle -= float(slope / curvature)
    return angle


def minimise(covariances: Any, sizes: Any, orientation: Any) -> tuple[float, Any]:
    """The local minimum that sweeps of plane rotations reach."""
    size = len(orientation)
    for _ in range(SWEEPS):
        largest = 0.0
        for i, j in combinations(range(size), 2):
            rotated = orientation.T @ covariances @ orientation
            angle = best_angle(rotated[:, i, i], rotated[:, i, j], rotated[:, j, j], sizes)
            c, s = np.cos(angle), np.sin(angle)
            pair = orientation[:, [i, j]] @ np.array([[c, -s], [s, c]])
            orientation[:, [i, j]] = pair
            largest = max(largest, abs(angle))
        if largest < 1e-15:
            break
    return criterion(orientation.T @ covariances @ orientation, sizes), orientation


def log_likelihood(data: Any, shares: Any, means: Any, covariances: Any) -> float:
    """Log-likelihood of the rows under the mixture."""
    joint = []
    for share, mean, covariance in zip(shares, means, covariances, strict=True):
        white = np.linalg.solve(np.linalg.cholesky(covariance), (data - mean).T)
        log_det = np.linalg.slogdet(2 * np.pi * covariance)[1]
        joint.append(np.log(share) - (log_det + (white**2).sum(axis=0)) / 2)
    return float(np.logaddexp.reduce(joint, axis=0).sum())


def observe(data: Any, labels: Any, peer: Any) -> dict[str, Any]:
    """The M-step for one data set and one start."""
    groups = [data[labels == k] for k in range(labels.max() + 1)]
    sizes = np.array([len(group) for group in groups], dtype=float)
    means = [group.mean(axis=0) for group in groups]
    scatter = np.array([np.cov(group.T, bias=True) for group in groups])
    random = np.random.default_rng(0)
    columns = data.shape[1]
    ends = [
        minimise(scatter, sizes, np.linalg.qr(random.normal(size=(columns, columns)))[0])
        for _ in range(STARTS)
    ]
    value, orientation = min(ends, key=lambda end: end[0])
    rotated = orientation.T @ scatter @ orientation
    diagonals = np.diagonal(rotated, axis1=1, axis2=2)
    covariances = [(orientation * diagonal) @ orientation.T for diagonal in diagonals]
    pairs = combinations(range(columns), 2)
    peer_determinants = np.linalg.slogdet(np.array(peer))[1]
    return {
        "criterion": value,
        "mclust_criterion": float(sizes @ peer_determinants),
        "gradient": max(abs(gradient(rotated, sizes, i, j)) for i, j in pairs),
        "local_minima": len({round(end[0], 6) for end in ends}),
        "log_likelihood": log_likelihood(data, sizes / len(data), means, covariances),
        "covariances": [covariance.tolist() for covariance in covariances],
    }


def main() -> None:
    """Write vve.json beside this script."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("--out", type=Path, default=Path(__file__).parent)
    folder = parser.parse_args().out
    known = json.loads((folder / "mclust.json").read_text(encoding="utf-8"))
    dumps = partial(json.dumps, separators=(",", ":"))
    lines = []
    for run in known["runs"]:
        if run["model"] != "VVE" or "step" not in run:
            continue
        data = np.array(known["data"][run["data"]], dtype=float)
        labels = np.array(known["starts"][run["data"]][str(run["components"])])
        found = observe(data, labels, run["step"]["covariances"])
        lines.append(dumps({"data": run["data"], "components": run["components"], **found}))
    head = {"library": "own optimiser", "versions": {"numpy": version("numpy")}}
    text = dumps(head).removesuffix("}") + ',"cases":[\n' + ",\n".join(lines) + "\n]}\n"
    (folder / "vve.json").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()

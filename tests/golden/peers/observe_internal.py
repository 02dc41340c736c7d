"""Write down what other libraries print about clusterings of rows: ``python observe_internal.py``.

It needs scikit-learn, genieclust and permetrics in the versions of the profiles, and writes
``internal.json`` beside itself. Rows are small whole numbers, so that inputs are exact.
"""

from __future__ import annotations

import importlib
import importlib.metadata
import json
import random
import warnings
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

A: list[tuple[int, ...]] = [(0, 0), (0, 1), (1, 0), (10, 10), (10, 11), (11, 10), (20, 0)]
CASES: dict[str, tuple[list[tuple[int, ...]], list[int]]] = {
    "gen": (A[:6], [0, 0, 0, 1, 1, 1]),
    "sing": (A, [0, 0, 0, 1, 1, 1, 2]),
    "k=1": (A[:4], [0, 0, 0, 0]),
    "k=n": (A[:4], [0, 1, 2, 3]),
    "same": ([(1, 1)] * 4, [0, 0, 1, 1]),
    "coin": ([(0, 1), (0, -1), (1, 0), (-1, 0)], [0, 0, 1, 1]),
    "zero": ([(0, 0), (0, 0), (5, 5), (5, 5)], [0, 0, 1, 1]),
    "two-equal": ([(0, 1), (0, -1), (1, 0), (-1, 0), (9, 9), (9, 10)], [0, 0, 1, 1, 2, 2]),
    "misplaced": ([(0,), (1,), (9,), (10,), (2,), (3,)], [0, 0, 0, 1, 1, 1]),
    "points": ([(2,), (2,), (2,), (7,), (9,)], [0, 0, 1, 2, 2]),
}
PERMETRICS = {
    "ball_hall": "BHI", "xie_beni": "XBI", "davies_bouldin": "DBI", "banfield_raftery": "BRI",
    "k_squared_det": "KDI", "det_ratio": "DRI", "log_det_ratio": "LDRI",
    "calinski_harabasz": "CHI", "log_trace_ratio": "LSRI", "sse": "SSEI", "r_squared": "RSI",
}  # fmt: skip
GENIECLUST = {
    "ball_hall": "negated_ball_hall_index", "calinski_harabasz": "calinski_harabasz_index",
    "davies_bouldin": "negated_davies_bouldin_index", "sse": "negated_wcss_index",
}  # fmt: skip


def drawn() -> dict[str, tuple[list[tuple[int, ...]], list[int]]]:
    """Small random clusterings, some with ties and equal rows."""
    draw = random.Random(45)
    cases = {}
    for i in range(40):
        n, d, k = draw.randint(4, 9), draw.randint(1, 3), draw.randint(2, 3)
        labels = [*range(k), *(draw.randrange(k) for _ in range(n - k))]
        rows = [tuple(draw.randint(0, 5) for _ in range(d)) for _ in range(n)]
        cases[f"random-{i:02d}"] = (rows, labels)
    return cases


def printed(call: Callable[[], Any], negated: bool = False) -> Any:
    """What a call gives, as JSON can hold it."""
    try:
        number = -float(call()) if negated else float(call())
    except Exception as error:
        return {"error": type(error).__name__}
    return number if abs(number) < float("inf") else str(number)


def main() -> None:
    """Ask the libraries and write the file."""
    warnings.simplefilter("ignore")
    numpy: Any = importlib.import_module("numpy")
    sklearn: Any = importlib.import_module("sklearn.metrics")
    genie: Any = importlib.import_module("genieclust.cluster_validity")
    permetrics: Any = importlib.import_module("permetrics")
    cases = []
    for name, (rows, labels) in {**CASES, **drawn()}.items():
        x, y = numpy.array(rows, float), numpy.array(labels)
        metric = permetrics.ClusteringMetric(X=x, y_pred=y)
        values: dict[str, dict[str, Any]] = {
            "sklearn": {
                key: printed(partial(getattr(sklearn, f"{key}_score"), x, y))
                for key in ("calinski_harabasz", "davies_bouldin")
            },
            "genieclust": {
                key: printed(partial(getattr(genie, function), x, y), "negated" in function)
                for key, function in GENIECLUST.items()
            },
            "permetrics": {
                key: printed(getattr(metric, method)) for key, method in PERMETRICS.items()
            },
        }
        cases.append({"id": name, "rows": rows, "labels": labels, "values": values})
    versions = {
        library: importlib.metadata.version(package)
        for library, package in (
            ("sklearn", "scikit-learn"),
            ("genieclust", "genieclust"),
            ("permetrics", "permetrics"),
        )
    }
    lines = ",\n".join(json.dumps(case, sort_keys=True, separators=(",", ":")) for case in cases)
    text = f'{{"versions":{json.dumps(versions, sort_keys=True)},"cases":[\n{lines}\n]}}\n'
    Path(__file__).with_name("internal.json").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()

"""Golden vectors of chapter 54: ends of intervals of rates."""

from __future__ import annotations

from fractions import Fraction

from . import rate_intervals as ends
from .values import Json, encode
from .writer import VectorFile

F = Fraction
SUBJECT = "metrics.evidence"
LEVELS = ["1/2", "9/10", "19/20", "99/100", "999999/1000000", "1/1000000"]
RATES = [
    (0, 1), (1, 1), (0, 7), (3, 7), (7, 7), (1, 10), (5, 10), (9, 10), (1, 29), (81, 263),
]  # fmt: skip
FORMULAS = [
    "IV-Z",
    "IV-WALD",
    "IV-WILSON",
    "IV-WILSONCC",
    "IV-AGRESTI",
    "IV-CLOPPER",
    "IV-JEFFREYS",
]


def files() -> list[VectorFile]:
    """The file of chapter 54."""
    file = VectorFile("54-intervals/rates.json", SUBJECT, "Intervals of rates, by every method")
    for level in LEVELS:
        expect: dict[str, Json] = {"normal_quantile": ends.quantile(F(level))}
        slug = f"iv-quantile-{level.replace('/', '.')}"
        file.add(slug, {"level": level}, expect, formulas=["IV-Z"])
    for k, n in RATES:
        for level in ("19/20", "2/3"):
            _add(file, k, n, level)
    return [file]


def _add(file: VectorFile, k: int, n: int, level: str) -> None:
    share = F(level)
    expect: dict[str, Json] = {
        "wald_interval": ends.around(k, n, share, more=False),
        "wilson_interval": ends.wilson(k, n, share, F(0)),
        "wilson_corrected_interval": ends.wilson(k, n, share, F(1, 2 * n)),
        "agresti_coull_interval": ends.around(k, n, share, more=True),
        "clopper_pearson_interval": ends.beta_ends(k, n, share, F(0)),
        "jeffreys_interval": ends.beta_ends(k, n, share, F(1, 2)),
    }
    formulas = list(FORMULAS)
    if n <= 29:
        expect["bootstrap_interval"] = ends.resampled(k, n, share)
        formulas += ["IV-RESAMPLE", "IV-BOOT"]
    if n <= 10:
        counts = [F(_choose(n, j) * k**j * (n - k) ** (n - j)) for j in range(n + 1)]
        kept = [v for j in range(n + 1) if counts[j] for v in (F(j, n), counts[j])]
        expect["resampled_law"] = encode(tuple(kept))
    slug = f"iv-rate-{k}-{n}-{level.replace('/', '.')}"
    file.add(slug, {"successes": k, "rounds": n, "level": level}, expect, formulas=formulas)


def _choose(n: int, k: int) -> int:
    ways = 1
    for i in range(k):
        ways = ways * (n - i) // (i + 1)
    return ways

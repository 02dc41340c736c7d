"""Write down what a peer returned, or how it failed; used by the observe_*.py beside it."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from typing import Any

TEXT = 70
EXPECTED = "did not converge"  # said whenever max_iter ends a run


def encode(value: Any) -> Any:
    """Arrays as nested lists, special floats by name."""
    if hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, (list, tuple)):
        return [encode(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return "nan" if math.isnan(value) else "inf" if value > 0 else "-inf"
    return value


def guarded(make: Callable[[], Any]) -> Any:
    """The encoded result, or the failure; with the warnings when there were any."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            result = encode(make())
        except Exception as error:  # any class is an observation
            text = str(error).splitlines()[0][:TEXT]
            result = {"error": type(error).__name__, "text": text}
    said = {str(one.message)[:TEXT] for one in caught if EXPECTED not in str(one.message)}
    return {"result": result, "warnings": sorted(said)} if said else result

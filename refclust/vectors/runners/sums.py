"""Refclust's own answers to the golden vectors of exact sums (chapter 80, BK-MERGE).

Every part of the rows is a data set of its own; what is told about the parts is merged.
"""

from __future__ import annotations

import json
from array import array
from collections.abc import Sequence
from functools import lru_cache
from itertools import accumulate, pairwise
from typing import Any, Final

from refclust.backends.protocol import Problem
from refclust.backends.session import Session
from refclust.data.accepting.door import dataset
from refclust.errors import BadVectorFile
from refclust.kernels.centres import CentreMatrix
from refclust.kernels.contracts.merging import no_rows
from refclust.kernels.mixtures.exact_moments import ExactMoments, ExactTallies
from refclust.kernels.registry import KERNELS
from refclust.vectors.answers import Answer, Input
from refclust.vectors.runners.mixtures.families import numbers

_MOMENTS: Final = "gaussian.exact_moments"
_TALLIES: Final = "multinomial.exact_tallies"


def sums(inputs: Input, key: str, session: Session) -> Answer:
    """Answer one key of a case of ``mixture.sums``."""
    moments, tallies = _merged(json.dumps(inputs), session.requested)
    rounded, _, name = key.rpartition(".")
    if rounded not in ("", "rounded") or name not in ("counts", "firsts", "seconds", "sums"):
        raise BadVectorFile(f"no sum is called {key!r}")
    record: Any = tallies if name == "sums" else moments
    values: Sequence[Any] = getattr(record.rounded() if rounded else record, name)
    return list(values)


# A case asks for several keys; the last one is kept.
@lru_cache(maxsize=1)
def _merged(text: str, backend: str) -> tuple[ExactMoments, ExactTallies]:
    inputs = json.loads(text)
    rows, q = numbers(inputs["rows"]), numbers(inputs["q"])
    weights = numbers(inputs["weights"]) if "weights" in inputs else None
    around = CentreMatrix.of(numbers(inputs["around"]))
    k, d = len(around), around.d
    parts: dict[str, list[Any]] = {_MOMENTS: [], _TALLIES: []}
    for begin, end in pairwise(accumulate(map(int, inputs["parts"]), initial=0)):
        shares = array("d", (x for row in q[begin:end] for x in row))
        own = None if weights is None else weights[begin:end]
        session = Session(backend)
        for kernel, args in ((_MOMENTS, (around, "full")), (_TALLIES, ())):
            if begin == end:
                answer = KERNELS[kernel].reference(no_rows(d), shares, k, *args)
            else:
                data = dataset(rows[begin:end], weights=own)
                problem = Problem(data.kind, data.n, len(data.matrix.values), k)
                answer = session.run(kernel, problem, data, shares, k, *args)
                session.release(data)
            parts[kernel].append(answer)
    moments, tallies = (KERNELS[name].merge(some) for name, some in parts.items())  # type: ignore[misc]
    return moments, tallies

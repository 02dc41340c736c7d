"""Building contingency tables from labels: validated here, counted by a kernel (chapter 40)."""

from __future__ import annotations

from array import array
from collections.abc import Hashable, Iterable, Sequence
from typing import Any, Final, TypeAlias

from refclust.backends.protocol import Problem
from refclust.backends.session import Session
from refclust.data.accepting.spellings import spelled
from refclust.data.accepting.trust import items, iterator
from refclust.data.dataset import INTEGERS
from refclust.errors import (
    BackendFailure,
    BadLabel,
    BadOption,
    BadWeight,
    LabelLengthMismatch,
    NanLabel,
)
from refclust.formulas.contingency import (
    NOISE_POLICIES,
    Contingency,
    Count,
    Lonely,
    Sides,
    exact_count,
    listed,
    without_noise,
)
from refclust.kernels.contingency import CellTable, LabelPairs
from refclust.numbers.reading import refuse_long, shown

__all__ = ["NOISE_POLICIES", "NO_NOISE", "Contingency", "Labels", "Lonely", "contingency"]

Labels: TypeAlias = Iterable[Hashable]
_NDARRAY: Final = ("numpy", "ndarray")


class _NoNoise:
    """Stands for: no label means noise (``None`` may be a label)."""

    def __repr__(self) -> str:
        return "NO_NOISE"


NO_NOISE: Final = _NoNoise()


@spelled
def contingency(
    labels_true: Labels,
    labels_pred: Labels,
    *,
    weights: Iterable[Any] | None = None,
    noise: Hashable = NO_NOISE,
    noise_policy: str | None = None,
    session: Session | None = None,
) -> Contingency:
    """Count two labelings of the same objects into a table.

    Spec: CT-TABLE, CT-NOISE, CT-WEIGHT

    >>> contingency(["x", "x", "y"], [1, 2, 2]).rows()
    [[1, 0], [1, 1]]
    """
    classes, clusters = label_sequence(labels_true), label_sequence(labels_pred)
    if len(classes) != len(clusters):
        raise LabelLengthMismatch(
            f"{len(classes)} true labels and {len(clusters)} predicted labels: "
            "both must label the same objects"
        )
    counted: Sequence[Count] | None = None
    if weights is not None:
        counted = exact_weights(weights, len(classes))
    if noise is not NO_NOISE or noise_policy is not None:
        clusters, classes, counted = _treat_noise(clusters, classes, counted, noise, noise_policy)
    session = session or Session()
    problem = Problem("labels", len(classes))
    try:
        cells = session.run("contingency.table", problem, LabelPairs(clusters, classes, counted))
    except (TypeError, ValueError, BackendFailure):
        _refuse_unhashable("true", classes)
        _refuse_unhashable("predicted", clusters)
        raise
    table = of_buffers(cells) if isinstance(cells, CellTable) else Contingency.of_cells(cells)
    for side, distinct, labels in (
        ("predicted", table.clusters, clusters),
        ("true", table.classes, classes),
    ):
        if not isinstance(labels, memoryview):  # which holds integers
            _refuse_nan(side, distinct, labels)
    return table


def of_buffers(cells: CellTable) -> Contingency:
    """Take over a table whose cells lie in order already; no cell is looked at.

    Spec: CT-TABLE

    >>> of_buffers(CellTable.of_dict({(7, 1): 2, (5, 1): 1})).row
    (1, 2)
    """
    row, col = tuple(cells.row_sums.tolist()), tuple(cells.column_sums.tolist())
    places: Any = cells.by_place()
    names = tuple(cells.clusters), tuple(cells.classes)
    return Contingency(*names, places, row, col, sum(row), cells.sizes)


def label_sequence(values: Any) -> Sequence[Hashable]:
    """Return labels as a sequence, where they lie if they are a buffer of integers."""
    buffer = _buffer(values)
    if buffer is not None:
        return buffer
    values = listed(values)
    if type(values) in (list, tuple, str, range):
        return values  # type: ignore[no-any-return]
    return items(
        values,
        lambda: BadLabel(f"labels are a sequence, one label per object, not {shown(values)}"),
    )


def _buffer(values: Any) -> memoryview | None:
    """Return labels that lie in memory as a flat row of integers, where they lie; else ``None``.

    Only of types that are known to hide nothing: an array may have a mask beside its buffer.
    """
    values = _behind(values)
    kind = type(values)
    if kind not in (array, memoryview) and (kind.__module__, kind.__name__) != _NDARRAY:
        return None
    try:
        view = memoryview(values)
    except (TypeError, ValueError, BufferError):
        return None
    flat = view.ndim == 1 and view.c_contiguous and view.format in INTEGERS
    return view.toreadonly() if flat else None


def _behind(values: Any) -> Any:
    """Return the array that a column of another library can show without copying it."""
    library = type(values).__module__.partition(".")[0]
    if library == "pandas":
        return getattr(values, "values", None)
    if library == "pyarrow":
        try:
            return values.to_numpy(zero_copy_only=True)
        except (AttributeError, ImportError, NotImplementedError, TypeError, ValueError):
            return None
    return values


def exact_weights(values: Iterable[Any], expected: int) -> list[Count]:
    """Return weights as exact numbers, one for each of so many objects.

    Spec: CT-WEIGHT
    """

    def refusal() -> BadWeight:
        return BadWeight(f"weights are a sequence, one per object, not {shown(values)}")

    counts = [
        exact_count(weight, f"the weight of object {position}", BadWeight)
        for position, weight in enumerate(iterator(listed(values), refusal))
    ]
    if len(counts) != expected:
        raise LabelLengthMismatch(f"{len(counts)} weights for {expected} objects")
    refuse_long(set(counts), "exact arithmetic with these weights")
    return counts


def _treat_noise(
    clusters: Sequence[Hashable],
    classes: Sequence[Hashable],
    weights: Sequence[Count] | None,
    noise: Hashable,
    policy: str | None,
) -> Sides:
    policy = checked_policy(noise, policy)
    # What cannot be hashed may refuse to be compared, too.
    for side, labels in (("noise", [noise]), ("true", classes), ("predicted", clusters)):
        _refuse_unhashable(side, labels)
    return without_noise(clusters, classes, weights, noise=noise, policy=policy)


def checked_policy(noise: Hashable, policy: str | None) -> str:
    """Return the policy for noise; a label without a policy is refused, and the other way round."""
    if not isinstance(policy, str) or policy not in NOISE_POLICIES or noise is NO_NOISE:
        label = "no noise label" if noise is NO_NOISE else f"the noise label {shown(noise)}"
        raise BadOption(
            f"{label} with the noise policy {shown(policy)}: name a noise label and one of the "
            f"policies {', '.join(NOISE_POLICIES)}"
        )
    return policy


def _refuse_unhashable(side: str, labels: Sequence[Any]) -> None:
    for position, label in enumerate(labels):
        try:
            hash(label)
        except (TypeError, ValueError):  # the latter by a view of memory that can be written
            raise BadLabel(
                f"the {side} label of object {position} is {shown(label)}, a "
                f"{type(label).__name__}, which cannot be hashed"
            ) from None


def _refuse_nan(side: str, distinct: tuple[Any, ...], labels: Sequence[Any]) -> None:
    if any(label != label for label in distinct):
        position = next(i for i, label in enumerate(labels) if label != label)
        raise NanLabel(
            f"the {side} label of object {position} is NaN, which equals no label, not even itself"
        )

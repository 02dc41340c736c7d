"""Promises beyond "no foreign exception" that are cheap to check on data that were read."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Sequence
from typing import Any

from refclust.data.dataset import Dataset
from refclust.data.readers.formats import Options, Reader, read
from refclust.data.writers.writing import WRITERS, write
from refclust.errors import RefclustError
from tests.fuzz.cases import Broken

PIPES = True  # whether readers are also tried on pipes; a switch of the command line
_MOST_ROWS = 1 << 16  # that are written and read again: a million empty rows take seconds each way
_ROOM = 1 << 15  # of a pipe: what is written at once without a reader


def parts(data: Dataset) -> tuple[Any, ...]:
    """All that a data set is."""
    weights = None if data.weights is None else data.weights.tolist()
    return data.kind, data.n, data.d, data.digest(), data.features, data.ids, data.labels, weights


def told(data: Dataset) -> str:
    """A data set as a short text that is the same for the same data."""
    return hashlib.sha256(repr(parts(data)).encode("utf-8", "backslashreplace")).hexdigest()[:16]


def as_expected(data: Dataset, expected: dict[str, Any]) -> None:
    """A document that was made of rows and left alone is read as these rows."""
    due = expected["rows"]
    if len(due) != data.n:
        raise Broken("a valid document is read as it is", f"{data.n} rows of {len(due)}")
    if expected.get("only_count"):
        return
    for i, row in enumerate(due):
        found = data.row(i)
        if isinstance(found, dict):
            given = {int(key): float(value) for key, value in row.items() if float(value)}
            same = given == {key: value for key, value in found.items() if value}
        else:
            same = list(map(float, row)) == list(found)
        if not same:
            raise Broken("a valid document is read as it is", f"row {i} is {found}, not {row}")


def written_and_read(data: Dataset, name: str) -> None:
    """What a format holds of a data set comes back from a file of that format."""
    writer = WRITERS[name]
    if data.kind not in writer.kinds or data.n > _MOST_ROWS:
        return
    path = f"again{writer.suffixes[0]}"
    try:
        lost = write(path, data)
    except RefclustError:
        if os.path.exists(path):
            raise Broken("nothing half-written stays", path) from None
        return  # a name or a label that the format cannot hold
    roles = {"ids": "id_column", "labels": "label_column", "weights": "weight_column"}
    held = [part for part in roles if getattr(data, part) is not None and part not in lost]
    asked: dict[str, Any] = {roles[part]: part.removesuffix("s") for part in held}
    if name == "svmlight":
        asked = {"base": 1}
    elif name in ("csv", "tsv"):
        asked["header"] = data.features is not None or bool(held)
    try:
        again = read(path, options=Options(**asked))
    except RefclustError as error:
        raise Broken(f"what is written as {name} is read", f"[{error.code}] {error}") from None
    finally:
        os.unlink(path)
    named = data.features is not None and "features" not in lost
    # Columns that come as names of objects have an order of their own: that of code points.
    names: tuple[Any, Any] = (data.features, again.features) if named else (None, None)
    if data.kind == "sparse" and data.features is None and again.features is not None:
        names = [str(j) for j in range(data.d)], again.features  # written under their numbers
    if _rows(data, names[0]) != _rows(again, names[1]):
        raise Broken(f"what is written as {name} comes back", f"{parts(data)} {parts(again)}")
    for part in held:
        if _plain(getattr(again, part)) != _plain(getattr(data, part)):
            raise Broken(f"what is written as {name} comes back", f"{part} of {parts(data)}")


def through_pipe(reader: Reader, path: str, ended: Callable[[str], tuple[str, str]]) -> None:
    """What is read from a file is read from a pipe, and refused for the same reason."""
    with open(path, "rb") as stream:
        content = stream.read(_ROOM + 1)
    if len(content) > _ROOM:
        return
    plain = "plain"  # without an ending, from which a reader may conclude something
    with open(plain, "wb") as stream:
        stream.write(content)
    reading, writing = os.pipe()
    try:
        os.write(writing, content)
        os.close(writing)
        piped = ended(f"/dev/fd/{reading}")
    finally:
        os.close(reading)
    direct = ended(plain)
    os.unlink(plain)
    # A shape beyond all memory is compared with the bytes of a file, which a pipe does not tell;
    # all other formats say what they say in both.
    told = (reader.name, direct[0], piped[0]) == ("npy", "bad-file", "too-large")
    if piped != direct and not told:
        raise Broken("a pipe is read like a file", f"{reader.name}: file {direct}, pipe {piped}")


def _rows(data: Dataset, names: Sequence[Any] | None = None) -> list[Any]:
    # A zero of a sparse row is no entry.
    found: list[Any] = []
    for row in data.rows():
        entries = row if isinstance(row, dict) else dict(enumerate(row))
        found.append(sorted((names[j] if names else j, x) for j, x in entries.items() if x))
    return [data.n, data.d, found]


def _plain(values: Any) -> list[Any]:
    return [one if isinstance(one, float) else str(one) for one in values or ()]

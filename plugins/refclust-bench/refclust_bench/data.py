"""Inputs of the benchmark, made from a name alone: no file is needed, every machine gets the same.

Random bits are SHAKE-256 of a name; sixteen of them pick a quantile from a table. That is quick in
plain Python and owes nothing to a random number generator that may change.
"""

from __future__ import annotations

import hashlib
import json
import math
import sys
from array import array
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from operator import add
from pathlib import Path
from statistics import NormalDist
from typing import Any, Final

STEPS: Final = 1 << 16  # the entries of a table of quantiles
_BLOCK: Final = 1 << 20
_FACTS: Final = "facts.json"


@dataclass(frozen=True, slots=True, eq=False)
class Input:
    """What all contenders of a measurement are given: numbers in flat buffers, their shape."""

    kind: str  # "dense", "sparse", "labels"
    facts: Mapping[str, int]
    buffers: Mapping[str, array[Any]]

    def digest(self) -> str:
        """The SHA-256 of everything a contender is given."""
        hashed = hashlib.sha256(json.dumps([self.kind, sorted(self.facts.items())]).encode())
        for name, values in sorted(self.buffers.items()):
            hashed.update(f"{name} {values.typecode} {len(values)}\n".encode())
            hashed.update(memoryview(values))
        return hashed.hexdigest()

    @property
    def size(self) -> int:
        """The bytes of all buffers."""
        return sum(len(values) * values.itemsize for values in self.buffers.values())

    def write(self, folder: Path) -> None:
        """Write the buffers where another process can read them."""
        folder.mkdir(parents=True, exist_ok=True)
        kinds = {name: values.typecode for name, values in self.buffers.items()}
        for name, values in self.buffers.items():
            with open(folder / f"{name}.bin", "wb") as file:
                values.tofile(file)
        facts = {"kind": self.kind, "facts": dict(self.facts), "buffers": kinds}
        (folder / _FACTS).write_text(json.dumps(facts), encoding="utf-8")


def read(folder: Path) -> Input:
    """Read what ``Input.write`` wrote."""
    document = json.loads((folder / _FACTS).read_text(encoding="utf-8"))
    buffers: dict[str, array[Any]] = {}
    for name, code in document["buffers"].items():
        path = folder / f"{name}.bin"
        values: array[Any] = array(code)
        with open(path, "rb") as file:
            values.fromfile(file, path.stat().st_size // values.itemsize)
        buffers[name] = values
    return Input(document["kind"], document["facts"], buffers)


# -- random bits ----------------------------------------------------------------------------------


def words(name: str, count: int, code: str = "H") -> array[int]:
    """Random integers that belong to a name: 16 bits each, or 32 with ``code`` I.

    >>> words("example", 3).tolist()
    [22747, 62939, 49008]
    """
    values: array[int] = array(code)
    wanted = count * values.itemsize
    for block in range(0, wanted, _BLOCK):
        bits = hashlib.shake_256(f"refclust-bench {name} {block}".encode())
        values.frombytes(bits.digest(min(_BLOCK, wanted - block)))
    if sys.byteorder == "big":
        values.byteswap()
    return values


def _middles() -> list[float]:
    return [(i + 0.5) / STEPS for i in range(STEPS)]


def _normal() -> list[float]:
    return list(map(NormalDist().inv_cdf, _middles()))


def _heavy() -> list[float]:
    # Quantiles of Student's t with two degrees of freedom: no variance, values up to 256.
    return [(2 * p - 1) / math.sqrt(2 * p * (1 - p)) for p in _middles()]


def zipf(count: int) -> list[int]:
    """A table of ranks below ``count`` in which rank r fills a share of about 1/(r + 3)."""
    total = math.fsum(1 / (r + 3) for r in range(count))
    table: list[int] = []
    share = 0.0
    for rank in range(count):
        share += 1 / (rank + 3) / total
        table.extend([rank] * (round(share * STEPS) - len(table)))
    return [*table, *[0] * (STEPS - len(table))][:STEPS]


# -- dense rows -----------------------------------------------------------------------------------


def _mixed(
    name: str, n: int, d: int, k: int, spread: float, table: Sequence[float], offset: float = 0.0
) -> array[float]:
    """Rows around k centres: the centre of the row's group plus noise, column by column."""
    rows = array("d", bytes(8 * n * d))
    normal = _normal()
    groups = [word % k for word in words(f"{name} group", n)]
    for j in range(d):
        centres = [offset + spread * normal[word] for word in words(f"{name} centre {j}", k)]
        noise = map(table.__getitem__, words(f"{name} noise {j}", n))
        rows[j::d] = array("d", map(add, map(centres.__getitem__, groups), noise))
    return rows


def _blobs(name: str, n: int, d: int, k: int) -> array[float]:
    # In many dimensions groups lie apart sooner: the spread keeps them overlapping.
    return _mixed(name, n, d, k, 3 / math.sqrt(d), _normal())


def _uniform(name: str, n: int, d: int, k: int) -> array[float]:
    del k  # there is no structure at all
    table = _middles()
    return array("d", map(table.__getitem__, words(f"{name} uniform", n * d)))


def _heavy_tailed(name: str, n: int, d: int, k: int) -> array[float]:
    return _mixed(name, n, d, k, 8 / math.sqrt(d), _heavy())


def _uncentred(name: str, n: int, d: int, k: int) -> array[float]:
    return _mixed(name, n, d, k, 3 / math.sqrt(d), _normal(), offset=1000.0)


def _offset(name: str, n: int, d: int, k: int) -> array[float]:
    """Blobs so far from the origin that singles cannot tell any two rows apart."""
    return _mixed(name, n, d, k, 3 / math.sqrt(d), _normal(), offset=1e9)


def _duplicated(name: str, n: int, d: int, k: int) -> array[float]:
    """Every row comes about eight times."""
    few = max(k, n // 8)
    raw, width = _blobs(name, few, d, k).tobytes(), 8 * d
    cut = [raw[begin : begin + width] for begin in range(0, len(raw), width)]
    rows: array[float] = array("d")
    rows.frombytes(b"".join(cut[word % few] for word in words(f"{name} copy", n, "I")))
    return rows


def _pixels(name: str, n: int, d: int, k: int) -> array[float]:
    """Whole numbers from 0 to 255, about 41 % of them not zero, as in scanned digits.

    Each row is woven of four pictures: there are more ways to write a digit than clusters.
    """
    rows = array("d", bytes(8 * n * d))
    strands = [[word % k for word in words(f"{name} group {part}", n)] for part in range(4)]
    clipped = [float(min(255, max(0, value - 256))) for value in range(1024)]
    for j in range(d):
        # A bright place of the group's picture, or a dark one that noise seldom lights.
        picture = [330 if word < STEPS // 3 else 31 for word in words(f"{name} picture {j}", k)]
        noise = [word & 255 for word in words(f"{name} noise {j}", n)]
        values = map(add, map(picture.__getitem__, strands[j % 4]), noise)
        rows[j::d] = array("d", map(clipped.__getitem__, values))
    return rows


DENSE: Final[dict[str, Callable[[str, int, int, int], array[float]]]] = {
    "blobs": _blobs,
    "uniform": _uniform,
    "heavy-tailed": _heavy_tailed,
    "uncentred": _uncentred,
    "offset 1e9": _offset,
    "duplicated": _duplicated,
    "pixels": _pixels,
}


def dense(name: str, sort: str, n: int, d: int, k: int) -> Input:
    """Dense rows of a sort, and k different rows to start from."""
    rows = DENSE[sort](f"{name} {sort}", n, d, k)
    starts = _different(f"{name} {sort}", n, k, lambda i: rows[i * d : (i + 1) * d].tobytes())
    centres: array[float] = array("d")
    for i in starts:
        centres.extend(rows[i * d : (i + 1) * d])
    return Input("dense", {"n": n, "d": d, "k": k}, {"rows": rows, "centres": centres})


def clustered(name: str, sort: str, n: int, d: int, k: int) -> Input:
    """Dense rows of a sort, and the group that each was made around."""
    rows = dense(name, sort, n, d, k)
    groups = array("i", (word % k for word in words(f"{name} {sort} group", n)))
    return Input("dense", rows.facts, {"rows": rows.buffers["rows"], "labels": groups})


def _different(name: str, n: int, k: int, row: Callable[[int], Any]) -> list[int]:
    """Rows drawn one after another; one that equals an earlier one is drawn again.

    Two equal starting centres would leave a cluster empty, and libraries treat that in their own
    ways.
    """
    seen: dict[Any, int] = {}
    for word in words(f"{name} start", 64 * k + 64, "I"):
        seen.setdefault(row(word % n), word % n)
        if len(seen) == k:
            return list(seen.values())
    raise ValueError(f"{name}: fewer than {k} different rows were drawn")


# -- sparse rows ----------------------------------------------------------------------------------


def documents(name: str, sort: str, n: int, d: int, k: int) -> Input:
    """Documents over d terms, as tf-idf of length 1, or as ``counts`` of which many are copies."""
    counts = _counted(f"{name} {sort}", n, d, topics=20)
    if sort == "counts":  # plain counts have no copies among them
        copied = words(f"{name} copied", n, "I")
        counts = [counts[copied[i] % n] if copied[i] >> 30 == 0 else counts[i] for i in range(n)]
    frequency = [0] * d
    for document in counts:
        for term in document:
            frequency[term] += 1
    starts, columns, values = array("i", [0]), array("i"), array("d")
    for document in counts:
        terms = sorted(document)
        weights = [float(document[term]) for term in terms]
        if sort == "tf-idf":
            rarity = [1 + math.log((1 + n) / (1 + frequency[term])) for term in terms]
            weights = [count * rare for count, rare in zip(weights, rarity, strict=True)]
            length = math.sqrt(math.fsum(weight * weight for weight in weights))
            weights = [weight / length for weight in weights]
        columns.extend(terms)
        values.extend(weights)
        starts.append(len(columns))
    chosen = _different(f"{name} {sort}", n, k, lambda i: tuple(sorted(counts[i].items())))
    centres = array("d", bytes(8 * k * d))
    for c, i in enumerate(chosen):
        for place in range(starts[i], starts[i + 1]):
            centres[c * d + columns[place]] = values[place]
    buffers: dict[str, array[Any]] = {
        "starts": starts,
        "columns": columns,
        "values": values,
        "centres": centres,
    }
    return Input("sparse", {"n": n, "d": d, "k": k}, buffers)


def _counted(name: str, n: int, d: int, topics: int) -> list[dict[int, int]]:
    """How often each term stands in each document: half common words, half those of a topic."""
    ranks = zipf(min(d, 8000))
    subjects, lengths = words(f"{name} topic", n), words(f"{name} length", n)
    drawn = words(f"{name} term", 135 * n)
    documents: list[dict[int, int]] = []
    for i in range(n):
        shift = 1 + subjects[i] % topics
        counts: dict[int, int] = {}
        for position in range(45 + lengths[i] % 90):
            word = drawn[135 * i + position]
            # A prime stride sends the ranks of a topic to terms of its own, the rare ones too.
            term = ranks[word] if position % 2 else (ranks[word] * 7919 + shift * 1543) % d
            counts[term] = counts.get(term, 0) + 1
        documents.append(counts)
    return documents


# -- labels ---------------------------------------------------------------------------------------


def labels(name: str, sort: str, n: int, k: int) -> Input:
    """Two labelings in k groups each that agree on about half of the objects."""
    name = f"{name} {sort}"
    table = {"flat": None, "zipf": zipf(k), "distinct": _distinct(k)}[sort]

    def drawn(part: str) -> list[int]:
        bits = words(f"{name} {part}", n)
        return [word % k for word in bits] if table is None else [table[word] for word in bits]

    true, other = drawn("true"), drawn("other")
    agree = words(f"{name} agree", n)
    pred = array("i", (a if s & 1 else b for a, b, s in zip(true, other, agree, strict=True)))
    return Input("labels", {"n": n, "k": k}, {"true": array("i", true), "pred": pred})


def _distinct(k: int) -> list[int]:
    """A table in which the share of group r grows with r, so that few sizes are equal."""
    return [min(k - 1, math.isqrt(i * k * k // STEPS)) for i in range(STEPS)]

"""Whatever bytes a file holds, a reader gives a data set or an error of ours, and soon."""

from __future__ import annotations

import gzip
import io
from pathlib import Path
from typing import Final

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from refclust.data.dataset import Dataset
from refclust.data.readers.formats import Options, Reader, builtin
from refclust.errors import RefclustError

in_one_folder = settings(
    max_examples=settings().max_examples // 2,  # each writes and reads files
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
X: Final = np.array([[0.0, 1.5, -2.0], [3.0, 0.0, 4.25]])


def _npy(x: np.ndarray[tuple[int, ...], np.dtype[np.generic]]) -> bytes:
    stream = io.BytesIO()
    np.save(stream, x)
    return stream.getvalue()


def _npz(packed: bool) -> bytes:
    stream = io.BytesIO()
    (np.savez_compressed if packed else np.savez)(stream, X=X, y=X[0])
    return stream.getvalue()


def _sparse(layout: str) -> bytes:
    stream = io.BytesIO()
    sp.save_npz(stream, getattr(sp, f"{layout}_array")(X), compressed=layout == "csr")
    return stream.getvalue()


VALID: Final = {
    "npy": [_npy(X), _npy(np.asfortranarray(X, dtype=">f4")), _npy(X.astype("i2"))],
    "npz": [_npz(False), _npz(True), _sparse("csr"), _sparse("csc"), _sparse("coo")],
    "svmlight": [b"a qid:1 1:2 3:4.5 # x\nb 2:1\n", b"1 0:1 7:2\n0\n"],
    "matrixmarket": [
        b"%%MatrixMarket matrix coordinate real symmetric\n% x\n3 3 2\n2 1 5\n3 3 -1.5\n",
        b"%%MatrixMarket matrix array integer general\n2 2\n1\n2\n3\n4\n",
    ],
    "docword": [b"3\n4\n2\n1 2 3\n3 4 1\n"],
    "ldac": [b"2 0:1 4:2\n0\n1 3:1\n"],
    "cluto": [b"2 5 3\n1 2 3 4\n5 1\n", b"2 2\n1 2\n3 4\n"],
}
READERS: Final = [reader for reader in builtin() if reader.name in VALID]
PIECES: Final = st.sampled_from(
    [b"", b"\n", b" ", b":", b"0", b"-1", b"1e400", b"nan", b"99999999999", b"\x00",
     b"\xff\xff\xff\x7f", b"PK\x05\x06", b"(", b"'", b"%", b"#", b"18446744073709551615"]
)  # fmt: skip


@st.composite
def mutated(draw: st.DrawFn, valid: list[bytes]) -> bytes:
    """A valid file, cut, spliced, with bytes changed or pieces put in."""
    raw = bytearray(draw(st.sampled_from(valid)))
    for _ in range(draw(st.integers(1, 4))):
        at = draw(st.integers(0, len(raw)))
        match draw(st.sampled_from(["change", "cut", "insert", "drop", "repeat"])):
            case "change" if at < len(raw):
                raw[at] = draw(st.integers(0, 255))
            case "cut":
                del raw[at:]
            case "insert":
                raw[at:at] = draw(PIECES)
            case "drop":
                del raw[at : at + draw(st.integers(1, 8))]
            case _:
                raw[at:at] = raw[at : at + draw(st.integers(1, 20))]
    return bytes(raw)


def judge(reader: Reader, path: Path) -> None:
    """Reading and planning give a result or an error that names the file; sniffing never fails."""
    assert 0 <= reader.sniff(str(path)) <= 1
    reader_calls = (reader.read, reader.plan)
    for call in reader_calls:
        try:
            found = call(str(path), Options())
        except RefclustError as error:
            assert path.name in str(error)  # noqa: PT017  (any of many classes)
            assert "\n" not in str(error)  # noqa: PT017
        else:
            if isinstance(found, Dataset):
                assert found.n >= 1
                assert len(list(found.rows())) == found.n


@pytest.mark.parametrize("reader", READERS, ids=lambda reader: reader.name)
def test_the_valid_files_are_valid(reader: Reader, tmp_path: Path) -> None:
    for raw in VALID[reader.name]:
        (tmp_path / "file").write_bytes(raw)
        assert reader.read(str(tmp_path / "file"), Options()).n >= 2
        assert reader.sniff(str(tmp_path / "file")) > 0 or reader.name == "cluto"


@pytest.mark.spec("DATA-NPY", "DATA-SPARSE-FILES")
@pytest.mark.parametrize("reader", READERS, ids=lambda reader: reader.name)
@in_one_folder
@given(raw=st.one_of(st.binary(max_size=200), st.text(max_size=60).map(str.encode)))
def test_any_bytes(reader: Reader, tmp_path: Path, raw: bytes) -> None:
    (tmp_path / "file").write_bytes(raw)
    judge(reader, tmp_path / "file")


@pytest.mark.spec("DATA-NPY", "DATA-SPARSE-FILES")
@pytest.mark.parametrize("reader", READERS, ids=lambda reader: reader.name)
@in_one_folder
@given(draw=st.data(), packed=st.booleans())
def test_valid_files_with_damage(
    reader: Reader, tmp_path: Path, draw: st.DataObject, packed: bool
) -> None:
    raw = draw.draw(mutated(VALID[reader.name]))
    if packed and reader.name != "npz":
        whole = gzip.compress(raw, mtime=0)
        (tmp_path / "file.gz").write_bytes(whole[: draw.draw(st.integers(0, len(whole)))])
        judge(reader, tmp_path / "file.gz")
    else:
        (tmp_path / "file").write_bytes(raw)
        judge(reader, tmp_path / "file")

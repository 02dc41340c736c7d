"""Files of NumPy: the same numbers as NumPy and SciPy read, and nothing that is not numbers."""

# ruff: noqa: E501 (one case a line)

from __future__ import annotations

import gzip
import struct
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from refclust.data.accepting.door import dataset
from refclust.data.readers.arrays import npy, npz
from refclust.data.readers.formats import Options, choose, plan, read
from refclust.errors import RefclustError, TooLarge
from refclust.limits import limits
from tests.data.conftest import piped

X = np.array([[0.0, 1.5, -2.0], [3.0, 0.0, 4.25]])
in_one_folder = settings(
    max_examples=settings().max_examples // 2,  # each writes and reads files
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)


@pytest.fixture(autouse=True)
def _in_an_empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def refused(path: str, code: str, message: str, **options: Any) -> None:
    with pytest.raises(RefclustError) as caught:
        read(path, options=Options(**options))
    assert (caught.value.code, str(caught.value)) == (code, message)


def header(text: str, version: int = 1) -> bytes:
    raw = text.encode()
    return (
        b"\x93NUMPY"
        + bytes([version, 0])
        + struct.pack("<H" if version == 1 else "<I", len(raw))
        + raw
    )


@pytest.mark.spec("DATA-NPY")
@in_one_folder
@given(
    st.sampled_from(["f2", "f4", "f8", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8"]),
    st.sampled_from("<>"),
    st.sampled_from("CF"),
    st.integers(1, 5),
    st.integers(1, 5),
    st.data(),
)
def test_all_types_orders_and_layouts(
    form: str, order: str, layout: Any, n: int, d: int, draw: st.DataObject
) -> None:
    raw = draw.draw(st.binary(min_size=8 * n * d, max_size=8 * n * d))
    dtype = np.dtype(order + form)
    x = np.frombuffer(raw[: dtype.itemsize * n * d], dtype).reshape(n, d)
    if form[0] == "f":
        x = np.where(np.isfinite(x.astype("f8")), x, dtype.type(1.5)).astype(dtype)
    np.save("x.npy", np.array(x, order=layout))
    found = read("x.npy")
    assert found.digest() == dataset(x.astype("f8").tolist()).digest()
    assert found.matrix.values.format == ("f" if form == "f4" else "d")


def test_large_whole_numbers_become_the_nearest_doubles() -> None:
    np.save("x.npy", np.array([[2**63 - 1, -(2**63)], [2**53 + 1, 2**54 + 6]]))
    assert list(read("x.npy").rows()) == [(2.0**63, -(2.0**63)), (2.0**53, 2.0**54 + 8)]
    np.save("x.npy", np.array([[2**64 - 1]], dtype="u8"))
    assert read("x.npy").row(0) == (2.0**64,)


def test_more_numbers_than_a_chunk_holds() -> None:
    x = np.arange(300_000, dtype=">f8").reshape(-1, 3)
    for order in "CF":
        np.save("x.npy", np.array(x, order=order))  # type: ignore[call-overload]
        assert read("x.npy").digest() == dataset(x.astype("f8")).digest()
    np.save("x.npy", np.array(x.reshape(3, -1), order="F"))
    assert read("x.npy").digest() == dataset(x.astype("f8").reshape(3, -1)).digest()


@pytest.mark.parametrize("version", [1, 2, 3])
def test_versions_and_packing(version: int) -> None:
    text = "{'descr': '<f8', 'fortran_order': False, 'shape': (2, 3), }\n"
    raw = header(text, version) + X.tobytes()
    Path("x.npy").write_bytes(raw)
    Path("x.npy.gz").write_bytes(gzip.compress(raw))
    for path in ("x.npy", "x.npy.gz"):
        assert read(path).digest() == dataset(X).digest()
        assert choose(path).name == "npy"
        assert npy.sniff(path) == 1.0
    assert plan("x.npy.gz").facts == (
        ("rows", "2"),
        ("columns", "3"),
        ("numbers", "<f8"),
        ("packed", "gzip"),
    )


ALLOWED = "allowed are integers and floats of 1 to 8 bytes"
GOOD = "{'descr': '<f8', 'fortran_order': False, 'shape': (2, 3)}"


@pytest.mark.parametrize(
    ("raw", "code", "message"),
    [
        (b"", "empty-file", "x.npy is empty; it should hold an array of NumPy"),
        (b"1,2\n3,4\n", "bad-file", r"x.npy: byte 0: b'1,2\n3,'; an array begins with b'\x93NUMPY'"),
        (b"\x93NUMPY\x01", "bad-file", r"x.npy: byte 0: b'\x93NUMPY'; an array begins with b'\x93NUMPY'"),
        (b"\x93NUMPY\x04\x00", "bad-file", "x.npy: byte 6: format 4.0; 1.0, 2.0 and 3.0 can be read"),
        (b"\x93NUMPY\x02\x00\xff\xff\xff\xff", "bad-file", "x.npy: byte 8: a header of 4294967295 bytes; at most 16384 is due"),
        (header(GOOD)[:40], "bad-file", "x.npy: byte 40: the file ends within its header"),
        (header("{'shape': (2, 3)}"), "bad-file", "x.npy: byte 10: the header b\"{'shape': (2, 3)}\"… is no mapping with just descr, fortran_order and shape"),
        (header("__import__('os')"), "bad-file", "x.npy: byte 10: the header b\"__import__('os')\"… is no mapping with just descr, fortran_order and shape"),
        (header("-" * 9000 + "1"), "bad-file", f"x.npy: byte 10: the header b'{'-' * 40}'… is no mapping with just descr, fortran_order and shape"),
        (header(GOOD.replace("(2, 3)", "(2, -3)")), "bad-file", "x.npy: the shape (2, -3) and fortran_order False; whole numbers and a truth value are due"),
        (header(GOOD.replace("<f8", "|O")), "bad-file", f"x.npy: an array of Python objects (pickles) is never read; {ALLOWED}"),
        (header(GOOD.replace("'<f8'", "[('a', '<f8')]")), "bad-file", f"x.npy: an array of records cannot be read; {ALLOWED}"),
        (header(GOOD.replace("<f8", "|b1")), "bad-file", f"x.npy: numbers of the type '|b1' cannot be read; {ALLOWED}"),
        (header(GOOD.replace("<f8", "<c8")), "bad-file", f"x.npy: numbers of the type '<c8' cannot be read; {ALLOWED}"),
        (header(GOOD.replace("<f8", "<f1")), "bad-file", f"x.npy: numbers of the type '<f1' cannot be read; {ALLOWED}"),
        (header(GOOD.replace("(2, 3)", "(6,)")), "bad-file", "x.npy: the array has the shape (6,); rows and columns are two dimensions: reshape it to (n, 1) for one feature, to (1, d) for one row"),
        (header(GOOD.replace("(2, 3)", "(0, 3)")), "empty-file", "x.npy: the array has the shape (0, 3); a row and a column are needed"),
        (header(GOOD.replace("(2, 3)", f"({10**15}, {10**15})")), "bad-file", f"x.npy: the shape ({10**15}, {10**15}) needs {8 * 10**30} bytes from byte 97 on; there are at most 0"),
        (header(GOOD) + X.tobytes()[:-1], "bad-file", "x.npy: the shape (2, 3) needs 48 bytes from byte 67 on; there are at most 47"),
        (header(GOOD) + X.tobytes() + b"!", "bad-file", "x.npy: byte 115: the file goes on; the shape (2, 3) needs 48 bytes"),
        (header(GOOD) + np.array([0, 0, 0, 0, 0, np.nan]).tobytes(), "not-finite", "x.npy: byte 107: row 1, column 2 (counted from 0) is nan; only finite numbers are allowed"),
        (header(GOOD.replace("False", "True")) + np.array([0, 0, -np.inf, 0, 0, 0]).tobytes(), "not-finite", "x.npy: byte 82: row 0, column 1 (counted from 0) is -inf; only finite numbers are allowed"),
    ],
)  # fmt: skip
@pytest.mark.spec("DATA-NPY")
def test_broken_arrays(raw: bytes, code: str, message: str) -> None:
    Path("x.npy").write_bytes(raw)
    refused("x.npy", code, message)
    if code != "empty-file" and "goes on" not in message and "there are at most" not in message:
        Path("x.npy.gz").write_bytes(gzip.compress(raw))
        refused("x.npy.gz", code, message.replace("x.npy", "x.npy.gz"))


def test_broken_packing_and_places() -> None:
    np.save("x.npy", X)
    packed = gzip.compress(Path("x.npy").read_bytes())
    Path("y.npy.gz").write_bytes(packed[:-20])
    refused("y.npy.gz", "bad-file", "y.npy.gz ends in .gz but cannot be unpacked: Compressed file ended before the end-of-stream marker was reached")  # fmt: skip
    Path("y.npy.gz").write_bytes(Path("x.npy").read_bytes())
    refused("y.npy.gz", "bad-file", r"y.npy.gz ends in .gz but cannot be unpacked: Not a gzipped file (b'\x93N')")  # fmt: skip
    refused("none.npy", "file-not-found", "cannot read none.npy: no such file or directory")
    refused("x.npy", "bad-option", "the format npy cannot use the option base; it takes missing", base=1)  # fmt: skip
    # So many zeros cannot come out of so few bytes: refused before they are unpacked.
    Path("z.npy.gz").write_bytes(gzip.compress(header(GOOD.replace("(2, 3)", "(10000, 10000)"))))
    with pytest.raises(RefclustError, match=r"needs 800000000 bytes from byte 75 on"):
        read("z.npy.gz")


# -- archives -------------------------------------------------------------------------------------


@pytest.mark.parametrize("save", [np.savez, np.savez_compressed])
def test_the_only_matrix_or_the_one_named(save: Any) -> None:
    save("a.npz", X=X, y=np.array([1, 2]), name=np.array("iris"))
    assert read("a.npz").digest() == dataset(X).digest()
    assert npz.sniff("a.npz") == 1.0
    assert plan("a.npz").facts == (
        ("arrays", "X, y, name"),
        ("array", "X"),
        ("rows", "2"),
        ("columns", "3"),
        ("numbers", "<f8"),
    )
    save("b.npz", X=X, Z=X + 1)
    assert read("b.npz", options=Options(array="Z")).row(0) == (1.0, 2.5, -1.0)
    refused("b.npz", "bad-option", "b.npz: 2 arrays have two dimensions, so one must be named (array); there are: X, Z")  # fmt: skip
    refused("b.npz", "missing-column", "b.npz: there is no array 'Y'; there are: X, Z", array="Y")
    refused("a.npz", "bad-file", "a.npz[y]: the array has the shape (2,); rows and columns are two dimensions: reshape it to (n, 1) for one feature, to (1, d) for one row", array="y")  # fmt: skip


@pytest.mark.spec("DATA-NPY")
@in_one_folder
@given(st.data(), st.sampled_from(["csr", "csc", "coo"]), st.booleans())
def test_sparse_archives(draw: st.DataObject, layout: str, packed: bool) -> None:
    n, d = draw.draw(st.integers(1, 5)), draw.draw(st.integers(1, 5))
    cells = st.sampled_from([0.0, 0.0, 1.0, -2.5])
    x = np.array(draw.draw(st.lists(cells, min_size=n * d, max_size=n * d))).reshape(n, d)
    sp.save_npz("s.npz", getattr(sp, f"{layout}_matrix")(x), compressed=packed)
    found = read("s.npz")
    assert (found.kind, found.digest()) == ("sparse", dataset(sp.csr_matrix(x)).digest())
    assert plan("s.npz").facts[1:] == (("layout", layout), ("rows", str(n)), ("columns", str(d)))


def test_repeated_entries_of_an_archive_are_added() -> None:
    sp.save_npz("s.npz", sp.coo_array(([1e16, 1.0, -1e16], ([0, 0, 0], [1, 1, 1])), (2, 2)))
    assert list(read("s.npz").rows()) == [{1: 1.0}, {}]


def parts(**changed: Any) -> dict[str, Any]:
    matrix = sp.csr_array(X)
    given_ = {
        "format": np.array(b"csr"),
        "shape": np.array([2, 3]),
        "data": matrix.data,
        "indices": matrix.indices,
        "indptr": matrix.indptr,
    }
    return {name: value for name, value in (given_ | changed).items() if value is not None}


@pytest.mark.parametrize(
    ("changed", "code", "message"),
    [
        ({"format": np.array("dia")}, "bad-file", "s.npz: a sparse matrix in the layout 'dia' cannot be read; allowed: csr, csc, coo (convert it with tocsr)"),
        ({"format": np.array([1.5])}, "bad-file", "s.npz[format]: '<f8' of shape (1,); one short text is due"),
        ({"indptr": None}, "bad-file", "s.npz: the layout csr needs the array indptr, which is missing"),
        ({"shape": np.array([2])}, "bad-file", "s.npz[shape]: [2]; the numbers of rows and columns are due"),
        ({"shape": np.array([2.0, 3.0])}, "bad-file", "s.npz[shape]: floats; whole numbers are due"),
        ({"shape": np.array([0, 3])}, "empty-file", "s.npz: 0 rows and 3 columns; one each is needed"),
        ({"shape": np.array([3, 3])}, "index-out-of-range", "s.npz: the 3 row positions do not rise from 0 over 3 rows"),
        ({"shape": np.array([2, 2])}, "index-out-of-range", "s.npz: row 0 has the column 2; there are 2 columns"),
        ({"shape": np.array([2, 2**40])}, "bad-header", f"s.npz: 2 rows and {2**40} columns for 3 entries; allowed are 4194304 rows more than entries and 2147483647 columns"),
        ({"data": np.array([1.0, 2.0])}, "index-out-of-range", "s.npz: the rows need 4 entries, but there are 4 columns, 2 values"),
        ({"data": np.array([1.0, np.nan, 1.0, 1.0])}, "not-finite", "s.npz: row 0, column 2 is nan; only finite numbers are allowed; a Gaussian mixture can do without a cell (missing='integrate', --missing integrate)"),
        ({"data": np.array([True] * 4)}, "bad-file", f"s.npz[data]: numbers of the type '|b1' cannot be read; {ALLOWED}"),
        ({"data": X}, "bad-file", "s.npz[data]: the array has the shape (2, 3); one dimension is due"),
        ({"format": np.array(b"coo"), "row": np.array([0]), "col": np.array([0])}, "wrong-count", "s.npz: 1 rows, 1 columns and 4 values; as many of each are due"),
        ({"format": np.array(b"coo"), "row": np.array([0] * 4), "col": np.array([0, 1, 2, 2**63], dtype="u8")}, "index-out-of-range", f"s.npz: an entry stands in column {2**63}; there are 3 columns"),
        ({"format": np.array(b"coo"), "row": np.array([-1] * 4), "col": np.array([0] * 4)}, "index-out-of-range", "s.npz: an entry stands in row -1; there are 2 rows"),
        ({"format": np.array(b"coo"), "row": np.array([0] * 4), "col": np.array([0] * 4), "shape": np.array([2**40, 3])}, "bad-header", f"s.npz: {2**40} rows and 3 columns for 4 entries; allowed are 4194304 rows more than entries and 2147483647 columns"),
        ({"format": np.array(b"csc")}, "index-out-of-range", "s.npz: the 3 row positions do not rise from 0 over 3 rows"),
    ],
)  # fmt: skip
@pytest.mark.spec("DATA-NPY")
def test_broken_sparse_archives(changed: dict[str, Any], code: str, message: str) -> None:
    np.savez("s.npz", **parts(**changed))
    refused("s.npz", code, message)


def test_broken_archives() -> None:
    np.savez("a.npz", X=X)
    raw = Path("a.npz").read_bytes()
    Path("t.npz").write_bytes(raw[:-30])
    refused("t.npz", "bad-file", "t.npz: the archive is damaged or not readable: File is not a zip file")  # fmt: skip
    flipped = bytearray(raw)
    flipped[200] ^= 255
    Path("t.npz").write_bytes(flipped)
    refused("t.npz", "bad-file", "t.npz: the archive is damaged or not readable: Bad CRC-32 for file 'X.npy'")  # fmt: skip
    Path("t.npz").write_bytes(b"")
    refused("t.npz", "bad-file", "t.npz: the archive is damaged or not readable: File is not a zip file")  # fmt: skip
    with zipfile.ZipFile("t.npz", "w") as archive:
        archive.writestr("readme.txt", "hello")
    refused("t.npz", "bad-file", "t.npz: the archive holds no array (no name ends in .npy)")
    assert npz.sniff("t.npz") == 0.0
    refused("none.npz", "file-not-found", "cannot read none.npz: no such file or directory")
    Path("t.npz.gz").write_bytes(gzip.compress(raw))
    refused(
        "t.npz.gz",
        "bad-file",
        "t.npz.gz: an archive inside another packing is not read; unpack it first",
    )
    np.savez("t.npz", X=X.astype(object))
    refused("t.npz", "bad-file", f"t.npz[X]: an array of Python objects (pickles) is never read; {ALLOWED}")  # fmt: skip
    with zipfile.ZipFile("t.npz", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("X.npy", header(GOOD.replace("(2, 3)", "(10000, 10000)")) + bytes(1 << 20))
    with pytest.raises(
        RefclustError, match=r"needs 800000000 bytes from byte 75 on; there are at most 1048576$"
    ):
        read("t.npz")


# -- claims ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("said", "message"),
    [
        (GOOD.replace("(2, 3)", f"({'1' * 4000}, 2)"), "a shape of 2 dimensions, the largest above 2**13284; at most 64 below 2**63 are due"),
        (GOOD.replace("(2, 3)", f"({'1,' * 65})"), "a shape of 65 dimensions, the largest above 2**0; at most 64 below 2**63 are due"),
        ("(" * 5000, f"byte 10: the header {b'(' * 40!r}… is no mapping with just descr, fortran_order and shape"),
        ("[" * 7000 + "]" * 7000, f"byte 10: the header {b'[' * 40!r}… is no mapping with just descr, fortran_order and shape"),
    ],
)  # fmt: skip
@pytest.mark.spec("DATA-NPY", "DATA-LIMIT")
def test_headers_that_claim_too_much(said: str, message: str) -> None:
    Path("x.npy").write_bytes(header(said))
    refused("x.npy", "bad-file", f"x.npy: {message}")
    with pytest.raises(RefclustError):
        plan("x.npy")


@pytest.mark.spec("DATA-NPY", "DATA-LIMIT")
def test_what_cannot_be_counted_is_held_to_the_memory() -> None:
    raw = header(GOOD.replace("(2, 3)", "(100, 100)")) + bytes(80_000)
    with piped(raw) as path:
        assert read(path).n == 100
    told = r"the shape \(100, 100\) takes 80,000 bytes, and the limit is 79,999"
    with limits(memory=79_999), piped(raw) as path, pytest.raises(TooLarge, match=told):
        read(path)
    Path("x.npy.gz").write_bytes(gzip.compress(raw))
    with limits(memory=79_999), pytest.raises(TooLarge, match=told):
        read("x.npy.gz")
    np.savez_compressed("x.npz", a=np.zeros((100, 100)))
    with limits(memory=79_999), pytest.raises(TooLarge, match=told):
        read("x.npz")
    np.savez("y.npz", a=np.zeros((100, 100)))
    Path("x.npy").write_bytes(raw)
    with limits(memory=10):  # these bytes are there
        assert read("x.npy").n == read("y.npz").n == 100
    with piped(raw[:-1]) as path:
        refused(path, "bad-file", f"{path}: byte {len(raw) - 1}: the file ends; the shape (100, 100) needs 1 bytes more")  # fmt: skip


@pytest.mark.parametrize("method", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
@pytest.mark.spec("DATA-NPY", "DATA-LIMIT")
def test_packings_without_a_bound_are_refused(method: int) -> None:
    with zipfile.ZipFile("x.npz", "w", method) as archive:
        archive.writestr(
            "a.npy", header(GOOD.replace("(2, 3)", "(8000, 1000)")) + bytes(64_000_000)
        )
    assert Path("x.npz").stat().st_size < 20_000
    refused("x.npz", "bad-file", f"x.npz[a]: packed by method {method}; allowed are stored (0) and deflate (8), which NumPy writes")  # fmt: skip


@pytest.mark.spec("DATA-NPY", "DATA-LIMIT")
def test_deflate_cannot_hold_more_than_its_bytes_allow() -> None:
    with zipfile.ZipFile("x.npz", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("a.npy", header(GOOD.replace("(2, 3)", "(8000, 1000)")))
    with zipfile.ZipFile("x.npz") as archive:
        packed = archive.getinfo("a.npy")
    with pytest.raises(RefclustError, match="needs 64000000 bytes from byte") as caught:
        read("x.npz")
    assert caught.value.code == "bad-file"
    assert packed.compress_size < 200


def test_plans_show_names_that_nobody_sees() -> None:
    head = b"{'descr': '\x1b[31m', 'fortran_order': False, 'shape': (2, 1), }\n"
    raw = b"\x93NUMPY\x01\x00" + len(head).to_bytes(2, "little") + head
    Path("x.npy").write_bytes(raw)
    assert dict(plan("x.npy").facts)["numbers"] == "'\\x1b[31m'"
    with zipfile.ZipFile("x.npz", "w") as archive:
        archive.writestr("\u2028.npy", raw)
    with pytest.raises(RefclustError, match=r"^x\.npz\[\\u2028\]: "):
        read("x.npz")
    facts = dict(plan("x.npz").facts)
    assert (facts["arrays"], facts["array"]) == ("'\\u2028'", "'\\u2028'")
    with pytest.raises(
        RefclustError, match=r"^x\.npz: there is no array 'X'; there are: '\\u2028'$"
    ):
        read("x.npz", options=Options(array="X"))


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        # The list of the archive is said to begin five bytes later, so the first member at -5.
        (lambda raw: raw[:-6] + struct.pack("<I", struct.unpack("<I", raw[-6:-2])[0] + 5) + raw[-2:], "damaged: [Errno 22] Invalid argument"),
        # A program may stand before an archive that unpacks itself; that is no file of NumPy's.
        (lambda raw: b"#!/bin/sh\n" + raw, "damaged or not readable: File is not a zip file"),
        (lambda raw: raw[:-30], "damaged or not readable: File is not a zip file"),
        (lambda raw: raw[1:], "damaged or not readable: File is not a zip file"),
    ],
)  # fmt: skip
@pytest.mark.spec("DATA-NPY", "DATA-SOURCE")
def test_an_archive_is_refused_alike_from_a_file_and_from_a_pipe(change: Any, reason: str) -> None:
    np.savez("x.npz", X=X)
    raw = change(Path("x.npz").read_bytes())
    Path("x.npz").write_bytes(raw)
    refused("x.npz", "bad-file", f"x.npz: the archive is {reason}")
    with piped(raw) as path:
        with pytest.raises(RefclustError) as caught:
            npz.read(path, Options())
        assert str(caught.value) == f"{path}: the archive is {reason}"


@pytest.mark.spec("DATA-NPY", "DATA-SOURCE")
def test_nothing_is_refused_alike_from_a_file_and_from_a_pipe() -> None:
    Path("x.npy").write_bytes(b"")
    refused("x.npy", "empty-file", "x.npy is empty; it should hold an array of NumPy")
    with piped(b"") as path, pytest.raises(RefclustError) as caught:
        npy.read(path, Options())
    assert caught.value.code == "empty-file"
    assert str(caught.value) == f"{path} is empty; it should hold an array of NumPy"

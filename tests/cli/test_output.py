"""``--output``: the user's own rows with answers beside them (DATA-JOIN)."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from refclust.data.accepting.door import dataset
from refclust.data.readers.formats import Options
from refclust.data.writers.joined import Joining, joined
from tests.cli.conftest import Cli

TABLE = 'name;"size ";x\r\n"a;b";1,50;0\r\n c;9,25;"1"\r\nd;1,75;0\r\n'
ASKED = ("--columns", "size,x", "--label-column", "name")
CELLS = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=5)


def test_a_fit_writes_the_rows_as_they_were(cli: Cli) -> None:
    Path("t.csv").write_bytes(TABLE.encode())
    done = cli("fit", "kmeans", "t.csv", "-k", "2", *ASKED, "--output", "out.csv")
    assert done.code == 0
    assert done.err.endswith("refclust: wrote out.csv\n")
    assert Path("out.csv").read_bytes().decode() == (
        'name;"size ";x;cluster;distance\r\n"a;b";1,50;0;0;0,125\r\n'
        ' c;9,25;"1";1;0,0\r\nd;1,75;0;0;0,125\r\n'
    )
    as_tabs = cli("fit", "kmeans", "t.csv", "-k", "2", *ASKED, "--output", "out.tsv")
    assert as_tabs.code == 0
    assert Path("out.tsv").read_bytes().decode().splitlines()[:2] == [
        "name\tsize \tx\tcluster\tdistance",
        "a;b\t1,50\t0\t0\t0,125",
    ]
    assert cli("fit", "kmeans", "t.csv", "-k", "2", *ASKED, "--output", "o.jsonl.gz").code == 0


def test_predictions_beside_new_rows(cli: Cli) -> None:
    rows = "".join(f"{x},{k}\n" for x, k in ((0, "a"), (1, "a"), (8, "b"), (9, "b"), (2, "a")))
    Path("t.csv").write_text("x,k\n" + rows, encoding="utf-8")
    cli("fit", "gaussian", "t.csv", "-k", "2", "--label-column", "k", "-o", "m.json")
    Path("new.csv").write_text("x,cluster\n0.50,007\n8.0,\n", encoding="utf-8")
    done = cli(
        "predict", "m.json", "new.csv", "--columns", "x", "--output", "new.jsonl", "--entropy"
    )
    assert done.code == 0, done.err
    assert "the table has a column 'cluster'; what is added is called cluster_2" in done.err
    assert done.out == ""
    lines = Path("new.jsonl").read_text("utf-8").splitlines()
    assert lines[0].startswith('{"x": 0.50, "cluster": "007", "cluster_2": 0, "p_0": 1.0, "p_1": ')
    assert list(json.loads(lines[1])) == ["x", "cluster", "cluster_2", "p_0", "p_1", "entropy"]


def test_classes_of_a_classifier(cli: Cli) -> None:
    Path("t.csv").write_text("x,k\n0,a\n1,a\n8,b\n9,b\n", encoding="utf-8")
    cli("fit", "lda", "t.csv", "--labels", "k", "-o", "m.json")
    assert cli("predict", "m.json", "t.csv", "--output", "-").out.splitlines()[0] == (
        "x,k,class,p_a,p_b"
    )


def test_rows_that_are_dropped_stay(cli: Cli) -> None:
    Path("t.csv").write_text("x,y\n1,1\nNA,2\n9,9\n8,?\n2,1\n3,\n", encoding="utf-8")
    asked = ("fit", "kmeans", "t.csv", "-k", "2", "--missing", "drop", "--output", "o.csv")
    assert cli(*asked).code == 0
    assert Path("o.csv").read_text("utf-8").splitlines() == [
        *("x,y,cluster,distance", "1,1,0,0.5", "NA,2,,", "9,9,1,0.0", "8,?,,", "2,1,0,0.5", "3,,,")
    ]


def test_a_pipe_can_be_joined(cli: Cli) -> None:
    done = cli("fit", "kmeans", "-", "-k", "2", "--output", "-", stdin=b"0\n1\n\n")
    assert done.out == "0,1,0.0\n1,0,0.0\n"
    assert done.err.startswith("2 rows, 1 feature;")


def test_rows_of_other_formats(cli: Cli) -> None:
    Path("t.jsonl").write_text('{"a": 1, "id": "x" }\n{"a": 9, "id": "y"}\n', encoding="utf-8")
    asked = ("-k", "2", "--id-column", "id")
    assert cli("fit", "kmeans", "t.jsonl", *asked, "--output", "o.jsonl").code == 0
    assert Path("o.jsonl").read_text("utf-8").splitlines()[0] == (
        '{"a": 1, "id": "x", "cluster": 1, "distance": 0.0}'
    )
    refused = cli("fit", "kmeans", "t.jsonl", *asked, "--output", "o.csv")
    assert refused.code == 2
    assert "t.jsonl is no table; --labels writes the ids" in refused.err
    assert not Path("o.csv").exists()
    Path("t.mtx").write_text("%%MatrixMarket matrix array real general\n2 1\n0\n7\n", "utf-8")
    assert cli("fit", "kmeans", "t.mtx", "-k", "2", "--output", "-").out.splitlines() == [
        *("x1,cluster,distance", "0.0,1,0.0", "7.0,0,0.0")
    ]


@pytest.mark.parametrize(
    ("more", "code", "words"),
    [
        (("--output", "t.csv", "--force"), 2, "t.csv is read from; the output needs another name"),
        (("--output", "o.xls"), 2, "a table cannot be written to o.xls; allowed: .csv, .tsv, .jso"),
        (("--output", "both.csv"), 3, "both.csv exists already; --force replaces it"),
        (("--output", "o.csv", "--labels", "o.csv"), 2, "two outputs cannot go to one file, o.csv"),
        (("--output", "-", "--json"), 2, "--json and --output - cannot share standard output"),
        (("--output", "-", "--labels", "-"), 2, "--labels and --output cannot share standard out"),
        (("--output", "none/o.csv"), 3, "there is no folder none"),
    ],
)
def test_what_cannot_be_written(cli: Cli, more: tuple[str, ...], code: int, words: str) -> None:
    Path("t.csv").write_text("x\n0\n1\n", encoding="utf-8")
    done = cli("fit", "kmeans", "t.csv", "-k", "2", *more)
    assert (done.code, words in done.err + done.out) == (code, True), done
    assert Path("t.csv").read_text("utf-8") == "x\n0\n1\n"


def test_formulas_on_request(cli: Cli) -> None:
    Path("t.csv").write_text("n,x\n=A1,0\n-5,1\n", encoding="utf-8")
    asked = ("fit", "kmeans", "t.csv", "-k", "2", "--id-column", "n", "--output", "-")
    assert cli(*asked).out.splitlines()[1] == "=A1,0,1,0.0"
    assert cli(*asked, "--spreadsheet-safe").out.splitlines()[1:] == ["'=A1,0,1,0.0", "-5,1,0,0.0"]


def test_encodings_and_marks_stay(cli: Cli) -> None:
    text = "größe;x\r\n1,5;2\r\n3;4\r\n"
    for encoding, option in (("utf-16", ()), ("utf-8-sig", ()), ("cp1252", ("cp1252",))):
        Path("t.csv").write_bytes(text.encode(encoding))
        said = ("--encoding", *option) if option else ()
        done = cli("fit", "kmeans", "t.csv", "-k", "2", *said, "--output", "o.csv", "--force")
        assert done.code == 0, done.err
        written = Path("o.csv").read_bytes()
        assert written.decode(encoding) == (
            "größe;x;cluster;distance\r\n1,5;2;1;0,0\r\n3;4;0;0,0\r\n"
        )
        assert written[:2] == text.encode(encoding)[:2]


@pytest.mark.spec("DATA-JOIN")
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(
    st.lists(st.tuples(CELLS, CELLS), min_size=1, max_size=4),
    st.sampled_from([",", ";", "|", "\t"]),
    st.sampled_from([".csv", ".tsv"]),
)
def test_every_cell_comes_out_as_it_went_in(
    tmp_path: Path, cells: list[tuple[str, str]], sign: str, ending: str
) -> None:
    path = tmp_path / ("t.tsv" if sign == "\t" else "t.csv")
    text = io.StringIO(newline="")
    rows = [["a", "b", "x"], *([*pair, str(i)] for i, pair in enumerate(cells))]
    csv.writer(text, delimiter=sign).writerows(rows)
    path.write_bytes(text.getvalue().encode())
    options = Options(columns=("x",), header=True, delimiter=sign)
    data = dataset([[float(i)] for i in range(len(cells))])
    form = "tsv" if sign == "\t" else "csv"
    joining = Joining(str(path), form, options, data, {"cluster": range(len(cells))})
    written = b"".join(joined(joining, f"o{ending}")).decode()
    kept = sign if sign in ",;|" else ","
    out = csv.reader(io.StringIO(written, newline=""), delimiter="\t" if ending == ".tsv" else kept)
    assert [*out] == [[*row, "cluster" if not i else str(i - 1)] for i, row in enumerate(rows)]

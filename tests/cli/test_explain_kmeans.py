"""``refclust explain kmeans``: one iteration and its start, as text, Markdown and LaTeX."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from refclust.cli.commands.explain.kmeans import SeenRows
from refclust.cli.commands.explain.kmeans_start import drawn_again
from refclust.cluster.fit import kmeans
from refclust.formulas.kmeans import initial_centres
from refclust.models.clusters import load_model, model_of
from refclust.models.records.clusters import KMeansModel
from refclust.numbers.sampling import stream
from tests.cli.conftest import Cli
from tests.cluster.strategies import STARTS, data_of

POINTS = "name,x,y\na,0,0\nb,0,1\nc,4,0\nd,4,1\n"
FIT = (
    *("fit", "kmeans", "p.csv", "--id-column", "name", "-k", "2", "--start", "k-means++"),
    *("--seed", "1", "-o", "m.json"),
)
ROWS = [(float(7 * i % 11), float(5 * i * i % 13) - 4) for i in range(12)]
WEIGHTS = [1.0, 2, 1, 0, 3, 1, 0.5, 1, 1, 2, 0.1, 1]

BEGUN = """\
One iteration of k-means
------------------------

4 rows, 2 features, 2 clusters, metric euclidean; from the centres that the best run started
with to those of one update. The rows are those that the model was fitted to.

The start: k-means++, seed 1
----------------------------

It took 2 random numbers of the stream of its seed.

    m_i = w_i for centre 0, then m_i = w_i D_i^2, D_i to the nearest centre so far

  mass for centre  row a  row b  row c  row d  all rows
  0                    1      1      1      1         4
  1                    0      1     16     17        34

    the row: the first one up to which the masses are more than r times all of them

  centre            r  r times all  before the row  with the row  row
  0       0.134364244  0.537456976               0             1  a
  1       0.847433737   28.8127471              17            34  d

The first centres are the rows a, d.

Assignment, row c
-----------------

            x  y
  x         4  0
  centre 0  0  0
  centre 1  4  1

    D_k^2 = sum of (x_j - c_kj)^2; the smallest decides

  cluster  D^2
  0         16
  1          1

The smallest is that of cluster 1, which has the row.

Update
------

    c_k = S_k / W_k,  S_k = sum of w x,  W_k = sum of w over the rows of the cluster

  cluster  rows  W  S x  S y
  0           2  2    0    1
  1           2  2    8    1

  centre  x before  y before  x after  y after
  0              0         0        0      0.5
  1              4         1        4      0.5

What changed
------------

    RSS = sum of w D^2 to its centre

  quantity    value  what it is
  RSS before      2  old centres
  RSS after       1  same labels, new centres
  RSS next        1  next labels

The next assignment changes no label.
"""


@pytest.fixture(autouse=True)
def _files(cli: Cli) -> None:
    assert callable(cli)
    Path("p.csv").write_text(POINTS, encoding="utf-8")
    Path("tie.csv").write_text("name,x,y\na,0,0\nb,0,1\nc,2,0\nd,4,1\n", encoding="utf-8")
    Path("centres.csv").write_text("0,0\n4,0\n", encoding="utf-8")


def part(out: str, title: str) -> str:
    """What stands under a title, up to the next one."""
    lines = out.partition(f"{title}\n{'-' * len(title)}\n\n")[2].splitlines(keepends=True)
    end = next((i for i, line in enumerate(lines) if line.startswith("---")), len(lines) + 1)
    return "".join(lines[: end - 1]).rstrip("\n")


@pytest.mark.spec("KM-WORKED", "KM-ASSIGN", "KM-UPDATE", "KM-RSS", "KM-PP", "KM-DRAW")
def test_the_first_iteration(cli: Cli) -> None:
    assert cli(*FIT).code == 0
    done = cli("explain", "kmeans", "m.json", "p.csv", "--start", "--row", "2")
    assert (done.code, done.out, done.err) == (0, BEGUN, "")
    piped = cli(
        *("explain", "kmeans", "m.json", "-", "--start", "--row", "2"), stdin=POINTS.encode()
    )
    assert piped == done


@pytest.mark.spec("KM-WORKED", "KM-ASSIGN")
def test_a_tie_and_other_rows(cli: Cli) -> None:
    assert cli(*FIT).code == 0
    done = cli("explain", "kmeans", "m.json", "tie.csv", "--row", "2")
    assert (done.code, done.err) == (0, "")
    assert part(done.out, "One iteration of k-means") == (
        "4 rows, 2 features, 2 clusters, metric euclidean; from the centres of the model to those "
        "of one\nupdate. The rows are not those that the model was fitted to.\n\n"
        "Its start cannot be shown: the start was drawn from the rows of the fit, and these are "
        "others."
    )
    assert part(done.out, "Assignment, row c").endswith(
        "  cluster   D^2\n  0        4.25\n  1        4.25\n\n"
        "A tie: the clusters 0 and 1 are equally near, exactly. The lowest number has the row: "
        "cluster 0."
    )
    assert part(done.out, "Update").endswith(
        "  cluster  rows  W  S x  S y\n"
        "  0           3  3    2    1\n"
        "  1           1  1    4    1\n\n"
        "  centre  x before  y before      x after      y after\n"
        "  0              0       0.5  0.666666667  0.333333333\n"
        "  1              4       0.5            4            1"
    )
    assert "  RSS before                 5  old centres\n" in done.out
    assert "  RSS after   3.33333333333333  same labels, new centres\n" in done.out


@pytest.mark.spec("KM-WORKED", "KM-ASSIGN")
def test_what_nine_digits_hide_is_no_tie(cli: Cli) -> None:
    assert cli(*FIT).code == 0
    Path("near.csv").write_text("name,x,y\na,2.00000000000001,0.5\n", encoding="utf-8")
    done = cli("explain", "kmeans", "m.json", "near.csv")
    assert part(done.out, "Assignment, row a").endswith(
        "  cluster  D^2\n  0          4\n  1          4\n\nThe smallest is that of cluster 1, "
        "which has the row. It is no tie: more digits tell them apart."
    )


@pytest.mark.spec("KM-WORKED", "KM-COSROWS", "KM-COSASSIGN", "KM-COSOBJ")
def test_cosine(cli: Cli) -> None:
    Path("c.csv").write_text("x,y\n3,4\n0,2\n1,0\n4,3\n", encoding="utf-8")
    Path("centres.csv").write_text("0,5\n10,0\n", encoding="utf-8")
    fit = ("fit", "kmeans", "c.csv", "--metric", "cosine", "--centres", "centres.csv")
    assert cli(*fit, "-o", "m.json").code == 0
    done = cli("explain", "kmeans", "m.json", "c.csv")
    assert (done.code, done.err) == (0, "")
    assert part(done.out, "Assignment, row 0") == (
        "              x    y\n"
        "  x           3    4\n"
        "  x / |x|   0.6  0.8\n"
        "  centre 0  0.3  0.9\n"
        "  centre 1  0.9  0.3\n\n"
        "    cos_k = x . c_k / |c_k|, x of length 1; the largest decides\n\n"
        "  cluster  x . c          |c|       cosine\n"
        "  0          0.9  0.948683298  0.948683298\n"
        "  1         0.78  0.948683298  0.822192192\n\n"
        "The largest is that of cluster 0, which has the row."
    )
    assert "  total cosine before  3.79473319220206  old centres\n" in done.out
    assert "the model began with given centres, which its file does not hold" in done.out
    diagonal = b"x,y\n1,1\n"
    done = cli("explain", "kmeans", "m.json", "-", stdin=diagonal)
    assert "A tie: the clusters 0 and 1 are equally near, exactly." in done.out
    done = cli("explain", "kmeans", "m.json", "-", stdin=b"x,y\n1,1\n0,0\n")
    assert (done.code, done.out) == (3, "")
    assert done.err.endswith("[zero-vector]\n")


@pytest.mark.spec("KM-WORKED")
def test_markdown_and_latex(cli: Cli) -> None:
    assert cli(*FIT).code == 0
    done = cli("explain", "kmeans", "m.json", "p.csv", "--format", "markdown")
    assert done.out.endswith(
        "## What changed\n\n"
        "$$ \\mathrm{RSS}=\\sum_i w_i\\lVert x_i-c_{\\hat y_i}\\rVert^2 $$\n\n"
        "| quantity | value | what it is |\n| --- | ---: | --- |\n"
        "| RSS before | 1 | old centres |\n| RSS after | 1 | same labels, new centres |\n"
        "| RSS next | 1 | next labels |\n\nThe next assignment changes no label.\n"
    )
    assert "| 1 | 0.847433737 | 28.8127471 | 17 | 34 | d |\n" in done.out
    call = ("explain", "kmeans", "m.json", "p.csv", "--format", "latex", "--out", "k.tex")
    assert cli(*call).err == "refclust: wrote k.tex\n"
    written = Path("k.tex").read_text("utf-8")
    assert written.startswith("\\subsection*{One iteration of k-means}\n\n4 rows, 2 features")
    assert (
        "\\[ D_k^2=\\sum_j(x_j-c_{kj})^2,\\qquad \\hat y=\\min\\,\\arg\\min_k D_k^2 \\]\n\n"
        "\\begin{tabular}{lr}\ncluster & D\\textasciicircum{}2 \\\\\n\\hline\n"
        "$0$ & $0.25$ \\\\\n$1$ & $16.25$ \\\\\n\\end{tabular}\n"
    ) in written


@pytest.mark.spec("KM-WORKED", "KM-INIT", "KM-RESTART", "NUM-RAND")
@pytest.mark.parametrize("metric", ["euclidean", "cosine"])
@pytest.mark.parametrize("start", STARTS)
def test_the_start_is_that_of_the_best_run(start: str, metric: Any) -> None:
    later = 0
    for kind in ("dense", "sparse"):
        data = data_of(ROWS, kind, WEIGHTS)
        for seed in range(4):
            told: Any = {"start": start, "metric": metric, "seed": seed, "restarts": 4}
            fit = kmeans(data, 3, limit=1, **told)
            model = model_of(fit, data=data)
            assert isinstance(model, KMeansModel)
            later += fit.best > 0
            rows = SeenRows.of(model, data)
            begun = drawn_again(model, rows.seen, rows.x, rows.w)
            assert begun.centres == rows.vectors(fit.runs[fit.best].first.rows())
            for draw in begun.draws:
                assert start == "greedy" or draw.row == begun.rows[draw.centre]
    assert later  # restarts mattered, so the place in the stream did


@pytest.mark.spec("KM-WORKED", "KM-GREEDY", "KM-FARTHEST", "KM-RANDOM", "KM-BOX")
@pytest.mark.parametrize(
    ("start", "told"),
    [
        (
            "greedy",
            "  centre  row  mass left\n  1       d            2  chosen\n"
            "  1       d            2\n\nThe first centres are the rows a, d.",
        ),
        ("farthest", "  D^2 for centre  row a  row b  row c  row d  largest  row\n"),
        ("random", "    m_i = w_i, or 0 for a row that equals a centre before it\n"),
        ("random-centres", "    c_j = a_j + r (b_j - a_j)\n\n"),
    ],
)
def test_other_starts(cli: Cli, start: str, told: str) -> None:
    assert cli(*FIT, "--start", start, "--restarts", "3").code == 0
    done = cli("explain", "kmeans", "m.json", "p.csv")
    assert (done.code, done.err) == (0, "")
    model = load_model("m.json")
    assert isinstance(model, KMeansModel)
    each = {"greedy": 3, "farthest": 1, "random": 2, "random-centres": 4}[start]
    first = model.fitted.best * each
    heading = part(done.out, f"The start: {start}, seed 1")
    assert f"from number {first + 1}: each run takes" in heading.replace("\n", " ")
    assert told in heading
    numbers = stream(1)
    r = [numbers.random() for _ in range(first + each)][first:]
    for one in r:
        assert f"{one:.9g}" in heading
    points = [[0, 0], [0, 1], [4, 0], [4, 1]]
    begun = initial_centres(start, points, [1] * 4, 2, r)
    done = cli("explain", "kmeans", "m.json", "p.csv", "--start")
    for k, centre in enumerate(begun):
        line = f"centre {k} {' '.join(f'{float(x):.9g}' for x in centre)}"
        assert line in [" ".join(one.split()) for one in done.out.splitlines()]


@pytest.mark.spec("KM-WORKED", "KM-EMPTY")
@pytest.mark.parametrize(
    ("policy", "told", "rss"),
    [
        ("farthest", "by the policy farthest it moves to row c.", "9.5"),
        ("split", "by the policy split it moves to row c.", "9.5"),
        ("keep", "by the policy keep it stays where it was.", "17"),
        ("drop", "by the policy drop it is dropped.", "17"),
    ],
)
def test_empty_clusters(cli: Cli, policy: str, told: str, rss: str) -> None:
    assert cli(*FIT, "--empty", policy).code == 0
    text = Path("m.json").read_text("utf-8").replace("[4.0, 0.5]", "[400.0, 0.5]")
    Path("m.json").write_text(text, encoding="utf-8")
    done = cli("explain", "kmeans", "m.json", "p.csv")
    assert f"Cluster 1 has no weight: {told}" in done.out
    assert ["RSS", "next", rss, "next", "labels"] in [one.split() for one in done.out.splitlines()]
    moved = "  c                 0              1\n  d                 0              1\n"
    assert (moved in done.out) == (rss == "9.5")
    assert ("changes 2 labels of 4:" in done.out) == (rss == "9.5")


@pytest.mark.spec("KM-WORKED")
@pytest.mark.parametrize(
    ("arguments", "code", "ending"),
    [
        (("kmeans",), 2, "[bad-option]"),
        (("kmeans", "m.json"), 2, "[bad-option]"),
        (("kmeans", "-", "-"), 2, "[bad-option]"),
        (("kmeans", "m.json", "p.csv", "--row", "4"), 3, "[index-out-of-range]"),
        (("kmeans", "m.json", "p.csv", "--row", "-1"), 3, "[index-out-of-range]"),
        (("kmeans", "m.json", "p.csv", "--header"), 2, "[bad-option]"),
        (("kmeans", "m.json", "p.csv", "--backend", "auto"), 2, "[bad-option]"),
        (("kmeans", "m.json", "tie.csv", "--start"), 2, "others [bad-option]"),
        (("kmeans", "given.json", "p.csv", "--start"), 2, "does not hold [bad-option]"),
        (("kmeans", "tree.json", "p.csv"), 2, "agglomerative; explain kmeans takes what fit kmeans"
         " wrote [bad-option]"),
        (("kmeans", "g.json", "p.csv"), 2, "[bad-option]"),
        (("kmeans", "m.json", "other.csv"), 3, "[feature-mismatch]"),
        (("kmeans", "m.json", "huge.csv"), 3, "[not-finite]"),
        (("kmeans", "many.json", "p.csv"), 3, "[too-large]"),
        (("kmeans", "p.csv", "p.csv"), 3, "[bad-model]"),
        (("em", "g.json", "p.csv", "--start"), 2, "--start belongs to explain kmeans [bad-option]"),
    ],
)  # fmt: skip
def test_what_is_refused(cli: Cli, arguments: tuple[str, ...], code: int, ending: str) -> None:
    read = ("p.csv", "--id-column", "name")
    for fit in (
        FIT,
        ("fit", "kmeans", *read, "--centres", "centres.csv", "-o", "given.json"),
        ("fit", "agglomerative", *read, "-o", "tree.json"),
        ("fit", "gaussian", *read, "-k", "1", "-o", "g.json"),
    ):
        assert cli(*fit).code == 0
    model = Path("m.json").read_text("utf-8")
    greedy = model.replace('"k-means++"', '"greedy"').replace(
        '"trials": null', f'"trials": {10**9}'
    )
    Path("many.json").write_text(greedy, encoding="utf-8")
    Path("other.csv").write_text("name,u,v\na,0,1\n", encoding="utf-8")
    Path("huge.csv").write_text("name,x,y\na,1e200,0\n", encoding="utf-8")
    done = cli("explain", *arguments)
    assert (done.code, done.out) == (code, "")
    assert done.err.endswith(ending + "\n")
    assert done.err.count("\n") == 1

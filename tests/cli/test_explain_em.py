"""``refclust explain em``: one iteration with the user's numbers, as text, Markdown and LaTeX."""

from __future__ import annotations

from pathlib import Path

import pytest

from refclust.cli.show.pieces import Formula, Title, Words, latex, markdown, text
from refclust.cli.show.tables import Table
from refclust.mixture.families.named.gaussian import gaussian_mixture
from refclust.mixture.theory import decomposition, log_joint, posteriors
from refclust.models.clusters import load_model
from refclust.models.mixtures import parameters_of
from refclust.models.records.clusters import MixtureModel
from tests.cli.conftest import Cli

LINE = "name,v\na,0\nb,1\nc,2\nd,7\ne,8\nf,10\n"
ROWS = [[0.0], [1.0], [2.0], [7.0], [8.0], [10.0]]
FIT = ("fit", "gaussian", "line.csv", "--id-column", "name", "-k", "2", "-o", "m.json")
COUNTS = "cat,dog,sea\n3,1,0\n2,0,1\n0,4,2\n1,3,0\n"


@pytest.fixture(autouse=True)
def _files(cli: Cli) -> None:
    assert callable(cli)
    Path("line.csv").write_text(LINE, encoding="utf-8")
    Path("counts.csv").write_text(COUNTS, encoding="utf-8")
    Path("bits.csv").write_text("a,b\n1,0\n1,1\n0,1\n1,0\n", encoding="utf-8")


def cells(out: str, name: str) -> list[str]:
    """The line of a table that begins with a name."""
    line = next(line for line in out.splitlines() if line.startswith(f"  {name}  "))
    return line.removeprefix(f"  {name}").split()


@pytest.mark.spec("EM-DECOMP", "EM-ESTEP", "EM-CONV")
def test_the_numbers_are_those_of_the_library(cli: Cli) -> None:
    assert cli(*FIT, "--start", "points", "--limit", "0").code == 0
    done = cli("explain", "em", "m.json", "line.csv", "--row", "2")
    assert (done.code, done.err) == (0, "")
    model = load_model("m.json")
    assert isinstance(model, MixtureModel)
    start = parameters_of(model)
    joint = log_joint(start, ROWS, family="gaussian")[2]
    q = posteriors(start, ROWS, family="gaussian")
    assert "E-step, row c" in done.out
    for k in range(2):
        assert f"{joint[k]:.9g}" in done.out
        assert f"{q[2][k]:.9g}" in done.out
    after = gaussian_mixture(ROWS, parameters=start, limit=1, tolerance=0).parameters
    k = max(range(2), key=q[2].__getitem__)
    assert f"{after.means[k][0]:.9g}" in done.out
    assert f"{after.spreads[k][0]:.9g}" in done.out
    old = decomposition(q, start, ROWS, family="gaussian")
    new = decomposition(q, after, ROWS, family="gaussian")
    assert float(cells(done.out, "J before")[0]) == pytest.approx(old.log_likelihood, rel=1e-14)
    assert float(cells(done.out, "H")[0]) == pytest.approx(old.entropy, rel=1e-14)
    assert float(cells(done.out, "Q")[0]) == pytest.approx(new.lower_bound, rel=1e-14)
    assert float(cells(done.out, "J after")[0]) == pytest.approx(new.log_likelihood, rel=1e-14)
    assert "The objective, J: rises." in done.out


@pytest.mark.parametrize(
    ("fit", "told"),
    [
        (("multinomial", "counts.csv", "-k", "2", "--m", "1"), "sum of x_j log theta_kj"),
        (("bernoulli", "bits.csv", "-k", "2", "--m", "1"), "log(1 - theta) (not there)"),
        (("gaussian", "line.csv", "--id-column", "name", "-k", "2", "--floor", "0.1"), "floor 0.1"),
        (
            ("gaussian", "line.csv", "--id-column", "name", "-k", "2", "--variation", "hard"),
            "gives the row to the most probable component only",
        ),
        (
            (
                "gaussian",
                "line.csv",
                "--id-column",
                "name",
                "-k",
                "2",
                "--variation",
                "generalized",
            ),
            "Generalized EM goes 0.5 of the way",
        ),
        (
            (
                *("gaussian", "line.csv", "--id-column", "name", "-k", "2", "--floor", "1"),
                *("--variation", "stochastic", "--limit", "2"),
            ),
            "variation em;",
        ),
    ],
)
def test_families_and_variations(cli: Cli, fit: tuple[str, ...], told: str) -> None:
    assert cli("fit", *fit, "-o", "m.json").code == 0
    for form in ("text", "markdown", "latex"):
        done = cli("explain", "em", "m.json", fit[1], "--format", form)
        assert (done.code, done.err) == (0, "")
        assert form != "text" or told in done.out


def test_files(cli: Cli) -> None:
    assert cli(*FIT).code == 0
    call = ("explain", "em", "m.json", "line.csv", "--out", "em.tex", "--format", "latex")
    assert cli(*call).err == "refclust: wrote em.tex\n"
    assert Path("em.tex").read_text("utf-8").startswith("\\subsection*{One iteration of EM")
    assert cli(*call).err.endswith("[exists]\n")


@pytest.mark.parametrize(
    ("arguments", "code", "ending"),
    [
        (("em",), 2, "[bad-option]"),
        (("em", "m.json"), 2, "[bad-option]"),
        (("em", "-", "-"), 2, "[bad-option]"),
        (("em", "m.json", "line.csv", "--row", "6"), 3, "[index-out-of-range]"),
        (("em", "m.json", "line.csv", "--row", "-1"), 3, "[index-out-of-range]"),
        (("em", "m.json", "line.csv", "--noise", "x"), 2, "[bad-option]"),
        (("em", "k.json", "line.csv"), 2, "[bad-option]"),
        (("em", "line.csv", "line.csv"), 3, "[bad-model]"),
        (("nmi", "true.txt", "pred.txt", "--row", "1"), 2, "[bad-option]"),
    ],
)
def test_what_is_refused(cli: Cli, arguments: tuple[str, ...], code: int, ending: str) -> None:
    assert cli(*FIT).code == 0
    assert (
        cli("fit", "kmeans", "line.csv", "--id-column", "name", "-k", "2", "-o", "k.json").code == 0
    )
    done = cli("explain", *arguments)
    assert (done.code, done.out) == (code, "")
    assert done.err.endswith(ending + "\n")
    assert done.err.count("\n") == 1


def test_renderings() -> None:
    pieces = (
        Title("A_b"),
        Words("5% | more"),
        Formula("x = 1", "x=1"),
        Table(["name", "value"], [["a_b", "1.5e-07"], ["c", "-inf"]]),
    )
    assert text(pieces) == (
        "A_b\n---\n\n5% | more\n\n    x = 1\n\n  name    value\n  a_b   1.5e-07\n  c        -inf\n"
    )
    assert markdown(pieces) == (
        "## A\\_b\n\n5% \\| more\n\n$$ x=1 $$\n\n"
        "| name | value |\n| --- | ---: |\n| a\\_b | 1.5e-07 |\n| c | -inf |\n"
    )
    assert latex(pieces) == (
        "\\subsection*{A\\_b}\n\n5\\% | more\n\n\\[ x=1 \\]\n\n\\begin{tabular}{lr}\n"
        "name & value \\\\\n\\hline\na\\_b & $1.5\\cdot10^{-7}$ \\\\\nc & $-\\infty$ \\\\\n"
        "\\end{tabular}\n"
    )

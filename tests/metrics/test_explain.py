"""Explanations, to the letter: the table, the derivation, the value and what others print."""

from __future__ import annotations

from textwrap import dedent

import pytest

import refclust

FIVE = [[2, 1], [0, 2]]


def told(text: str) -> str:
    return dedent(text).strip("\n")


@pytest.mark.spec("CONV-SCORE")
def test_a_score_as_text() -> None:
    assert refclust.rand(FIVE).explain().text() == told(
        """
        rand: Rand index

        rows are clusters, columns are classes
             0  1  Σ
          0  2  1  3
          1  0  2  2
          Σ  2  3  5

        TP = 2
        TN = 4
        FP = 2
        FN = 2
        N = TP + FP + FN + TN
          = 2 + 2 + 2 + 4
          = 10
        rand = (TP + TN) / N
             = (2 + 4) / 10
             = 3/5
             = 0.6

        value: exactly 3/5, nearest double 0.6 = 0x1.3333333333333p-1

        clauses: RAND (Rand index)
        """
    )


@pytest.mark.spec("CONV-SCORE", "CONV-PROFILE")
def test_other_libraries_are_quoted_where_they_differ() -> None:
    text = refclust.nmi(["x", "x", "x", "y"], [1, 1, 2, 2]).explain().text()
    lines = text.split("other libraries:\n")[1].split("\n\n")[0].splitlines()
    assert [line.split()[0] for line in lines] == ["scikit-learn", "genieclust", "torchmetrics"]
    assert all("(average=arithmetic by default)" in line for line in lines)
    same = refclust.nmi(["x", "x", "y", "y"], [1, 1, 2, 2]).explain()
    assert same.others == ()
    assert "other libraries" not in same.text()


@pytest.mark.spec("CONV-UNDEF", "CONV-PROFILE")
def test_an_undefined_value_says_why_and_accidents_are_quoted() -> None:
    score = refclust.ami([0] * 6 + [1] * 6, range(12), average="min")
    explanation = score.explain()
    assert explanation.derivation is None
    text = explanation.text()
    assert "value: undefined (0/0: " in text
    (sklearn,) = (o for o in explanation.others if o.library == "scikit-learn 1.9.1")
    assert sklearn.prints.startswith("1.0; prints a ratio of two rounding errors here")
    (torch,) = (o for o in explanation.others if o.library == "torchmetrics 1.9.0")
    assert torch.prints == "0.0"


def test_an_infinite_value() -> None:
    text = refclust.nca([[2], [1]]).explain().text()
    assert "value: −∞ (a number that is not zero, over zero: there is only one class)" in text


def test_an_estimate_says_so() -> None:
    table = [[40, 30, 20, 10, 35], [30, 40, 10, 20, 25], [20, 10, 40, 30, 15], [10, 9, 8, 70, 33]]
    score = refclust.adjusted_bcubed_f(table, samples=20)
    assert not score.certified
    assert f"value: ≈ {score} ± {score.bound:.2g}, an estimate, not certified" in (
        score.explain().text()
    )


def test_a_matching_is_shown() -> None:
    score = refclust.matching_accuracy(["x", "x", "y"], ["b", "b", "a"])
    assert "matching: a ↔ y, b ↔ x" in score.explain().text()
    assert "Matching: a ↔ y, b ↔ x" in score.explain().markdown()


def test_a_large_table_is_only_described() -> None:
    labels = list(range(16))
    size = "16 objects in 16 clusters and 16 classes"
    explanation = refclust.purity(labels, labels).explain()
    assert explanation.text().split("\n\n")[1] == size
    assert explanation.markdown().split("\n\n")[1] == size + "."
    assert explanation.latex().split("\n\n")[1] == size + "."
    shown = refclust.purity(labels[:15], labels[:15]).explain().text()
    assert "rows are clusters, columns are classes" in shown


def test_a_score_as_markdown() -> None:
    assert refclust.purity(["a|b", "c", "c"], ["x", "x", "y"]).explain().markdown() == told(
        r"""
        # Purity (`purity`)

        Rows are clusters, columns are classes.

        |  | a\|b | c | Σ |
        |---|---:|---:|---:|
        | x | 1 | 1 | 2 |
        | y | 0 | 1 | 1 |
        | Σ | 1 | 2 | 3 |

        **PUR** Purity

        $$
        \mathrm{Purity} = \sum_i \frac{n_i}{n}\,\mathrm{Purity}_i = \frac1n\sum_i\max_j n_{ij}
        $$

        $$
        \begin{aligned}
        \sum_i \max_j n_{ij} &= 1 + 1 \\
        &= 2
        \end{aligned}
        $$

        $$
        \begin{aligned}
        \mathrm{purity} &= \frac{\sum_i \max_j n_{ij}}{3} \\
        &= \frac{2}{3} \\
        &= \tfrac{2}{3} \\
        &= 0.6666666666666666666666666666666666666667
        \end{aligned}
        $$

        value: exactly 2/3, nearest double 0.6666666666666666 = 0x1.5555555555555p-1
        """
    )


def test_other_libraries_in_markdown_and_latex() -> None:
    explanation = refclust.rand([0], [0]).explain()
    assert "| scikit-learn 1.9.1 | `rand_score(true, pred)` | 1.0 |" in explanation.markdown()
    assert r"\item scikit-learn 1.9.1, rand\_score(true, pred): 1.0" in explanation.latex()


def test_a_score_as_latex() -> None:
    latex = refclust.purity(["50%_a", "c", "c"], ["x", "x", "y"]).explain().latex()
    assert latex.startswith(
        told(
            r"""
            \paragraph{Purity (purity)}

            \begin{center}
            \begin{tabular}{lrrr}
             & 50\%\_a & c & sum \\ \hline
            x & 1 & 1 & 2 \\
            y & 0 & 1 & 1 \\
            sum & 1 & 2 & 3 \\
            \end{tabular}
            \end{center}

            \[ \mathrm{Purity} =
            """
        )
    )
    assert latex.endswith(
        "value: exactly 2/3, nearest double 0.6666666666666666 = 0x1.5555555555555p-1"
    )


@pytest.mark.parametrize(
    ("label", "escaped"),
    [
        ("a\\b", r"a\textbackslash{}b"),
        ("~^", r"\textasciitilde{}\textasciicircum{}"),
        ("{#}", r"\{\#\}"),
    ],
)
def test_labels_are_escaped_for_latex(label: str, escaped: str) -> None:
    assert escaped in refclust.purity([label, "z"], [0, 1]).explain().latex()

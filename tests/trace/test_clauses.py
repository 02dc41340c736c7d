"""Reading chapters, planned IDs, and finding the specification."""

from __future__ import annotations

from pathlib import Path

import pytest

from refclust.errors import BadSpec, NeedsCheckout
from refclust.trace import places
from refclust.trace.clauses import Clause, Planned, load, parse, planned, spec_root
from tests.trace.trees import Tree


def test_parse_the_clean_chapter(tree: Tree) -> None:
    formula = "P = \\frac{1}{n} \\sum_i \\max_j n_{ij}"
    assert list(load(tree.root / "spec").values()) == [
        Clause(
            id="PUR",
            title="Purity",
            kind="normative",
            chapter="41-matching",
            line=5,
            text=f"Share of the majority class.\n\n$$ {formula} $$\n\n- Source: a paper",
            formulas=(formula,),
        ),
        Clause(
            id="PUR-ONE",
            title="Purity of singletons",
            kind="identity",
            chapter="41-matching",
            line=13,
            text="Singletons have purity one.\n\n- Source: this specification",
            formulas=(),
        ),
        Clause(
            id="PUR-NOTE",
            title="A note",
            kind="informative",
            chapter="41-matching",
            line=19,
            text="Purity grows with the number of clusters.",
            formulas=(),
        ),
    ]


@pytest.mark.parametrize("heading", ["# Top", "## Plain", "##### Deep", "## X-Y Next {identity}"])
def test_text_runs_to_the_next_heading_of_any_level(heading: str) -> None:
    first = parse(f"## A First {{normative}}\n\nOne.\n{heading}\nTwo.\n", "c")[0]
    assert first.text == "One."


def test_formulas_of_several_lines() -> None:
    [clause] = parse("## A T {normative}\n$$\na\n$$\nand $x$ and $$b$$\n", "c")
    assert clause.formulas == ("a", "b")


@pytest.mark.parametrize("fence", ["```", "~~~", "````"])
def test_fenced_code_holds_no_headings_and_no_formulas(fence: str) -> None:
    text = f"## A T {{normative}}\n{fence}md\n```x\n## B T {{bogus}}\n# c\n$$\n{fence}\nEnd.\n"
    [clause] = parse(text, "c")
    assert clause.text.endswith("End.")
    assert clause.text.startswith(f"{fence}md")
    assert clause.formulas == ()


@pytest.mark.parametrize(("outer", "inner"), [("````", "```"), ("~~~", "```"), ("```", "~~~")])
def test_only_its_own_kind_closes_a_fence(outer: str, inner: str) -> None:
    text = f"{outer}\n{inner}\n## A T {{normative}}\n{inner}\n{outer}\n## B T {{normative}}\n"
    assert [clause.id for clause in parse(text, "c")] == ["B"]


def test_heading_after_fenced_code_counts() -> None:
    found = parse("```\n## A T {normative}\n```\n## B T {normative}\nText.\n", "c")
    assert [(clause.id, clause.line) for clause in found] == [("B", 4)]


@pytest.mark.parametrize(
    "heading",
    [
        "## PUR Purity {normativ}",
        "## PUR {normative}",
        "## pur Purity {normative}",
        "# PUR Purity {normative}",
        "##### PUR Purity {normative}",
        "## PUR-2a Purity {normative}",
        "## PUR Purity {Normative}",
    ],
)
def test_malformed_heading(heading: str) -> None:
    with pytest.raises(BadSpec, match=r"c\.md:2: not a clause heading: '#"):
        parse(f"\n{heading}\n", "c")


def test_headings_that_only_look_alike_are_no_clauses() -> None:
    assert parse("## PUR Purity\n## Sets $\\{a\\}$\n#hash {normative}\n", "c") == []


@pytest.mark.parametrize("level", [2, 3, 4])
def test_levels_of_clauses(level: int) -> None:
    assert len(parse("#" * level + " A T {normative}  \nText.", "c")) == 1


def test_open_formula() -> None:
    with pytest.raises(BadSpec, match=r"c\.md:1: clause A leaves a \$\$ formula open"):
        parse("## A T {normative}\n$$ x\n## B T {normative}\ny $$\n", "c")


def test_duplicate_within_a_chapter(tmp_path: Path) -> None:
    (tmp_path / "c.md").write_text("## A T {normative}\n## A T {normative}\n", encoding="utf-8")
    with pytest.raises(BadSpec, match=r"A is defined twice: c\.md:1 and c\.md:2"):
        load(tmp_path)


def test_planned_rows(tree: Tree) -> None:
    assert list(planned(tree.root / "spec").values()) == [
        Planned("KM-ALG", "the algorithm", "planned for chapter 10", 5),
        Planned("KM-DIGITS", "a lost figure", "left out: nothing survives", 6),
    ]


def test_planned_cells_may_hold_escaped_bars(tree: Tree) -> None:
    tree.write("spec/99-planned.md", "| X | $p(a \\| b)$ | planned |\n")
    assert list(planned(tree.root / "spec").values()) == [
        Planned("X", "$p(a \\| b)$", "planned", 1)
    ]


def test_planned_ignores_fenced_code_and_prose(tree: Tree) -> None:
    tree.write("spec/99-planned.md", "A | x | planned |\n```\n| C | x | planned |\n```\n")
    assert planned(tree.root / "spec") == {}


@pytest.mark.parametrize(
    "row",
    [
        "| A | planned |",
        "| B | x | done |",
        "| B | x | planed |",
        "| B | x | plannedly |",
        "| b | x | planned |",
        "| B | x | planned | more |",
        "| B | x | planned",
    ],
)
def test_planned_row_that_is_none(tree: Tree, row: str) -> None:
    tree.write("spec/99-planned.md", f"| ID | what | state |\n|---|:--|---|\n{row}\n")
    with pytest.raises(BadSpec, match=r"99-planned\.md:3: not a planned row: '\| "):
        planned(tree.root / "spec")


def test_planned_twice(tree: Tree) -> None:
    tree.write("spec/99-planned.md", "| A | x | planned |\n| A | y | left out |\n")
    with pytest.raises(BadSpec, match=r"99-planned\.md:2: A is listed twice, first in line 1"):
        planned(tree.root / "spec")


def test_no_planned_chapter(tree: Tree) -> None:
    (tree.root / "spec/99-planned.md").unlink()
    assert planned(tree.root / "spec") == {}


def test_spec_of_the_running_package() -> None:
    package = Path(places.__file__).parents[1]
    assert spec_root() in (package.parent / "spec", package / "_spec")


def test_spec_in_a_checkout(tree: Tree) -> None:
    assert spec_root(tree.root) == tree.root / "spec"
    assert places.checkout(tree.root).tests == tree.root / "tests"


def test_a_checkout_prefers_its_own_spec(tree: Tree) -> None:
    # A build may leave a copy inside the package.
    tree.write("refclust/_spec/41-matching.md", "")
    assert spec_root(tree.root) == tree.root / "spec"


def test_spec_in_an_installed_package(tree: Tree) -> None:
    # spec/ and tests/ of other distributions lie beside the package in site-packages.
    (tree.root / "pyproject.toml").unlink()
    tree.write("refclust/_spec/41-matching.md", "")
    assert spec_root(tree.root) == tree.root / "refclust" / "_spec"
    with pytest.raises(NeedsCheckout, match="does not ship the tests"):
        places.checkout(tree.root)


@pytest.mark.parametrize("project", [False, True])
def test_no_spec_at_all(tmp_path: Path, project: bool) -> None:
    if project:
        (tmp_path / "pyproject.toml").touch()
    with pytest.raises(BadSpec, match="no specification at") as caught:
        spec_root(tmp_path)
    assert caught.value.code == "bad-spec"

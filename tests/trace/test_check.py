"""Each rule of the check: the clean tree spoilt in one way gives exactly one complaint."""

from __future__ import annotations

import pytest

from refclust.errors import BadSpec, NeedsCheckout
from refclust.trace import check
from refclust.trace.check import TraceProblem
from refclust.trace.locks import lock
from tests.trace.trees import (
    CLAUSE_PUR,
    CODE_FILE,
    FORMULA_FILE,
    TEST_FILE,
    VECTOR_FILE,
    VECTORS,
    Tree,
)


def test_clean_tree_has_no_problems(tree: Tree) -> None:
    assert tree.problems() == []


def test_normative_clause_without_code(tree: Tree) -> None:
    tree.replace(CODE_FILE, "    Spec: PUR\n", "    Spec: none (a helper)\n")
    tree.replace(FORMULA_FILE, "    Defines: PUR\n", "    Spec: none (a helper)\n")
    tree.write("spec/undefined.txt", "PUR\n")
    assert tree.problems(renew=True) == [
        f"{CLAUSE_PUR}:5: normative clause PUR has no code: "
        "no docstring under refclust/ cites it [no-code]"
    ]


def test_normative_clause_without_golden(tree: Tree) -> None:
    tree.vectors({"cases": []})
    assert tree.problems(renew=True) == [
        f"{CLAUSE_PUR}:5: normative clause PUR has no golden evidence: "
        "no case under vectors/ cites it [no-golden]"
    ]


def test_normative_clause_without_property_test(tree: Tree) -> None:
    tree.replace(TEST_FILE, '"PUR", "PUR-ONE"', '"PUR-ONE"')
    assert tree.problems(renew=True) == [
        f"{CLAUSE_PUR}:5: normative clause PUR has no property evidence: "
        "no property test that runs cites it [no-property]"
    ]


def test_identity_without_property_test(tree: Tree) -> None:
    tree.replace(TEST_FILE, '"PUR", "PUR-ONE"', '"PUR"')
    assert tree.problems(renew=True) == [
        f"{CLAUSE_PUR}:13: identity clause PUR-ONE has no property evidence: "
        "no property test that runs cites it [no-property]"
    ]


def test_skipped_property_test_is_no_evidence(tree: Tree) -> None:
    tree.replace(TEST_FILE, "@given(", "@pytest.mark.skip\n@given(")
    assert [line.split()[-1] for line in tree.problems(renew=True)] == ["[no-property]"] * 2


def test_clause_without_text(tree: Tree) -> None:
    tree.replace(CLAUSE_PUR, "Singletons have purity one.\n\n- Source: this specification\n", "")
    assert tree.problems(renew=True) == [
        f"{CLAUSE_PUR}:13: clause PUR-ONE says nothing [empty-clause]"
    ]


@pytest.mark.parametrize("line", ["", "- Source:", "Source: a paper"])
def test_clause_without_source(tree: Tree, line: str) -> None:
    tree.replace(CLAUSE_PUR, "- Source: this specification", line)
    assert tree.problems(renew=True) == [
        f"{CLAUSE_PUR}:13: identity clause PUR-ONE does not say where it comes from "
        "('- Source: …') [no-source]"
    ]


def test_unknown_id_in_code(tree: Tree) -> None:
    tree.replace(CODE_FILE, "Spec: PUR\n", "Spec: PUR, PURR\n")
    assert tree.problems() == [
        f"{CODE_FILE}:6: refclust.metrics.matching:purity cites PURR, "
        "which is no clause [unknown-id]"
    ]


def test_unknown_id_in_test(tree: Tree) -> None:
    tree.replace(TEST_FILE, '"PUR", "PUR-ONE"', '"PUR", "PUR-ONE", "PURR"')
    assert tree.problems(renew=True) == [
        f"{TEST_FILE}:14: {TEST_FILE}::test_bounds cites PURR, which is no clause [unknown-id]"
    ]


def test_unknown_id_in_vector_of_the_case(tree: Tree) -> None:
    tree.vectors(
        {"cases": [*VECTORS["cases"], {"id": "x", "formulas": ["PURR"], "expect": {"a": 1}}]}
    )
    assert tree.problems(renew=True) == [
        f"{VECTOR_FILE}:4: case x cites PURR, which is no clause [unknown-id]"
    ]


def test_unknown_id_in_vector_of_the_whole_file(tree: Tree) -> None:
    cases = [{"id": one, "expect": {"a": 1}} for one in "xyz"]
    content = {"formulas": ["PURR"], "cases": cases}
    tree.vectors(content, "spec/vectors/41/more.json")
    assert tree.problems(renew=True) == [
        "spec/vectors/41/more.json:2: case x (and 2 more) cites PURR, "
        "which is no clause [unknown-id]"
    ]


def test_planned_id_cited_by_code(tree: Tree) -> None:
    tree.replace(CODE_FILE, "Spec: PUR\n", "Spec: PUR, KM-ALG\n")
    assert tree.problems() == [
        f"{CODE_FILE}:6: refclust.metrics.matching:purity cites KM-ALG, "
        "which has no clause yet (planned for chapter 10) [planned-id]"
    ]


def test_planned_id_that_is_a_clause(tree: Tree) -> None:
    tree.write("spec/99-planned.md", tree.read("spec/99-planned.md") + "| PUR | x | planned |\n")
    assert tree.problems() == [
        "spec/99-planned.md:7: PUR is listed as 'planned' but is a clause: "
        f"{CLAUSE_PUR}:5 [planned-clause]"
    ]


def test_public_numeric_function_that_cites_nothing(tree: Tree) -> None:
    tree.add("refclust/metrics/more.py", "def entropy(p: list[float]) -> float:\n    return 0.0\n")
    assert tree.problems() == [
        "refclust/metrics/more.py:1: public numeric function refclust.metrics.more:entropy cites "
        "no clause; add 'Spec: ID' or 'Spec: none (why)' to its docstring [uncited]"
    ]


def test_opting_out_needs_a_reason(tree: Tree) -> None:
    body = 'def size() -> int:\n    """Say.\n\n    Spec: none{}\n    """\n    return 1\n'
    tree.write("refclust/data/more.py", body.format(" (a size)"))
    assert tree.problems() == []
    tree.write("refclust/data/more.py", body.format(""))
    assert tree.problems() == [
        "refclust/data/more.py:1: refclust.data.more:size: cannot read 'Spec: none'; "
        "allowed: 'Defines: ID', 'Spec: ID, ID' or 'Spec: none (why)' [bad-citation]"
    ]


def test_citing_and_opting_out_contradict(tree: Tree) -> None:
    tree.replace(CODE_FILE, "Spec: PUR\n", "Spec: PUR\n    Spec: none (why not)\n")
    assert tree.problems() == [
        f"{CODE_FILE}:6: refclust.metrics.matching:purity cites clauses "
        "and says 'Spec: none' [bad-citation]"
    ]


def test_kernel_that_cites_nothing(tree: Tree) -> None:
    tree.add(
        "refclust/kernels/more.py",
        """\
        @kernel("contingency.table", contract=Exact())
        def table(labels) -> Table:
            return Table(labels)
        """,
    )
    assert tree.problems() == [
        "refclust/kernels/more.py:2: kernel contingency.table refclust.kernels.more:table cites "
        "no clause; add 'Spec: ID' or 'Spec: none (why)' to its docstring [uncited]"
    ]


@pytest.mark.parametrize("arguments", ["", ", contract=None"])
def test_kernel_without_contract(tree: Tree, arguments: str) -> None:
    tree.replace(CODE_FILE, "def purity", f'@kernel("matching.purity"{arguments})\ndef purity')
    assert tree.problems(renew=True) == [
        f"{CODE_FILE}:7: kernel matching.purity realises PUR without a contract [no-contract]"
    ]


def test_kernel_that_realises_nothing_owes_no_contract(tree: Tree) -> None:
    tree.add(
        "refclust/kernels/more.py",
        """\
        @kernel("more.f")
        def f() -> int:
            \"""F.

            Spec: none (an experiment)
            \"""
        """,
    )
    assert tree.problems() == []


def test_kernel_with_contract(tree: Tree) -> None:
    tree.replace(CODE_FILE, "def purity", '@kernel("m.purity", contract=Exact())\ndef purity')
    assert tree.problems(renew=True) == []


def test_marker_without_ids(tree: Tree) -> None:
    tree.replace(TEST_FILE, 'spec("PUR")', "spec()")
    assert tree.problems() == [
        f"{TEST_FILE}:19: {TEST_FILE}::test_plain: cannot read pytest.mark.spec(); "
        "allowed: one or more IDs, as plain strings [bad-citation]"
    ]


def test_vector_case_without_ids(tree: Tree) -> None:
    tree.vectors({"cases": [*VECTORS["cases"], {"id": "x", "formulas": [], "expect": {"a": 1}}]})
    assert tree.problems(renew=True) == [
        f"{VECTOR_FILE}:4: case x cites no clause; its formulas are empty [uncited]"
    ]


def test_problems_are_sorted_by_place(tree: Tree) -> None:
    tree.vectors({"cases": []})
    tree.replace(CODE_FILE, "Spec: PUR\n", "Spec: PUR, ZZ, AA\n")
    lock.update(tree.root)
    found = check.problems(tree.root)
    assert [(one.file, one.message.split()[2]) for one in found] == [
        (CODE_FILE, "AA,"),
        (CODE_FILE, "ZZ,"),
        (CLAUSE_PUR, "PUR"),
    ]


def test_plain_problem() -> None:
    assert TraceProblem("drift", "a.md", 3, "it drifts").plain() == {
        "code": "drift",
        "file": "a.md",
        "line": 3,
        "message": "it drifts",
    }


def test_duplicate_id_is_an_error(tree: Tree) -> None:
    tree.write("spec/42-pairs.md", "## PUR Again {informative}\n\nText.\n")
    with pytest.raises(BadSpec, match=r"PUR is defined twice: 41-matching.md:5 and 42-pairs.md:1"):
        tree.problems()


def test_check_needs_a_checkout(tree: Tree) -> None:
    (tree.root / "tests").rename(tree.root / "elsewhere")
    with pytest.raises(NeedsCheckout, match="holds no tests/ folder") as caught:
        tree.problems()
    assert caught.value.code == "needs-checkout"

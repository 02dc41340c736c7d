"""The golden vectors of Poisson and geometric mixtures say what they should."""

from __future__ import annotations

import importlib
import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from refclust.backends.session import Session
from refclust.vectors import answers, verify
from refclust.vectors.runners import subjects
from tests.golden.test_mixture_vectors import answers_of, leaves, nearest, truth

SPEC = Path(__file__).parents[2] / "spec"
TEXT = (SPEC / "vectors/35-counts/steps.json").read_text(encoding="utf-8")
CASES = {case["id"]: case for case in json.loads(TEXT)["cases"]}
SESSION = Session("reference")
laws = pytest.mark.parametrize("law", ["pmix", "geo"])


def test_the_generator_makes_the_file() -> None:
    [made] = importlib.import_module("spec.generators.make_mixture").some("35-counts/steps")
    assert made.text() == TEXT


@pytest.mark.parametrize("backend", ["reference", "loopback"])
def test_refclust_stays_well_within_the_bounds(backend: str) -> None:
    [file] = verify.verify(backend=backend, only="35-counts").files
    assert file.failures == ()
    assert max(one.share for one in file.away) < 0.25


def test_every_bound_is_small() -> None:
    """Below 2**-30 of the value or of one, but for counts of 100,000."""
    for name, case in CASES.items():
        for leaf in (x for expected in case["expect"].values() for x in leaves(expected)):
            size = max(1.0, abs(nearest(leaf))) if "bound" in leaf else 0.0
            assert float(leaf.get("bound", "0")) <= 2.0**-30 * size or "large" in name, name


@laws
def test_chains_go_on_from_the_certified_state(law: str) -> None:
    for chain, length in (("chain", 3), ("smooth", 3), ("unseen", 2)):
        for number in range(1, length):
            before, after = (CASES[f"{law}-{chain}-{n}"] for n in (number, number + 1))
            for name in ("weights", "means"):
                due = nearest(before["expect"][f"next.{name}"])
                assert answers_of(after["input"]["state"][name]) == due


@laws
def test_weights_and_copies_expect_the_same(law: str) -> None:
    by_weight, copies = (CASES[f"{law}-{twin}"]["expect"] for twin in ("weights", "copies"))
    assert list(by_weight) == list(copies)
    for key in by_weight:
        assert truth(by_weight[key]) == truth(copies[key]), key


@laws
def test_the_likelihood_never_falls(law: str) -> None:
    for number in (1, 2, 3):
        expect = CASES[f"{law}-chain-{number}"]["expect"]
        keys = ("log_likelihood", "next.lower_bound", "next.log_likelihood")
        before, bound, after = (truth(expect[key]) for key in keys)
        assert before < bound + Fraction(1, 10**25)
        assert bound < after


@pytest.mark.parametrize("name", [name for name in CASES if "misprint" in CASES[name]])
def test_mistakes_are_no_answers(name: str) -> None:
    case: dict[str, Any] = CASES[name]
    for key, wrong in case["misprint"].items():
        ours = subjects.answer("mixture.counts", case["input"], key, SESSION)
        assert answers.passes(case["expect"][key], ours), key
        assert not answers.passes(case["expect"][key], nearest(wrong)), key


def test_both_laws_have_their_mistakes() -> None:
    flags = {flag for case in CASES.values() for flag in case.get("flags", ())}
    assert flags == {"factorials", "rate", "imagined"}

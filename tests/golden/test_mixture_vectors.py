"""The golden vectors of mixtures say what they should; careful programs meet them, careless not.

That refclust meets them is tested with all other vectors.
"""

from __future__ import annotations

import importlib
import json
import re
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from refclust.backends.session import Session
from refclust.errors import BadVectorFile
from refclust.vectors import answers, verify
from refclust.vectors.runners import subjects
from refclust.vectors.verify import GoldenCase
from tests.golden.plain_steps import Plain, single

SPEC = Path(__file__).parents[2] / "spec"
FILES = {file.name: file for file in verify.load() if re.match("3[0-4]-", file.name)}
MODELS = "32-gaussian/models.json"  # iterated: no step of the plain program
STEPS = [
    (file.subject, case)
    for file in FILES.values()
    if file.subject in ("mixture.gaussian", "mixture.counts")
    for case in file.cases
    if file.name != MODELS
]
# What a plain program does not tell.
UNTOLD = (
    "log_prior",
    "next.log_prior",
    "log_likelihood[coefficient=multinomial]",
    "certified_log_likelihood",
)
SESSION = Session("reference")


def case(name: str) -> GoldenCase:
    return next(one for file in FILES.values() for one in file.cases if one.id == name)


def truth(expected: dict[str, Any]) -> Any:
    """An expectation as fractions; the digits are more than enough for every comparison here."""
    if "list" in expected:
        return [truth(item) for item in expected["list"]]
    return Fraction(expected.get("exact") or expected["decimal"])


def leaves(expected: dict[str, Any]) -> Iterator[dict[str, Any]]:
    if "list" in expected:
        for item in expected["list"]:
            yield from leaves(item)
    else:
        yield expected


def nearest(expected: dict[str, Any]) -> Any:
    if "list" in expected:
        return [nearest(item) for item in expected["list"]]
    if "binary64" in expected:
        return float.fromhex(expected["binary64"])
    return float(Fraction(expected["exact"]))


def missed(plain: Plain, one: GoldenCase) -> list[str]:
    """The keys of a case that a program gets wrong."""
    try:
        found = plain.answers(one.input)
    except (ZeroDivisionError, ValueError, OverflowError):
        found = {}
    return [
        key
        for key, expected in one.expect.items()
        if key not in UNTOLD and not (key in found and answers.passes(expected, found[key]))
    ]


@pytest.mark.parametrize("name", sorted(FILES))
def test_the_loopback_meets_every_value(name: str) -> None:
    report = verify.verify(backend="loopback", only=name)
    assert [file.failures for file in report.files] == [()]
    assert report.ok


def test_refclust_stays_well_within_the_bounds() -> None:
    """A quarter of what is allowed: nothing that changes a rounding will need new bounds."""
    for file in verify.verify(backend="reference", only="32-gaussian").files:
        assert max(one.share for one in file.away) < 0.25


@pytest.mark.parametrize("subject", sorted({file.subject for file in FILES.values()}))
def test_a_key_that_does_not_exist_is_refused(subject: str) -> None:
    given = next(file.cases[0].input for file in FILES.values() if file.subject == subject)
    with pytest.raises(BadVectorFile, match="'bicc'"):
        subjects.RUNNERS[subject](given, "bicc", SESSION)


def test_every_bound_is_small() -> None:
    """Each bound is below 2**-30 of the value or of one, 128 times less than single precision has.

    The cases whose condition or size allows no better are named.
    """
    hard = ("slim", "offset", "farther")
    for file in FILES.values():
        for one in file.cases:
            if "error" not in one.expect and not any(word in one.id for word in hard):
                for leaf in (x for expected in one.expect.values() for x in leaves(expected)):
                    size = max(1.0, abs(nearest(leaf))) if "bound" in leaf else 0.0
                    assert float(leaf.get("bound", "0")) <= 2.0**-30 * size, one.id


@pytest.mark.parametrize(
    "name",
    [
        *("30-mixtures/runs", "31-multinomial/misprints", "32-gaussian/hard", "32-gaussian/models"),
        "34-selection/criteria",
    ],
)
def test_the_generator_makes_its_files(name: str) -> None:
    [made] = importlib.import_module("spec.generators.make_mixture").some(name)
    assert (SPEC / "vectors" / made.path).read_text(encoding="utf-8") == made.text()


def test_a_plain_program_in_doubles_meets_every_step() -> None:
    assert {one.id: missed(Plain(), one) for _, one in STEPS if missed(Plain(), one)} == {}


def test_single_precision_fails_every_step() -> None:
    assert [one.id for _, one in STEPS if not missed(Plain(single), one)] == []


@pytest.mark.parametrize(
    ("mistake", "where"),
    [
        ("sign", "gau-standard"),
        ("expanded", "gmm-offset-1e6-vvv"),
        ("expanded", "gmm-offset-1e9-vii"),
        ("unshifted", "gmm-far"),
        ("unshifted", "mmix-long-near"),
        ("no entropy", "gmm-vvv-1"),
        ("no entropy", "mmix-chain-1"),
        ("old mean", "gmm-eii-2"),
        ("raw moments", "gmm-offset-1e6-vvv"),
        ("divisor", "gmm-line-3"),
        ("divisor", "cem-vvi-1"),
    ],
)
@pytest.mark.spec("GMM-ESTEP", "GMM-SIG", "EM-Q", "GAU-PDF")
def test_mistakes_are_caught(mistake: str, where: str) -> None:
    assert missed(Plain(), case(where)) == []
    assert missed(Plain(mistakes=frozenset({mistake})), case(where)) != []


def misprinted() -> list[Any]:
    contents = [json.loads((SPEC / "vectors" / name).read_text(encoding="utf-8")) for name in FILES]
    return [
        (content["subject"], one)
        for content in contents
        for one in content["cases"]
        if "misprint" in one
    ]


@pytest.mark.parametrize(
    ("subject", "one"), misprinted(), ids=lambda x: x["id"] if isinstance(x, dict) else ""
)
def test_misprints_are_no_answers(subject: str, one: dict[str, Any]) -> None:
    for key, wrong in one["misprint"].items():
        ours = subjects.answer(subject, one["input"], key, SESSION)
        assert answers.passes(one["expect"][key], ours), key
        assert not answers.passes(one["expect"][key], nearest(wrong)), key


def test_every_erratum_of_these_chapters_has_a_case() -> None:
    flags = {
        flag
        for name in FILES
        for one in json.loads((SPEC / "vectors" / name).read_text(encoding="utf-8"))["cases"]
        for flag in one.get("flags", ())
    }
    due = {f"ERR-{number:02d}" for number in (1, 2, 14, 15, 16, 17, 30, 33, 34, 56, 57, 58, 59)}
    assert due <= flags


@pytest.mark.parametrize(
    ("chain", "length", "names"),
    [
        *((f"gmm-{model}", 3, ("weights", "means", "spreads")) for model in ("vvv", "eee", "vii")),
        ("gmm-line", 5, ("weights", "means", "spreads")),
        ("mmix-chain", 4, ("weights", "probabilities")),
        ("bmix-chain", 3, ("weights", "probabilities")),
    ],
)
@pytest.mark.spec("EM-CONV", "EM-ALG")
def test_chains_go_on_from_the_certified_state(
    chain: str, length: int, names: tuple[str, ...]
) -> None:
    for step in range(1, length):
        one, after = case(f"{chain}-{step}"), case(f"{chain}-{step + 1}")
        for name in names:
            given = answers_of(after.input["state"][name])
            assert given == nearest(one.expect[f"next.{name}"])


def answers_of(value: Any) -> Any:
    if isinstance(value, list):
        return [answers_of(one) for one in value]
    return float.fromhex(value) if "0x" in value else float(value)


@pytest.mark.spec("EM-CONV", "EM-EXPCDLL", "EM-Q")
def test_the_objective_never_falls() -> None:
    """The chain J <= Q <= J' and Q = E + H hold of the certified digits."""
    checked = 0
    slack = Fraction(1, 10**25)
    for _, one in STEPS:
        keys = ("log_likelihood", "next.lower_bound", "next.log_likelihood")
        if all(key in one.expect for key in keys) and not {"floor", "m", "q"} & set(one.input):
            before, bound, after = (truth(one.expect[key]) for key in keys)
            assert before <= bound + slack, one.id
            assert bound <= after + slack, one.id
            parts = truth(one.expect["next.expected_complete"]) + truth(one.expect["entropy"])
            assert abs(parts - bound) < slack
            checked += 1
    assert checked > 25


@pytest.mark.spec("EM-DECOMP")
def test_likelihoods_are_bounds_and_divergences() -> None:
    checked = 0
    for _, one in STEPS:
        if "kl" in one.expect:
            whole, bound, gap = (
                truth(one.expect[key]) for key in ("log_likelihood", "lower_bound", "kl")
            )
            assert abs(whole - bound - gap) < Fraction(1, 10**25)
            assert gap > 0
            checked += 1
    assert checked >= 4
    least = nearest(case("em-underflow").expect["responsibilities"])[0][1]
    assert 5.6e-313 < least < 5.7e-313


@pytest.mark.spec("PROP-EM-W")
def test_weights_and_copies_expect_the_same() -> None:
    for twin in ("gmm-weights-vvv", "gmm-weights-eii", "mmix-weights"):
        one, copies = case(twin), case(twin.replace("weights", "copies"))
        assert list(one.expect) == list(copies.expect)
        for key in one.expect:
            assert truth(one.expect[key]) == truth(copies.expect[key]), key


@pytest.mark.spec("KM-GMMLIM")
def test_shares_go_to_the_nearest_mean() -> None:
    """The distance of the shares from one-hot falls with the variance; a tie stays 2 to 1."""
    gaps = []
    for power in (0, 4, 8, 12):
        shares = nearest(case(f"gmm-limit-{power}").expect["responsibilities"])
        gaps.append(max(1 - max(row) for row in shares[:3]))
        assert shares[3][0] == pytest.approx(2 * shares[3][1], rel=1e-12)
    assert gaps == sorted(gaps, reverse=True)
    assert gaps[-1] == 0


@pytest.mark.spec("NB-MEST1H", "NB-MEST")
def test_the_table_of_m_estimates() -> None:
    found = truth(case("nb-table").expect["probabilities"])
    due = [["1/2", "1/2"], ["1/4", "3/4"], ["7/22", "15/22"], ["1/22", "21/22"]]
    assert found == [[Fraction(x) for x in row] for row in due]


@pytest.mark.spec("NB-PI")
def test_two_priors() -> None:
    shares = [truth(case(f"nb-prior-{name}").expect["weights"]) for name in ("documents", "tokens")]
    assert shares == [[Fraction(1, 10), Fraction(9, 10)], [Fraction(1, 2)] * 2]


@pytest.mark.spec("GAU-PDF1")
def test_the_standard_density() -> None:
    due = ["0.398942280401432677939946059934", "0.241970724519143349797830192936"]
    for found, digits in zip(truth(case("gau-standard").expect["densities"]), due, strict=False):
        assert abs(found - Fraction(digits)) < Fraction(1, 10**30)

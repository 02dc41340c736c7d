"""Scores: floats that know where they come from (chapter 00, CONV-SCORE)."""

from __future__ import annotations

import json
import math
from decimal import Decimal, localcontext
from fractions import Fraction
from typing import Any, ClassVar

import pytest

import refclust
from refclust import metrics
from refclust.backends.protocol import Problem
from refclust.backends.session import Session
from refclust.errors import (
    BadOption,
    BadTable,
    EmptyInput,
    Undecided,
    UnknownBackend,
    WeightsNotInteger,
)
from refclust.metrics import Contingency, Metric, Score, catalogue, score
from refclust.metrics.adjusted.estimates import Estimate
from refclust.metrics.calls.labelings import score_all, scorer, table_of
from refclust.metrics.score import HEAVY_LIMIT, Evaluation, evaluate
from refclust.numbers.real import Real, enclosed, log, sqrt
from refclust.numbers.reals import decide
from tests.metrics.keys import EXTERNAL

TRUE, PRED = ["x", "x", "y", "y", "y"], [1, 1, 1, 2, 2]
ROWS = [[2, 1], [0, 2]]


@pytest.mark.spec("CONV-SCORE")
def test_a_score_is_a_float() -> None:
    found = metrics.rand(TRUE, PRED)
    assert isinstance(found, float)
    assert isinstance(found, Score)
    assert found == 0.6
    assert found + 1 == 1.6
    assert type(found + 1) is float
    assert max(found, 0.5) is found
    assert sorted([0.7, found, 0.5]) == [0.5, found, 0.7]
    assert hash(found) == hash(0.6)
    assert json.dumps({"rand": found}) == '{"rand": 0.6}'
    assert f"{found:.3f}" == "0.600"
    assert (repr(found), str(found)) == ("Score(0.6)", "0.6")
    assert math.floor(found) == 0


@pytest.mark.spec("CONV-SCORE")
def test_what_a_score_knows() -> None:
    found = metrics.nmi(TRUE, PRED, average="min")
    assert found.name == "nmi[average=min]"
    assert isinstance(found.exact, Real)
    assert float(found.exact) == found
    assert found.fraction is None
    assert found.digits(20) == found.exact.digits(20)
    assert len(found.digits().replace(".", "").lstrip("0")) == 40
    assert found.undefined is None
    assert found.certified is True
    assert found.bound == 0.0
    assert found.spec == ("NMI-MIN",)
    assert found.range == (0, 1)
    assert found.better == "higher"
    assert found.matching is None
    assert found.table.rows() == ROWS
    assert isinstance(found.origin, Evaluation)
    assert found.origin.options == {"average": "min"}
    assert found.origin.profile is None


@pytest.mark.spec("CONV-SCORE", "CONV-ROUND")
def test_exact_values_and_fractions() -> None:
    assert metrics.rand(ROWS).fraction == Fraction(3, 5)
    assert metrics.fowlkes_mallows(ROWS).fraction == Fraction(1, 2)
    assert metrics.nmi([[1, 0], [0, 1]]).fraction == 1
    irrational = metrics.fowlkes_mallows([[3, 1], [0, 2]])
    assert irrational.fraction is None
    assert irrational.exact == 4 / sqrt(42)
    assert irrational.digits(10) == "0.6172133998"
    assert metrics.mirkin(ROWS).digits(5) == "8"
    assert metrics.mirkin(ROWS).better == "lower"
    assert metrics.van_dongen(ROWS).range == (0, math.inf)
    zero = metrics.mutual_information([[1, 1], [1, 1]])
    assert math.copysign(1, zero) == 1
    assert zero.exact == 0


@pytest.mark.spec("CONV-UNDEF", "CONV-SCORE")
def test_an_undefined_value_is_a_result_with_a_reason() -> None:
    found = metrics.rand([1], [1])
    assert math.isnan(found)
    assert found.undefined == "0/0: there is no pair of objects"
    assert found.exact is None
    assert found.fraction is None
    assert found.certified
    assert found.digits() == "nan"
    assert (repr(found), str(found)) == ("Score(nan)", "nan")


@pytest.mark.spec("CONV-SCORE", "MATCH", "NCA", "PSI")
def test_the_matching_is_told_in_labels() -> None:
    true, pred = list("xxyyyz"), [7, 7, 3, 3, 7, 3]
    assert metrics.matching_accuracy(true, pred).matching == ((3, "y"), (7, "x"))
    assert metrics.npa(true, pred).matching == ((3, "y"), (7, "x"))
    assert metrics.nca(true, pred).matching == ((3, "z"), (7, "x"))
    assert metrics.psi(true, pred).matching == ((3, "y"), (7, "x"))
    assert metrics.matching_accuracy([[0, 0], [2, 0], [0, 3]]).matching == ((1, 0), (2, 1))
    assert metrics.matching_accuracy([], [], profile="torchmetrics").matching is None


def test_provenance_says_what_ran_where() -> None:
    found = metrics.ami(TRUE, PRED, backend="loopback")
    told = found.provenance
    assert told.requested == "loopback"
    assert told.refclust == refclust.__version__
    assert [(run.kernel, run.backend) for run in told.kernels] == [
        ("contingency.table", "loopback"),
        ("information.expected_mi", "loopback"),
    ]
    assert all(run.calls >= 1 for run in told.kernels)
    assert metrics.ami(TRUE, PRED, backend="reference") == found
    by_rule = metrics.rand(ROWS).provenance
    assert by_rule.kernels == ()
    assert metrics.rand(TRUE, PRED, backend="reference").provenance.requested == "reference"
    with pytest.raises(UnknownBackend):
        metrics.rand(TRUE, PRED, backend="gpu")


def test_kernels_are_asked_through_the_session() -> None:
    class Spy(Session):
        seen: ClassVar[list[Any]] = []

        def run(self, kernel: str, problem: Problem, data: Any, *args: Any) -> Any:
            self.seen.append((kernel, problem, args))
            return super().run(kernel, problem, data, *args)

    table = Contingency.of_rows([[3, 1, 0], [1, 2, 1], [0, 0, 5]])
    found = evaluate(catalogue.find("ami"), table, {}, session=Spy())
    assert found == metrics.ami(table)
    # The cluster sizes 4, 4, 5 are two distinct ones, the class sizes 4, 3, 6 three.
    assert Spy.seen == [("information.expected_mi", Problem("margins", 13, 6), (30,))]


def test_three_ways_to_ask() -> None:
    by_name = score("nmi[average=max]", TRUE, PRED)
    assert (
        by_name == metrics.nmi(TRUE, PRED, average="max") == score("nmi", TRUE, PRED, average="max")
    )
    assert score("nmi[average=max]", TRUE, PRED, average="min").name == "nmi[average=min]"
    assert score("ari", ROWS) == metrics.adjusted_rand(Contingency.of_rows(ROWS))
    assert scorer(catalogue.find("ari").formula) == Metric(catalogue.find("ari"))
    assert evaluate(catalogue.find("rand"), Contingency.of_rows(ROWS), {}).fraction == Fraction(
        3, 5
    )


def test_labels_or_a_table() -> None:
    table = Contingency.of_rows(ROWS)
    assert table_of(table) is table
    assert table_of(ROWS).rows() == table_of(TRUE, PRED).rows() == ROWS
    with pytest.raises(BadTable, match="row 0 of the table is 'x'"):
        metrics.rand(TRUE)
    with pytest.raises(BadTable):
        metrics.rand(None)


@pytest.mark.parametrize(
    ("options", "name"),
    [
        ({"weights": [1, 2]}, "weights"),
        ({"noise": -1}, "noise"),
        ({"noise_policy": "ignore"}, "noise_policy"),
    ],
)
def test_weights_and_noise_go_with_labels(options: dict[str, Any], name: str) -> None:
    for table in (ROWS, Contingency.of_rows(ROWS)):
        with pytest.raises(BadOption, match=f"^{name} goes with two labelings") as caught:
            metrics.purity(table, **options)
        assert caught.value.code == "bad-option"
    assert metrics.purity(ROWS, weights=None, noise_policy=None) == 0.8


@pytest.mark.spec("CT-TABLE")
@pytest.mark.parametrize("name", sorted(EXTERNAL))
def test_nothing_cannot_be_scored(name: str) -> None:
    empty: tuple[tuple[Any, ...], ...] = (
        ([], []),
        ([],),
        ([[0, 0]],),
        (Contingency.of_rows([]),),
    )
    for arguments in empty:
        with pytest.raises(EmptyInput, match=r"^there is no object to score$") as caught:
            score(name, *arguments)
        assert caught.value.code == "empty-input"


@pytest.mark.spec("CT-WEIGHT")
def test_whole_counts_where_pairs_or_permutations_are_counted() -> None:
    halves = [["1/2", 1], [1, "3/2"]]
    for key in ("rand", "ari", "ami", "emi", "adjusted_purity", "pair_f[beta=2]"):
        with pytest.raises(WeightsNotInteger, match="must be whole numbers") as caught:
            score(key, halves)
        assert caught.value.code == "weights-not-integer"
        entry, options = catalogue.parse_key(key)
        assert catalogue.format_key(entry, entry.checked(options)) in str(caught.value)
    assert score("rand[pairs=ordered]", halves).fraction == Fraction(1, 2)
    assert score("mirkin", halves).fraction == 8
    with pytest.raises(WeightsNotInteger):
        metrics.rand("ab", "xy", weights=[0.5, 1])
    assert metrics.rand("ab", "xx", weights=[1.0, "2"]).fraction == Fraction(1, 3)


class TestScoreAll:
    """All metrics at once."""

    def test_every_metric_with_its_defaults(self) -> None:
        found = score_all(TRUE, PRED)
        assert list(found) == list(EXTERNAL)
        for name, one in found.items():
            assert one.name == name
            alone = score(name, TRUE, PRED)
            assert (one.hex(), one.undefined) == (alone.hex(), alone.undefined)
        assert len({id(one.table) for one in found.values()}) == 1
        assert found["rand"].provenance.requested == "auto"

    def test_what_cannot_be_had_is_left_out(self) -> None:
        heavy = {name for name, entry in EXTERNAL.items() if entry.cost == "heavy"}
        assert not heavy & set(score_all(ROWS, heavy=False))
        assert heavy <= set(score_all(ROWS, heavy=True))
        assert HEAVY_LIMIT == 2000
        limit = [[HEAVY_LIMIT - 10, 1], [0, 9]]
        assert heavy <= set(score_all(limit))
        beyond = [[HEAVY_LIMIT - 10, 2], [0, 9]]
        assert not heavy & set(score_all(beyond))
        weighted = score_all("ab", "xx", weights=["1/2", 1])
        assert "purity" in weighted
        assert not {"rand", "ami", "adjusted_rand"} & set(weighted)
        printed = score_all(TRUE, PRED, profile="mclust", backend="reference")
        assert list(printed) == ["adjusted_rand"]
        assert printed["adjusted_rand"].origin.profile == "mclust"
        assert printed["adjusted_rand"].provenance.requested == "reference"
        with pytest.raises(EmptyInput):
            score_all([], [])


class TestValues:
    """What becomes of the things a formula may return."""

    def value(self, result: Any) -> Score:
        entry = catalogue.find("purity")
        fields = {name: getattr(entry, name) for name in entry.__dataclass_fields__}
        fake = catalogue.Entry(**{**fields, "formula": lambda _: result})
        return evaluate(fake, Contingency.of_rows([[1]]), {}, session=Session())

    def test_an_estimate(self) -> None:
        found = self.value(Estimate(0.25, 0.01, 100, 0))
        assert (float(found), found.certified, found.bound) == (0.25, False, 0.01)
        assert found.exact is None
        assert found.undefined is None
        assert found.digits(5) == "0.25"

    def test_an_estimate_without_spread_is_still_no_certificate(self) -> None:
        found = self.value(Estimate(1.0, 0.0, 100, 0))
        assert (found.certified, found.bound) == (False, math.ulp(1.0))

    def test_a_number_that_nobody_can_decide(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(decide, "MOST_DIGITS", 120)
        half = enclosed(lambda digits: (log(2) / log(4) + 1).enclosure(digits))
        with pytest.raises(Undecided):
            float(half - 1 - Fraction(1, 2))
        found = self.value(half - 1 - Fraction(1, 2))
        assert found.certified is False
        assert found.exact is None
        assert abs(found) <= found.bound < 1e-50

    def test_a_number_that_may_be_a_midpoint(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """Between 1 and the next double, as far as anybody can see: the bound is that gap."""
        monkeypatch.setattr(decide, "MOST_DIGITS", 120)

        def interval(digits: int) -> tuple[Decimal, Decimal]:
            with localcontext(prec=300):
                middle, step = Decimal(2) ** -53 + 1, Decimal(10) ** -digits
                return middle - step, middle + step

        found = self.value(enclosed(interval))
        assert found in (1.0, 1 + 2.0**-52)
        assert (found.certified, found.exact, found.bound) == (False, None, 2.0**-52)


@pytest.mark.spec("CONV-SCORE")
def test_the_score_is_explained_on_request() -> None:
    assert "3/5" in str(metrics.rand(ROWS).explain())

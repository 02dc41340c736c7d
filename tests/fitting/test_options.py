"""Options stand once: a call, its help and the command line never disagree about them."""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any, get_args

import pytest
import typer

import refclust
from refclust.classify.options import LdaCall, NaiveBayesCall, NearestGaussianCall, QdaCall
from refclust.cli.commands.fit import classifiers, clusters, mixtures
from refclust.cli.commands.select import select
from refclust.cli.options.evidence.labelings import BackendName
from refclust.cli.options.groups import together
from refclust.cluster.options import (
    AgglomerativeCall,
    BisectingCall,
    KMeansCall,
    KMeansOptions,
    Lloyd,
)
from refclust.cluster.seeding import STARTS
from refclust.errors import BadOption
from refclust.fitting.options import LEFT_OPEN, Call, Member, Option, members, takes
from refclust.kernels.distances import METRICS
from refclust.kernels.linkage import LINKAGES
from refclust.mixture.bayes.fit import (
    variational_bernoulli,
    variational_gaussian,
    variational_multinomial,
)
from refclust.mixture.choosing.options import SelectCall
from refclust.mixture.families.named import names
from refclust.mixture.options import (
    BernoulliCall,
    Climb,
    EMOptions,
    GaussianCall,
    MeansCall,
    MultinomialCall,
    Variation,
    VariationalBernoulliCall,
    VariationalGaussianCall,
    VariationalMultinomialCall,
)

CALLS: dict[Callable[..., Any], type] = {
    refclust.kmeans: KMeansCall,
    refclust.kmeans_steps: KMeansCall,
    refclust.bisecting: BisectingCall,
    refclust.agglomerative: AgglomerativeCall,
    refclust.gaussian_mixture: GaussianCall,
    refclust.gaussian_steps: GaussianCall,
    refclust.multinomial_mixture: MultinomialCall,
    refclust.multinomial_steps: MultinomialCall,
    refclust.bernoulli_mixture: BernoulliCall,
    refclust.bernoulli_steps: BernoulliCall,
    refclust.geometric_mixture: MeansCall,
    refclust.geometric_steps: MeansCall,
    refclust.poisson_mixture: MeansCall,
    refclust.poisson_steps: MeansCall,
    variational_bernoulli: VariationalBernoulliCall,
    variational_gaussian: VariationalGaussianCall,
    variational_multinomial: VariationalMultinomialCall,
    refclust.select: SelectCall,
    refclust.naive_bayes: NaiveBayesCall,
    refclust.qda: QdaCall,
    refclust.lda: LdaCall,
    refclust.nearest_gaussian: NearestGaussianCall,
}
COMMANDS: dict[Callable[..., Any], type] = {
    clusters.kmeans: KMeansCall,
    clusters.bisecting: BisectingCall,
    clusters.agglomerative: AgglomerativeCall,
    mixtures.gaussian: GaussianCall,
    mixtures.multinomial: MultinomialCall,
    mixtures.bernoulli: BernoulliCall,
    classifiers.naive_bayes: NaiveBayesCall,
    classifiers.qda: QdaCall,
    classifiers.lda: LdaCall,
    classifiers.nearest_gaussian: NearestGaussianCall,
    select: SelectCall,
}
# Where the command line asks in its own way, under the same spelling.
OWN = {
    mixtures.multinomial: {"p"},
    mixtures.bernoulli: {"p"},
    select: {"k", "covariance", "p", *members(Climb)} - {"seed", "restarts", "tolerance", "limit"},
}


@pytest.mark.parametrize(("function", "kind"), CALLS.items())
def test_help_shows_every_option_with_its_default_and_one_line(
    function: Callable[..., Any], kind: type
) -> None:
    shown = inspect.signature(function).parameters
    assert list(shown) == list(members(kind))
    assert shown.keys() == inspect.signature(kind).parameters.keys()
    told = inspect.getdoc(function) or ""
    listed = told[told.index("\nOptions:\n") :].splitlines()[2:]
    for (name, member), line in zip(members(kind).items(), listed, strict=True):
        assert line.split(maxsplit=1) == [name, member.line]
        assert member.option.help.count("\n") == 0
        assert member.option.help[-1] in ".]…"
        missing = member.default is dataclasses.MISSING
        assert shown[name].default is (inspect.Parameter.empty if missing else member.default)
        assert shown[name].kind in (
            (inspect.Parameter.POSITIONAL_OR_KEYWORD,)
            if member.positional
            else (inspect.Parameter.KEYWORD_ONLY,)
        )


def test_every_fit_of_the_package_declares_its_options() -> None:
    """No function that takes rows beside these has options of its own."""
    fits = {
        name
        for name, home in refclust._HOMES.items()
        if home.split(".")[1] in ("cluster", "classify")
        or home in ("refclust.mixture.choosing.selection", "refclust.mixture.bayes.fit")
    } | {f"{family}_{what}" for family in names() for what in ("mixture", "steps")}
    fits.remove("crossval")  # its options are those of the splits; a model is given as a call
    assert fits == {call.__name__ for call in CALLS if hasattr(refclust, call.__name__)}


@pytest.mark.parametrize(("command", "kind"), COMMANDS.items())
def test_the_command_line_spells_the_options_of_the_call(
    command: Callable[..., Any], kind: type
) -> None:
    typed: dict[str, tuple[Any, Any]] = {}
    for each in inspect.signature(command).parameters.values():
        [told] = get_args(each.annotation)[1:]
        if isinstance(told, typer.models.OptionInfo):
            # Typer takes the first spelling for a default until it reads the signature.
            words = [str(told.default), *(told.param_decls or ()), told.metavar or ""]
            typed[" ".join(words).rstrip()] = told, each.default
    for name, member in members(kind).items():
        spelling = member.option.cli
        if not spelling or name in OWN.get(command, set()):
            continue
        told, default = typed[spelling]
        assert told.help == member.option.help
        left_open = member.default in (LEFT_OPEN, dataclasses.MISSING)
        assert default is (None if left_open else member.default)


def test_the_help_of_backends_is_the_same_everywhere() -> None:
    [told] = get_args(BackendName)[1:]
    assert told.help == members(Call)["backend"].option.help


def test_names_are_those_of_the_kernels() -> None:
    assert members(AgglomerativeCall)["linkage"].choices == LINKAGES
    assert members(AgglomerativeCall)["metric"].choices == (*METRICS, "gower")
    assert members(KMeansCall)["start"].choices == tuple(STARTS)
    assert members(BisectingCall)["start"].choices == tuple(STARTS)


def test_options_in_force_are_all_that_decides() -> None:
    """What a fit is kept by is each option of the loop, the number of clusters and the start."""
    for kind, loop in ((KMeansOptions, Lloyd), (EMOptions, Climb)):
        assert list(members(kind)) == ["k", "start", *members(loop)]


@pytest.mark.parametrize(
    ("variation", "samples", "damping", "limit"),
    [
        ("em", 1, 1.0, 1000),
        ("generalized", 1, 0.5, 1000),
        ("stochastic", 1, 1.0, 100),
        ("monte-carlo", 10, 1.0, 100),
    ],
)
def test_what_is_left_open_depends_on_the_variation(
    variation: Variation, samples: int, damping: float, limit: int
) -> None:
    assert Climb(variation=variation).settled(3, "points").as_json() == {
        "k": 3,
        "start": "points",
        "variation": variation,
        "top": 0,
        "samples": samples,
        "damping": damping,
        "seed": 0,
        "restarts": 1,
        "tolerance": 1e-8,
        "limit": limit,
        "collapse": "end",
        "trace": "scalars",
    }


def test_starts_that_nobody_named_are_those_of_the_family() -> None:
    rows = [[0, 1], [3, 0], [0, 5], [7, 1]]
    assert refclust.gaussian_mixture(rows, 1).start == "kmeans"
    assert refclust.multinomial_mixture(rows, 1, m=1.0).start == "points"
    assert refclust.bernoulli_mixture([[0, 1], [1, 1]], 1, m=1.0).start == "points"
    assert variational_gaussian(rows, 1).start == "kmeans"
    assert variational_multinomial(rows, 1).start == "points"
    assert refclust.gaussian_mixture(rows, 1, start="random").start == "random"


def test_options_of_the_fits_to_choose_among() -> None:
    several = {"restarts": 5, "tolerance": 1e-6}
    assert SelectCall([]).of_fits(GaussianCall) == {"start": "varied", **several}
    of_words = SelectCall([], model="multinomial", m=2.0, restarts=1)
    assert of_words.of_fits(MultinomialCall) == {
        "start": "points",
        "restarts": 1,
        "tolerance": 1e-6,
        "m": 2.0,
    }
    assert SelectCall([], model="kmeans", restarts=5).of_fits(KMeansCall) == {"restarts": 5}
    with pytest.raises(BadOption, match="choosing among kmeans models has no option m; allowed"):
        SelectCall([], model="kmeans", m=2.0).of_fits(KMeansCall)


@pytest.mark.parametrize(("function", "kind"), CALLS.items())
def test_an_unknown_option_is_refused_with_those_allowed(
    function: Callable[..., Any], kind: type
) -> None:
    with pytest.raises(BadOption) as caught:
        function([[0.0], [1.0]], smothing=1)
    assert str(caught.value) == (
        f"{function.__name__} has no option smothing; allowed are {', '.join(members(kind))}"
    )


def test_rows_may_be_named_and_must_be_there() -> None:
    assert refclust.kmeans(data=[[0], [2]], k=1).rss == 2.0
    with pytest.raises(BadOption, match="kmeans was not given data"):
        refclust.kmeans(k=1)  # type: ignore[call-arg]
    with pytest.raises(
        BadOption, match="kmeans was given 3 values without names; only data, k may"
    ):
        refclust.kmeans([[0], [2]], 1, 2)  # type: ignore[call-arg, arg-type]


def test_type_checkers_know_the_options() -> None:
    """Each remark is an error of its own where nothing is wrong, so these are seen to be wrong."""
    rows, classes = [[0.0], [1.0], [4.0], [6.0]], "aabb"
    with pytest.raises(BadOption, match="has no option trails"):
        refclust.kmeans(rows, 1, trails=3)  # type: ignore[call-arg]
    with pytest.raises(BadOption, match="trials is '3'"):
        refclust.kmeans(rows, 1, start="greedy", trials="3")  # type: ignore[arg-type]
    with pytest.raises(BadOption, match="variation is 'soft'"):
        refclust.gaussian_mixture(rows, 1, variation="soft")  # type: ignore[arg-type]
    with pytest.raises(BadOption, match="model is 'trees'"):
        refclust.select(rows, model="trees")
    spreads = refclust.naive_bayes(rows, classes, kind="gaussian").parameters.spreads
    assert spreads == ((0.25,), (1.0,))
    theta = refclust.naive_bayes(rows, classes, m=1.0).parameters.probabilities
    assert tuple(theta) == ((1.0,), (1.0,))


@dataclass(frozen=True, kw_only=True)
class LazyKMeansCall(KMeansCall):
    """K-means with one more option: this field is all that it needs."""

    patience: Annotated[int, Option("How many quiet rounds to wait.", "--patience P")] = 3


def test_a_new_option_is_one_field() -> None:
    @takes(LazyKMeansCall)
    def lazily(call: LazyKMeansCall) -> int:
        """Wait."""
        return call.patience

    assert lazily([[0]], 1) == 3
    assert lazily([[0]], patience=5) == 5
    assert str(inspect.signature(lazily).parameters["patience"]) == "patience: int = 3"
    assert "    patience    How many quiet rounds to wait. [3]\n" in str(lazily.__doc__)

    seen: list[LazyKMeansCall] = []

    @together(LazyKMeansCall, "call")
    def command(*, call: LazyKMeansCall) -> None:
        seen.append(call)

    app = typer.Typer(rich_markup_mode=None, add_completion=False)
    app.command()(command)
    typer.main.get_command(app)(["--patience", "7", "--restarts", "2"], standalone_mode=False)
    assert (seen[0].patience, seen[0].restarts, seen[0].metric) == (7, 2, "euclidean")


def test_an_option_that_tells_nothing_is_no_option() -> None:
    @dataclass(frozen=True, kw_only=True)
    class Silent(Call):
        patience: int = 3

    with pytest.raises(AssertionError, match="nothing is told of the option patience"):
        members(Silent)


def test_members() -> None:
    member = Member("p", float | None, None, False, Option("A share.", check=_refuse))
    member.check(None)
    member.check(LEFT_OPEN)
    with pytest.raises(BadOption, match="p: 2"):
        member.check(2)
    assert [member.is_default(x) for x in (None, 0.0)] == [True, False]
    zero = Member("m", float, 0.0, False, Option("A number."))
    assert [zero.is_default(x) for x in (0.0, -0.0, 0, 1.0)] == [True, True, False, False]
    with pytest.raises(BadOption, match="metric is None; allowed are euclidean, cosine"):
        members(KMeansCall)["metric"].check(None)


def _refuse(name: str, value: Any) -> None:
    raise BadOption(f"{name}: {value}")

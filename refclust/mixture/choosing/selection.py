"""Choosing among models: fit them all, put them in a table, mark the best (chapter 34).

Every candidate stays in the table: those that could not be fitted with the code of their error.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, Unpack, cast, get_args

from refclust.backends.protocol import Problem
from refclust.backends.session import Session
from refclust.cluster.kmeans import KMeansArguments
from refclust.data.accepting.door import dataset
from refclust.data.accepting.trust import items, iterator
from refclust.data.dataset import Dataset
from refclust.errors import BadOption, DataError
from refclust.fitting.checks import named, runs, whole
from refclust.limits import within
from refclust.mixture.bayes.fit import (
    variational_bernoulli,
    variational_gaussian,
    variational_multinomial,
)
from refclust.mixture.bayes.importance import importance_sampling
from refclust.mixture.bayes.precisions import CONJUGATE, precision
from refclust.mixture.choosing import criteria, held_out
from refclust.mixture.choosing.clusters import select_kmeans
from refclust.mixture.choosing.criteria import AnyFit
from refclust.mixture.choosing.table import (
    OF_BELIEFS,
    OF_KMEANS,
    Candidate,
    Criterion,
    Model,
    Selection,
    Told,
    failed,
    rank,
    ranking,
    why,
)
from refclust.mixture.covariance.models import MODELS, covariance_model
from refclust.mixture.em import USUAL
from refclust.mixture.families.count_parameters import Counts
from refclust.mixture.fit import (
    EMArguments,
    bernoulli_mixture,
    gaussian_mixture,
    multinomial_mixture,
)
from refclust.numbers.reading import shown

RESTARTS: Final = 5
TOLERANCE: Final = 1e-6  # criteria are compared in units, not in the last digits of a maximum
_OF_ALL: Final = frozenset(("start", "seed", "restarts", "tolerance", "limit"))
_OF_EM: Final = _OF_ALL | {"variation", "top", "samples", "damping", "collapse", "trace"}
_FITS: Final[Mapping[tuple[str, bool], tuple[Callable[..., AnyFit], frozenset[str]]]] = {
    ("gaussian", False): (gaussian_mixture, _OF_EM | {"floor"}),
    ("multinomial", False): (multinomial_mixture, _OF_EM | {"m", "p", "counts"}),
    ("bernoulli", False): (bernoulli_mixture, _OF_EM | {"m", "p"}),
    ("gaussian", True): (variational_gaussian, _OF_EM | {"alpha", "beta", "nu"}),
    ("multinomial", True): (
        variational_multinomial,
        _OF_EM | {"alpha", "concentration", "counts"},
    ),
    ("bernoulli", True): (variational_bernoulli, _OF_EM | {"alpha", "concentration"}),
}


class SelectArguments(EMArguments, total=False):
    """The options of the fits, for type checkers; each goes with the models that have it."""

    floor: float
    m: float
    p: Sequence[float] | None
    counts: Counts
    alpha: float | None
    beta: float
    nu: float | None
    concentration: float


def select(
    data: Any,
    *,
    k: int | Iterable[int] = range(1, 10),
    model: Model = "gaussian",
    covariance: str | Iterable[str] = "full",
    criterion: Criterion | None = None,
    folds: int | None = None,
    references: int = 20,
    after_candidate: Told | None = None,
    **options: Unpack[SelectArguments],
) -> Selection:
    """Fit a model for every K and every covariance asked for, and choose by a criterion.

    The usual criterion is BIC, for k-means the gap statistic; ``folds`` belongs to ``cv``,
    ``references`` to ``gap``. ``covariance`` is a name, several, or ``all``: by evidence all that
    have a conjugate prior, and ``left_out`` says which have none. Mixtures begin five
    times, Gaussian ones first from k-means, then around random rows, unless ``start`` and
    ``restarts`` say otherwise, and stop when a row gains no more than 1e-6.

    Spec: MS-BIC, MS-AIC, MS-ICL, MS-CVLL, MS-VISEL, MS-IS, MS-GAP, MS-ELBOW

    >>> found = select([[0], [1], [2], [40], [41], [42]], k=[1, 2], covariance="tied")
    >>> found.why
    'smallest BIC 30.08; next EEE with K = 1 at 56.57'
    >>> found.best.name
    'EEE with K = 2'
    """
    named("model", model, get_args(Model))
    criterion = criterion or ("gap" if model == "kmeans" else "bic")
    named("criterion", criterion, get_args(Criterion))
    if (model == "kmeans") != (criterion in OF_KMEANS):
        raise BadOption(
            f"the criterion {criterion} does not go with {model}; k-means has gap and elbow, "
            "mixtures have bic, aic, icl, icl-soft, cv, evidence and importance"
        )
    if folds is not None and criterion != "cv":
        raise BadOption(f"folds belong to the criterion cv, not to {criterion}")
    given: dict[str, Any] = dict(options)
    weights = given.pop("weights", None)
    rows = dataset(data) if weights is None else dataset(data, weights=weights)
    session, backend = given.pop("session", None), given.pop("backend", None)
    ks = _numbers(k)
    if model != "kmeans":
        # One unlucky start would decide between models: each gets several.
        given.setdefault("start", "varied" if model == "gaussian" else "points")
        given.setdefault("restarts", RESTARTS)
        given.setdefault("tolerance", TOLERANCE)
    shapes, left_out = _covariances(covariance, model, criterion)
    if session is None:
        session = _session(backend, model, rows, (max(ks), len(ks) * len(shapes)), given)
    told = after_candidate or (lambda _done, _all, _name: None)
    if model == "kmeans":
        _check_names(given, _OF_ALL, model)
        runs("references", references)
        asked = cast(KMeansArguments, {**given, "session": session})
        return select_kmeans(rows, ks, criterion, references, asked, told)
    fitting = _fitting(model, criterion, rows, session, given, folds)
    table = fitting.selection([(each, shape) for each in ks for shape in shapes], told)
    return replace(table, left_out=left_out)


def _session(
    backend: str | None,
    model: Model,
    rows: Dataset,
    work: tuple[int, int],  # the largest number of components, and how many fits
    options: Mapping[str, Any],
) -> Session:
    """A session that knows how much work is coming, so that a fast backend pays."""
    session, (most, fits) = Session(backend), work
    kernel = {"gaussian": "gaussian.em_step", "kmeans": "kmeans.lloyd_step"}.get(
        model, "multinomial.em_step"
    )
    restarts = options.get("restarts", 1)
    calls = fits * USUAL * (restarts if isinstance(restarts, int) else 1)
    session.bound_to(kernel, Problem(rows.kind, rows.n, len(rows.matrix.values), most, calls))
    return session


@dataclass(frozen=True, slots=True)
class _Fitting:
    """How candidates are fitted and judged."""

    model: Model
    criterion: Criterion
    rows: Dataset
    session: Session
    fit: Callable[..., AnyFit]
    options: dict[str, Any]
    dealt: tuple[tuple[int, ...], ...]  # the folds, for cross-validation

    def selection(self, asked: Sequence[tuple[int, str | None]], told: Told) -> Selection:
        """Fit all candidates; only the fit of the best one so far is kept."""
        candidates: list[Candidate] = []
        kept: AnyFit | None = None
        best: tuple[float, int] | None = None
        first: DataError | None = None
        for k, shape in asked:
            try:
                one, fit = self._candidate(k, shape)
            except DataError as error:
                first = first or error
                one = failed(k, shape, error)
            else:
                if best is None or rank(one, self.criterion) < best:
                    best, kept = rank(one, self.criterion), fit
            candidates.append(one)
            told(len(candidates), len(asked), one.name)
        if best is None and first is not None:
            raise first
        chosen = ranking(candidates, self.criterion)[0]
        reason = why(candidates, self.criterion)
        return Selection(self.model, self.criterion, tuple(candidates), chosen, reason, kept)

    def _candidate(self, k: int, shape: str | None) -> tuple[Candidate, AnyFit]:
        bounded = self.criterion in OF_BELIEFS
        more = {} if shape is None else {"covariance": shape}

        def fitted(rows: Dataset) -> AnyFit:
            return self.fit(rows, k, session=self.session, **more, **self.options)

        fit = fitted(self.rows)
        doubts: tuple[str, ...] = ()
        if bounded:
            values, used = {"evidence": fit.objective}, in_use(fit.sizes)
            if self.criterion == "importance":
                more_values, doubts = self._sampled(fit)
                values |= more_values
        else:
            values, used = _values(fit, self.rows, self.session), None
        if self.criterion == "cv":
            values["cv"] = held_out.cross_validated(self.rows, self.dealt, fitted, self.session)
        one = Candidate(
            k,
            shape,
            log_likelihood=None if bounded else fit.log_likelihood,
            free_parameters=fit.free_parameters,
            iterations=fit.iterations,
            used=used,
            values=values,
            doubts=doubts,
        )
        return one, fit

    def _sampled(self, fit: Any) -> tuple[dict[str, float], tuple[str, ...]]:
        """The log evidence by importance sampling, its error, the tail index, and all doubts."""
        seed = self.options.get("seed", 0)
        found = importance_sampling(fit, self.rows, seed=seed, session=self.session)
        values = {"importance": found.log_evidence, "importance-error": found.standard_error}
        if found.pareto_k is not None:
            values["pareto-k"] = found.pareto_k
        return values, found.doubts


def in_use(sizes: Iterable[float]) -> int:
    """How many components have the weight of at least one row.

    Spec: MS-VIPRUNE

    >>> in_use([97.5, 2.25, 0.25])
    2
    """
    return len([size for size in sizes if size >= 1])


def _values(fit: AnyFit, rows: Dataset, session: Session) -> dict[str, float]:
    found = criteria.criteria(fit, rows, session=session)
    return {"bic": found.bic, "aic": found.aic, "icl": found.icl, "icl-soft": found.icl_soft}


def _fitting(
    model: Model,
    criterion: Criterion,
    rows: Dataset,
    session: Session,
    options: dict[str, Any],
    folds: int | None,
) -> _Fitting:
    fit, names = _FITS[model, criterion in OF_BELIEFS]
    _check_names(options, names, model)
    dealt = held_out.folds(rows.n, folds, seed=options.get("seed", 0)) if criterion == "cv" else ()
    return _Fitting(model, criterion, rows, session, fit, options, dealt)


def _check_names(options: Mapping[str, Any], known: frozenset[str], model: str) -> None:
    for name in options:
        if name not in known:
            raise BadOption(
                f"choosing among {model} models has no option {name}; allowed are "
                f"{', '.join(sorted(known))}"
            )


def _numbers(k: Any) -> list[int]:
    """The numbers of components asked for, each once, in order."""

    def refusal() -> BadOption:
        return BadOption(f"k is {shown(k)}; a whole number, or several of them, are needed")

    if isinstance(k, str | Mapping):
        raise refusal()
    asked: dict[int, None] = {}
    for one in (k,) if isinstance(k, int) else iterator(k, refusal):
        whole("k", one, 1)
        within("runs", len(asked), f"k={shown(k)}, with more than {len(asked):,} numbers,")
        asked[one] = None
    if not asked:
        raise BadOption("k is empty; at least one number of components is needed")
    return list(asked)


def _covariances(
    asked: str | Iterable[str], model: Model, criterion: Criterion
) -> tuple[list[str | None], tuple[str, ...]]:
    """The covariance models asked for, by their own names, each once, in order; and those left out.

    By evidence ``all`` are those that have a conjugate prior; one without is refused by name.
    """

    def refusal() -> BadOption:
        return BadOption(
            f"covariance is {shown(asked)}; a name, several of them, or all are needed"
        )

    listed = [asked] if isinstance(asked, str) else items(asked, refusal)
    if not all(isinstance(name, str) for name in listed):
        raise refusal()
    if model != "gaussian":
        if listed != ["full"] and model != "kmeans":
            raise BadOption(f"covariances belong to gaussian mixtures, not to {model} ones")
        return [None], ()
    if not listed:
        raise BadOption("no covariance model is named; give one, several, or all")
    bounded = criterion in OF_BELIEFS
    every = list(CONJUGATE if bounded else MODELS)
    names = [name for part in listed for name in (every if part == "all" else [part])]
    models = list(dict.fromkeys(covariance_model(name).name for name in names))
    if bounded:
        for name in models:
            precision(name, 1)  # refuses a model without a conjugate prior
    left_out = tuple(name for name in MODELS if name not in every) if "all" in listed else ()
    return list(models), left_out

"""Choosing among models: fit them all, put them in a table, mark the best (chapter 34).

Every candidate stays in the table: those that could not be fitted with the code of their error.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from refclust.backends.protocol import Problem
from refclust.backends.session import Session
from refclust.data.accepting.door import dataset
from refclust.data.accepting.trust import items, iterator
from refclust.data.dataset import Dataset
from refclust.errors import BadOption, DataError
from refclust.fitting.checks import plain_number, whole
from refclust.fitting.options import takes
from refclust.fitting.splits import folds
from refclust.limits import within
from refclust.mixture.bayes.fit import (
    variational_bernoulli,
    variational_gaussian,
    variational_multinomial,
)
from refclust.mixture.bayes.importance import importance_sampling
from refclust.mixture.bayes.precisions import CONJUGATE, precision
from refclust.mixture.choosing import criteria, held_out
from refclust.mixture.choosing.clusters import Clustering, select_clusters
from refclust.mixture.choosing.criteria import AnyFit
from refclust.mixture.choosing.options import CLUSTERS, Criterion, Model, SelectCall, Watcher
from refclust.mixture.choosing.partitions import CALLS
from refclust.mixture.choosing.table import (
    OF_BELIEFS,
    OF_CLUSTERS,
    TITLES,
    Candidate,
    Selection,
    failed,
    rank,
    ranking,
    why,
)
from refclust.mixture.covariance.models import MODELS, covariance_model
from refclust.mixture.em import USUAL
from refclust.mixture.families.named import record
from refclust.mixture.fit import begun_by, finished
from refclust.mixture.options import (
    MixtureCall,
    VariationalBernoulliCall,
    VariationalGaussianCall,
    VariationalMultinomialCall,
)
from refclust.numbers.reading import shown

_BELIEFS: Final[Mapping[str, tuple[Callable[..., AnyFit], type[MixtureCall]]]] = {
    "gaussian": (variational_gaussian, VariationalGaussianCall),
    "multinomial": (variational_multinomial, VariationalMultinomialCall),
    "bernoulli": (variational_bernoulli, VariationalBernoulliCall),
}


def _fit_of(model: Model, criterion: str) -> tuple[Callable[..., AnyFit], type]:
    """Who fits a mixture for a criterion, and what that takes."""
    if criterion not in OF_BELIEFS:
        kind = record(model)

        def fitted(data: Any, k: int, **options: Any) -> AnyFit:
            return finished(begun_by(kind, kind.call(data=data, k=k, **options)))

        return fitted, kind.call
    if model not in _BELIEFS:
        raise BadOption(f"there is no evidence for {model}; it goes with {', '.join(_BELIEFS)}")
    return _BELIEFS[model]


@takes(SelectCall)
def select(call: SelectCall) -> Selection:
    """Fit a model for every K and every covariance asked for, and choose by a criterion.

    The usual criterion is BIC. Clusters, of k-means or of trees, are judged by several criteria,
    and the first of them decides: ``verdicts`` has what each of them says. ``folds`` belongs to
    ``cv``, ``references`` and ``gap_rule`` to ``gap``, ``pairs`` to ``stability``.
    ``covariance`` is a name, several, or ``all``: by evidence all that have a conjugate prior, and
    ``left_out`` says which have none. Mixtures begin five times, Gaussian ones first from k-means,
    then around random rows, unless ``start`` and ``restarts`` say otherwise, and stop when a row
    gains no more than 1e-6.

    Spec: MS-BIC, MS-AIC, MS-ICL, MS-CVLL, MS-VISEL, MS-IS, MS-BEST, MS-GAP, MS-STAB, MS-ELBOW

    >>> chosen = select([[0], [1], [2], [40], [41], [42]], k=[1, 2], covariance="tied")
    >>> chosen.why
    'smallest BIC 30.08; next EEE with K = 1 at 56.57'
    >>> chosen.best.name
    'EEE with K = 2'
    """
    model, ks = call.model, _numbers(call.k)
    gaps = call.missing == "integrate"
    if gaps and model != "gaussian":
        raise BadOption(f"missing='integrate' belongs to gaussian mixtures, not to {model}")
    rows = dataset(call.data, weights=call.weights, gaps=gaps)
    watch = call.after_candidate or (lambda _done, _all, _name: None)
    asked = criteria_of(call.criterion, model)
    if call.folds is not None and asked != ["cv"]:
        raise BadOption(f"folds belong to the criterion cv, not to {', '.join(asked) or model}")
    if model in CLUSTERS:
        _covariances(call.covariance, model, "")  # refuses what has no meaning
        kind: Any = CALLS[model]
        options = call.of_fits(kind)
        sets = 1 + call.references + 2 * call.pairs
        work = (max(ks), len(ks) * sets * options.get("restarts", 1))
        session = call.session or _session(call.backend, model, rows, work)
        fits = kind(data=rows, k=None, session=session, **options)
        return select_clusters(Clustering(model, fits), rows, sorted(ks), asked, call, watch)
    criterion = asked[0]
    fit, kind = _fit_of(model, criterion)
    options = call.of_fits(kind)
    shapes, left_out = _covariances(call.covariance, model, criterion)
    work = (max(ks), len(ks) * len(shapes) * options.get("restarts", 1))
    session = call.session or _session(call.backend, model, rows, work)
    dealt = folds(rows.n, call.folds, seed=call.seed) if criterion == "cv" else ()
    fitting = _Fitting(model, criterion, rows, session, fit, options, dealt)
    table = fitting.selection([(each, shape) for each in ks for shape in shapes], watch)
    return replace(table, left_out=left_out)


def criteria_of(asked: Any, model: Model) -> list[str]:
    """The criteria asked for, by their own names, each once, in order; for clusters maybe none.

    Spec: KM-KSEL

    >>> criteria_of("Calinski-Harabasz", "kmeans"), criteria_of(None, "gaussian")
    (['calinski_harabasz'], ['bic'])
    """

    def refusal() -> BadOption:
        return BadOption(f"criterion is {shown(asked)}; a name, or several of them, are needed")

    listed = [] if asked is None else [asked] if isinstance(asked, str) else items(asked, refusal)
    if not all(isinstance(name, str) for name in listed) or (asked is not None and not listed):
        raise refusal()
    own = {name.lower().replace("-", "_"): name for name in (*TITLES, *OF_CLUSTERS)}
    names = list(dict.fromkeys(own.get(each.lower().replace("-", "_"), each) for each in listed))
    allowed = OF_CLUSTERS if model in CLUSTERS else tuple(TITLES)
    for name in names:
        if name not in own.values():
            raise BadOption(f"criterion is {shown(name)}; allowed are {', '.join(allowed)}")
        if name not in allowed:
            raise BadOption(
                f"the criterion {name} does not go with {model}; allowed are {', '.join(allowed)}"
            )
    if model not in CLUSTERS and len(names) > 1:
        raise BadOption(f"{', '.join(names)}: one criterion decides between mixtures")
    return names or ([] if model in CLUSTERS else ["bic"])


def _session(
    backend: str | None,
    model: Model,
    rows: Dataset,
    work: tuple[int, int],  # the largest number of components, and how many runs
) -> Session:
    """A session that knows how much work is coming, so that a fast backend pays."""
    session, (most, runs) = Session(backend), work
    centred = ("kmeans.lloyd_step", "seeding.potential")
    leaders = dict.fromkeys(CLUSTERS, centred) | {"gaussian": ("gaussian.em_step",)}
    problem = Problem(rows.kind, rows.n, len(rows.matrix.values), most, runs * USUAL)
    for kernel in leaders.get(model, ("multinomial.em_step",)):
        session.bound_to(kernel, problem)
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

    def selection(self, asked: Sequence[tuple[int, str | None]], watch: Watcher) -> Selection:
        """Fit all candidates; only the fit of the best one so far is kept."""
        candidates: list[Candidate] = []
        kept: AnyFit | None = None
        best: tuple[float, int] | None = None
        first: DataError | None = None
        for k, shape in asked:
            try:
                candidate, fit = self._candidate(k, shape)
            except DataError as error:
                first = first or error
                candidate = failed(k, shape, error)
            else:
                if best is None or rank(candidate, self.criterion) < best:
                    best, kept = rank(candidate, self.criterion), fit
            candidates.append(candidate)
            watch(len(candidates), len(asked), candidate.name)
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
        candidate = Candidate(
            k,
            shape,
            log_likelihood=None if bounded else fit.log_likelihood,
            free_parameters=fit.free_parameters,
            iterations=fit.iterations,
            limit=fit.options["limit"] if fit.stopped == "limit" else None,
            used=used,
            values=values,
            doubts=doubts,
        )
        return candidate, fit

    def _sampled(self, fit: Any) -> tuple[dict[str, float], tuple[str, ...]]:
        """The log evidence by importance sampling, its error, the tail index, and all doubts."""
        seed = self.options.get("seed", 0)
        sampled = importance_sampling(fit, self.rows, seed=seed, session=self.session)
        values = {"importance": sampled.log_evidence, "importance-error": sampled.standard_error}
        if sampled.pareto_k is not None:
            values["pareto-k"] = sampled.pareto_k
        return values, sampled.doubts


def in_use(sizes: Iterable[float]) -> int:
    """How many components have the weight of at least one row.

    Spec: MS-VIPRUNE

    >>> in_use([97.5, 2.25, 0.25])
    2
    """
    return len([size for size in sizes if size >= 1])


def _values(fit: AnyFit, rows: Dataset, session: Session) -> dict[str, float]:
    costs = criteria.criteria(fit, rows, session=session)
    return {"bic": costs.bic, "aic": costs.aic, "icl": costs.icl, "icl-soft": costs.icl_soft}


def _numbers(k: Any) -> list[int]:
    """The numbers of components asked for, each once, in order."""

    def refusal() -> BadOption:
        return BadOption(f"k is {shown(k)}; a whole number, or several of them, are needed")

    if isinstance(k, str | Mapping):
        raise refusal()
    asked: dict[int, None] = {}
    k = plain_number(k)
    for number in map(plain_number, (k,) if isinstance(k, int) else iterator(k, refusal)):
        whole("k", number, 1)
        within("runs", len(asked), f"k={shown(k)}, with more than {len(asked):,} numbers,")
        asked[number] = None
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
        if listed != ["full"] and model not in CLUSTERS:
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

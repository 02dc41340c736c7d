"""``refclust explain em``: one iteration of EM worked through with the user's numbers."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Final

from refclust.cli.commands.explain.model import centres_in_units, fitted_to, in_units, opened
from refclust.cli.show.pieces import Form, Formula, Piece, Title, Words, number, rendered
from refclust.cli.show.tables import Table, in_latex
from refclust.errors import BadOption, MissingValue

if TYPE_CHECKING:
    from refclust.data.dataset import Dataset
    from refclust.mixture.predict import Parameters
    from refclust.mixture.results import MixtureFit
    from refclust.mixture.theory import Decomposition
    from refclust.models.records.clusters import MixtureModel

_UNSAMPLED: Final = ("em", "hard", "top", "generalized")


def explain_em(
    path: str | None, data: str | None, *, row: int, form: Form, backend: str | None
) -> str:
    """Work one iteration through, from the parameters of a model on the rows of some data."""
    from refclust.models.records.clusters import MixtureModel

    model, rows = opened(
        "em", path, data, kind=MixtureModel, belongs="EM belongs to mixtures", row=row
    )
    return rendered(em_pieces(model, rows, row, backend), form)


def em_pieces(
    model: MixtureModel, rows: Dataset, row: int, backend: str | None = None
) -> Iterator[Piece]:
    """One iteration of EM from the parameters of a model."""
    if model.algorithm != model.family:
        raise BadOption(f"a {model.algorithm} model holds beliefs; EM belongs to mixtures")
    if rows.gaps:
        raise MissingValue(
            "cells are missing; an iteration is worked through on whole rows: leave the others out"
        )
    return Iteration.of(model, rows, row, backend).pieces()


@dataclass(frozen=True, slots=True)
class Iteration:
    """Everything one iteration computes."""

    model: MixtureModel
    data: Dataset
    row: int
    before: MixtureFit[Any]  # at the parameters of the model
    after: MixtureFit[Any]  # one M-step later
    joint: Sequence[Sequence[float]]
    q: Sequence[Sequence[float]]
    old: Decomposition
    new: Decomposition  # of the old shares and the new parameters

    @classmethod
    def of(cls, model: MixtureModel, data: Dataset, row: int, backend: str | None) -> Iteration:
        """Make the iteration with the loop itself, and take its numbers apart."""
        from refclust.kernels.mixtures.shared import HARD, SOFT, Rule, shares
        from refclust.mixture.theory import decomposition, log_joint
        from refclust.models.mixtures import parameters_of

        start, family = parameters_of(model), model.family
        before = _stepped(model, data, start, 0, backend)
        after = _stepped(model, data, start, 1, backend)
        joint = log_joint(start, data, family=family, backend=backend)
        chosen = model.params.variation
        rule = Rule(top=model.params.top) if chosen == "top" else HARD if chosen == "hard" else SOFT
        q = [shares(densities, rule).q for densities in joint]
        old = decomposition(q, start, data, family=family, backend=backend)
        new = decomposition(q, after.parameters, data, family=family, backend=backend)
        return cls(model, data, row, before, after, joint, q, old, new)

    @property
    def weights(self) -> list[float]:
        """The weight of every row."""
        weights = self.data.weights
        return [1.0] * self.data.n if weights is None else [*map(float, weights)]

    @property
    def counts(self) -> list[float]:
        """The weight of every component: sum of w q."""
        shares = zip(*self.q, strict=True)
        return [math.fsum(map(float.__mul__, self.weights, column)) for column in shares]

    def pieces(self) -> Iterator[Piece]:
        """The whole story."""
        from refclust.cli.commands.explain import em_steps as steps
        from refclust.cli.output import counted
        from refclust.cli.show.clusters import data_text

        same = fitted_to(self.model, self.data)
        yield Title(f"One iteration of EM for a {self.model.family} mixture")
        yield Words(
            f"{data_text(self.data)}, {counted(len(self.counts), 'component')}, "
            f"variation {self.variation}; from the parameters of the model to those of one "
            f"M-step. The rows are {'those' if same else 'not those'} that the model was "
            "fitted to" + ("; where it converged, little is left to gain." if same else ".")
        )
        yield from in_units(self.data, self.row)
        yield Title(f"E-step, row {self.data.row_name(self.row)}")
        yield from steps.expectation(self)
        yield from self._shared()
        yield Title("M-step")
        yield from steps.maximisation(self)
        means = enumerate(getattr(self.after.parameters, "means", ()))
        yield from centres_in_units(self.data, [(f"mean {k}", mean) for k, mean in means])
        yield Title("What was gained")
        yield from self._gained()

    @property
    def variation(self) -> str:
        """Which EM: that of the model, unless it draws components."""
        chosen = self.model.params.variation
        return chosen if chosen in _UNSAMPLED else "em"

    def _shared(self) -> Iterator[Piece]:
        """From log p(x, k) to responsibilities, the largest logarithm taken out."""
        joint, shares = self.joint[self.row], self.q[self.row]
        peak = max(joint)
        parts = [math.exp(x - peak) for x in joint]
        whole = math.fsum(parts)
        likelihood = peak + math.log(whole)
        numbers = number(peak), number(whole), number(likelihood)
        yield Formula(
            "log p(x) = m + log sum of exp(log p(x, k) - m)"
            f" = {numbers[0]} + log {numbers[1]} = {numbers[2]}",
            r"\log p(x) = m+\log\sum_k e^{\log p(x,k)-m} = "
            + rf"{in_latex(numbers[0])}+\log {in_latex(numbers[1])} = {in_latex(numbers[2])}",
        )
        yield Table(
            ["component", "log p(x, k)", "exp(… - m)", "responsibility"],
            [
                [str(k), number(x), number(part), number(share)]
                for k, (x, part, share) in enumerate(zip(joint, parts, shares, strict=True))
            ],
        )
        if self.variation in ("hard", "top"):
            kept = "the most probable component" if self.variation == "hard" else "the kept ones"
            yield Words(f"The variation {self.variation} gives the row to {kept} only.")

    def _gained(self) -> Iterator[Piece]:
        """J, F, Q and what is certified of them."""
        old, new, ascent = self.old, self.new, self.after.runs[0].ascents[0]
        prior = [self.before.log_prior, self.after.log_prior]
        rows: list[tuple[str, float, str]] = [
            ("J before", old.log_likelihood, "log-likelihood, old parameters"),
            ("F", old.lower_bound, "bound, old shares and old parameters"),
            ("E", old.expected, "expected log p(X, Z), old parameters"),
            ("H", old.entropy, "entropy of the shares; F = E + H"),
            ("KL before", old.divergence, "shares from posteriors; J = F + KL"),
            ("Q", new.lower_bound, "bound, old shares and new parameters"),
            ("J after", new.log_likelihood, "log-likelihood, new parameters"),
            ("KL after", new.divergence, "old shares from new posteriors; J = Q + KL"),
        ]
        if any(prior):
            rows += [
                ("log prior before", prior[0], "belongs to J, F and Q in the gains below"),
                ("log prior after", prior[1], "of the new parameters"),
            ]
        yield Formula(
            "J after >= Q >= J before, J = F + KL for any shares",
            r"J(\theta')\ge Q(\theta,\theta')\ge J(\theta),\qquad J=F+\mathrm{KL}",
        )
        yield Table(
            ["quantity", "value", "what it is"],
            [[name, f"{value:.15g}", what] for name, value, what in rows],
            words=frozenset((0, 2)),
        )
        objective = "the bound F" if self.variation in ("hard", "top") else "J"
        yield Table(
            ["gain", "value"],
            [
                ["of the M-step, Q less the old objective", number(ascent.maximisation)],
                ["of the next E-step, the new objective less Q", number(ascent.expectation)],
                ["what rounding may have done to either", f"{ascent.rounding:.2g}"],
            ],
        )
        promised = "" if objective == "J" else " Of J nothing is promised."
        yield Words(f"The objective, {objective}: {ascent.verdict}.{promised}")


def _stepped(
    model: MixtureModel, data: Dataset, start: Parameters, limit: int, backend: str | None
) -> MixtureFit[Any]:
    """The fit of the model again, from its own parameters, for so many iterations."""
    from refclust.fitting.options import members
    from refclust.mixture.families.named import record
    from refclust.mixture.fit import begun_by, finished

    params = model.params
    options: dict[str, Any] = {"parameters": start, "limit": limit, "tolerance": 0.0}
    options |= {"backend": backend, "trace": "scalars"}
    if params.variation in _UNSAMPLED:
        options["variation"] = params.variation
        options |= {"top": params.top} if params.variation == "top" else {}
        options |= {"damping": params.damping} if params.variation == "generalized" else {}
    kind = record(model.family)
    settings = {name: x for name, x in asdict(params.settings).items() if x is not None}
    options |= {name: x for name, x in settings.items() if name in members(kind.call)}
    return finished(begun_by(kind, kind.call(data=data, **options)))

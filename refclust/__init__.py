"""refclust: the executable specification of clustering and its evaluation.

>>> import refclust
>>> score = refclust.nmi(["x", "x", "y", "y"], [1, 1, 1, 2])
>>> score
Score(0.34559202994421134)
>>> score.spec
('NMI-GEO',)

Importing the package loads nothing; the public names below are loaded when first used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from refclust.version import SPEC_VERSION as SPEC_VERSION
from refclust.version import __version__ as __version__

if TYPE_CHECKING:
    from refclust.backends.plugins.formats import read as read
    from refclust.classify.crossval import crossval as crossval
    from refclust.classify.discriminants import lda as lda
    from refclust.classify.discriminants import nearest_gaussian as nearest_gaussian
    from refclust.classify.discriminants import qda as qda
    from refclust.classify.naive_bayes import naive_bayes as naive_bayes
    from refclust.cluster.bisecting import bisecting as bisecting
    from refclust.cluster.fit import kmeans as kmeans
    from refclust.cluster.fit import kmeans_steps as kmeans_steps
    from refclust.cluster.hierarchical import agglomerative as agglomerative
    from refclust.data.accepting.door import dataset as dataset
    from refclust.data.dataset import Dataset as Dataset
    from refclust.data.preparing.call import prepare as prepare
    from refclust.errors import RefclustError as RefclustError
    from refclust.fitting.checkpoint import Checkpoint as Checkpoint
    from refclust.formulas.information import entropy as entropy
    from refclust.formulas.information import joint_mutual_information as joint_mutual_information
    from refclust.formulas.information import kl as kl
    from refclust.metrics import *  # noqa: F403
    from refclust.metrics.calls.classes import classification_report as classification_report
    from refclust.metrics.calls.classes import per_class as per_class
    from refclust.metrics.calls.confusions import confusion as confusion
    from refclust.metrics.calls.label_sets import label_sets as label_sets
    from refclust.metrics.calls.labelings import score_all as score_all
    from refclust.metrics.calls.probabilities import probabilities as probabilities
    from refclust.metrics.contingency import contingency as contingency
    from refclust.mixture.certified import certified_log_likelihood as certified_log_likelihood
    from refclust.mixture.choosing.selection import select as select
    from refclust.mixture.families.named.bernoulli import bernoulli_mixture as bernoulli_mixture
    from refclust.mixture.families.named.bernoulli import bernoulli_steps as bernoulli_steps
    from refclust.mixture.families.named.gaussian import gaussian_mixture as gaussian_mixture
    from refclust.mixture.families.named.gaussian import gaussian_steps as gaussian_steps
    from refclust.mixture.families.named.geometric import geometric_mixture as geometric_mixture
    from refclust.mixture.families.named.geometric import geometric_steps as geometric_steps
    from refclust.mixture.families.named.multinomial import (
        multinomial_mixture as multinomial_mixture,
    )
    from refclust.mixture.families.named.multinomial import multinomial_steps as multinomial_steps
    from refclust.mixture.families.named.poisson import poisson_mixture as poisson_mixture
    from refclust.mixture.families.named.poisson import poisson_steps as poisson_steps
    from refclust.mixture.sample import sample as sample
    from refclust.mixture.theory import decomposition as decomposition
    from refclust.mixture.theory import lower_bound as lower_bound
    from refclust.models.classifiers import load_model as load_model
    from refclust.models.classifiers import save_model as save_model
    from refclust.models.predict import predict as predict
    from refclust.numbers.real import Real as Real

_HOMES: Final = {
    "Checkpoint": "refclust.fitting.checkpoint",
    "Dataset": "refclust.data.dataset",
    "agglomerative": "refclust.cluster.hierarchical",
    "bisecting": "refclust.cluster.bisecting",
    "certified_log_likelihood": "refclust.mixture.certified",
    "dataset": "refclust.data.accepting.door",
    "decomposition": "refclust.mixture.theory",
    "kmeans": "refclust.cluster.fit",
    "kmeans_steps": "refclust.cluster.fit",
    "lda": "refclust.classify.discriminants",
    "load_model": "refclust.models.classifiers",
    "lower_bound": "refclust.mixture.theory",
    "naive_bayes": "refclust.classify.naive_bayes",
    "nearest_gaussian": "refclust.classify.discriminants",
    "predict": "refclust.models.predict",
    "prepare": "refclust.data.preparing.call",
    "qda": "refclust.classify.discriminants",
    "read": "refclust.backends.plugins.formats",
    "sample": "refclust.mixture.sample",
    "save_model": "refclust.models.classifiers",
    "select": "refclust.mixture.choosing.selection",
    "RefclustError": "refclust.errors",
    "classification_report": "refclust.metrics.calls.classes",
    "confusion": "refclust.metrics.calls.confusions",
    "contingency": "refclust.metrics.contingency",
    "label_sets": "refclust.metrics.calls.label_sets",
    "per_class": "refclust.metrics.calls.classes",
    "probabilities": "refclust.metrics.calls.probabilities",
    "crossval": "refclust.classify.crossval",
    "entropy": "refclust.formulas.information",
    "joint_mutual_information": "refclust.formulas.information",
    "kl": "refclust.formulas.information",
    "score_all": "refclust.metrics.calls.labelings",
    "Real": "refclust.numbers.real",
}


def __getattr__(name: str) -> Any:
    import importlib  # here, so that importing refclust stays free

    if name.startswith("_"):
        raise AttributeError(f"module 'refclust' has no attribute {name!r}")
    place = _HOMES.get(name) or _of_family(name) or "refclust.metrics"
    home = importlib.import_module(place)
    if place == "refclust.metrics" and name not in home.__all__:
        raise AttributeError(f"module 'refclust' has no attribute {name!r}")
    value = getattr(home, name)
    globals()[name] = value
    return value


def _of_family(name: str) -> str | None:
    """Where ``poisson_mixture`` and ``poisson_steps`` stand, and those of the other families."""
    family, _, what = name.rpartition("_")
    if what not in ("mixture", "steps"):
        return None
    from refclust.mixture.families.named import names

    return f"refclust.mixture.families.named.{family}" if family in names() else None


def __dir__() -> list[str]:
    from refclust import metrics
    from refclust.mixture.families.named import names

    fits = [f"{family}_{what}" for family in names() for what in ("mixture", "steps")]
    return sorted({*globals(), *_HOMES, *metrics.__all__, *fits})

"""Profiles: what other libraries print, as rules pinned to a version (chapter 00, CONV-PROFILE).

A profile changes a value only by convention: other defaults, another answer where ours is
undefined, a case the library treats by itself. Rounding accidents, overflows and single precision
are not imitated; ``QUIRKS`` lets an explanation quote them. Each module beside this one holds the
rules of one kind of metric; here they are gathered library by library.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final

from refclust.errors import UnknownProfile
from refclust.metrics.profiles import classification, external, internal, internal_pairs
from refclust.metrics.profiles.rules import Profile as Profile
from refclust.metrics.profiles.rules import Quirk
from refclust.numbers.reading import shown

_LIBRARIES: Final = (
    ("sklearn", "scikit-learn", "1.9.1"),
    ("genieclust", "genieclust", "1.3.0"),
    ("torchmetrics", "torchmetrics", "1.9.0"),
    ("clustercrit", "clusterCrit", "1.3.0"),
    ("mclust", "mclust", "6.0.0"),
    ("permetrics", "permetrics", "2.1.0"),
    ("pycm", "pycm", "4.6"),
    ("fpc", "fpc", "2.2-10"),
    ("cluster", "cluster", "2.1.4"),
)
_KINDS: Final = (external, internal, internal_pairs, classification)

PROFILES: Final[Mapping[str, Profile]] = MappingProxyType(
    {
        name: Profile(
            name,
            library,
            version,
            {metric: rule for kind in _KINDS for metric, rule in kind.RULES.get(name, {}).items()},
        )
        for name, library, version in _LIBRARIES
    }
)

QUIRKS: Final[tuple[Quirk, ...]] = tuple(quirk for kind in _KINDS for quirk in kind.QUIRKS)


def find(name: str) -> Profile:
    """Return the profile with this name."""
    key: Any = name  # whatever a caller without types gave
    text = key.lower().replace("-", "").replace("_", "") if isinstance(key, str) else ""
    profile = PROFILES.get(text)
    if profile is None:
        raise UnknownProfile(
            f"no profile is called {shown(name)}; there are: {', '.join(PROFILES)}"
        )
    return profile

"""What a user asks to be done to the columns of a table (chapter 07)."""

from __future__ import annotations

from dataclasses import dataclass
from math import isfinite
from typing import Any, Literal, TypeAlias

from refclust.data.preparing.record import MISSING, RULES, UNSEEN, Rule, Unseen, one_of
from refclust.errors import BadOption
from refclust.numbers.reading import shown

Constants: TypeAlias = Literal["keep", "drop"]
# The last one is for whoever fits to do, and so no part of a preparation.
Policy: TypeAlias = Literal["refuse", "drop", "mean", "median", "integrate"]


@dataclass(frozen=True, slots=True)
class Asked:
    """How columns are to be prepared; what is not asked for is not done."""

    scale: Rule | Literal["none"] = "none"
    missing: Policy = "refuse"
    weight: float = 1.0  # of a category that a row has
    unseen: Unseen = "refuse"
    constants: Constants | None = None  # None: kept, unless columns are scaled or filled in

    def __post_init__(self) -> None:
        """Refuse what no column could be prepared by."""
        one_of("scale", self.scale, (*RULES, "none"))
        one_of("missing", self.missing, (*MISSING, "integrate"))
        one_of("unseen", self.unseen, UNSEEN)
        if self.constants is not None:
            one_of("constants", self.constants, ("keep", "drop"))
        if self.missing == "integrate" and self.scale != "none":
            raise BadOption(
                "missing cells are integrated over in the units of the file: no scale goes with it"
            )
        weight: Any = self.weight
        if (
            isinstance(weight, bool)
            or not isinstance(weight, int | float)
            or not (isfinite(weight) and weight > 0)
        ):
            raise BadOption(f"the weight of a category is {shown(weight)}; a number above 0 is due")

    @property
    def rule(self) -> Rule | None:
        """The rule of scaling, if there is one."""
        return None if self.scale == "none" else self.scale

    @property
    def without_constants(self) -> bool:
        """Whether columns that are constant are left out.

        Spec: PREP-CONSTANT
        """
        if self.constants is not None:
            return self.constants == "drop"
        return self.rule is not None or self.missing != "refuse"


NOTHING = Asked()

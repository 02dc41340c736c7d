"""How scores are written, as options of a command."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Final, Literal, TypeAlias

import typer

from refclust.errors import BadOption

Form: TypeAlias = Literal["text", "csv", "markdown", "latex", "json"]
DIGITS: Final = 4  # of values in Markdown and LaTeX

FormatOption = Annotated[Form, typer.Option("--format", help="How to write it.")]


@dataclass(frozen=True, slots=True)
class Writing:
    """What the user said about the output, as typed; every field is an option of its own."""

    form: FormatOption = "text"
    digits: Annotated[
        int | None,
        typer.Option(
            "--digits",
            metavar="N",
            min=1,
            max=40,
            help="Significant digits of values. [text: all; markdown, latex: 4]",
        ),
    ] = None
    draw: Annotated[
        bool, typer.Option("--draw", help="Draw the table of counts, shaded by shares of its rows.")
    ] = False
    verbose: Annotated[
        bool,
        typer.Option("--verbose", "-v", help="Add clauses, 40 digits and matchings."),
    ] = False
    as_json: Annotated[
        bool, typer.Option("--json", help="One JSON object instead of text; --format json.")
    ] = False

    @property
    def chosen(self) -> Form:
        """The form to write."""
        if self.as_json and self.form not in ("text", "json"):
            raise BadOption(f"--json and --format {self.form} are two forms; give one")
        return "json" if self.as_json else self.form

    def digits_of(self, form: Form) -> int | None:
        """How many digits values have; none: all that there are."""
        few = DIGITS if form in ("markdown", "latex") else None
        return few if self.digits is None else self.digits

    def check(self) -> None:
        """Refuse what the form that was asked for has no use for."""
        form = self.chosen
        if self.digits is not None and form in ("csv", "json"):
            raise BadOption(f"--digits: {form} has every digit there is")
        if form != "text" and (self.draw or self.verbose):
            option = "--draw" if self.draw else "--verbose"
            raise BadOption(f"{option} goes with text, not with {form}")

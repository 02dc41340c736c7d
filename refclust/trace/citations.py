"""Reads the ``Defines:`` and ``Spec:`` lines of a docstring (tracing, no chapter).

``Defines: PUR`` says that a function is the formula of a clause, and cites it, too. ``Spec: PUR,
PUR-F`` cites clauses. Both may go on in the next line after a comma. ``Spec: none (why)`` says
that a function realises no clause, and why.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from refclust.trace.clauses import ID

_LINE = re.compile(r"(Spec|Defines):(?: +(.*))?")
_IDS = re.compile(rf"{ID}(, *{ID})*")
_NONE = re.compile(r"none \((.+?)\)?\.?")


@dataclass(frozen=True, slots=True)
class Citations:
    """What a docstring cites; ``exempt`` is the reason to cite nothing, ``faults`` bad lines.

    ``defines`` are the clauses among ``ids`` whose formula this is.
    """

    ids: tuple[str, ...] = ()
    exempt: str = ""
    faults: tuple[str, ...] = ()
    defines: tuple[str, ...] = ()


def read(docstring: str) -> Citations:
    r"""Read all ``Defines:`` and ``Spec:`` lines of a docstring.

    >>> found = read("Share of the majority.\n\n    Defines: PUR\n    Spec: PUR-F\n")
    >>> found.ids, found.defines
    (('PUR', 'PUR-F'), ('PUR',))
    """
    ids: list[str] = []
    defines: list[str] = []
    exempt = ""
    faults: list[str] = []
    lines = [line.strip() for line in docstring.split("\n")]
    for number, line in enumerate(lines):
        match = _LINE.fullmatch(line)
        if match is None:
            continue
        word, cited = match[1], match[2] or ""
        following = iter(lines[number + 1 :])
        while cited.endswith(","):
            cited = f"{cited} {next(following, '')}"
        reason = _NONE.fullmatch(cited)
        if reason is not None and word == "Spec":
            exempt = reason[1]
        elif _IDS.fullmatch(cited):
            named = re.findall(ID, cited)
            ids.extend(named)
            defines.extend(named if word == "Defines" else ())
        else:
            faults.append(f"{word}: {cited}".strip())
    return Citations(
        tuple(dict.fromkeys(ids)), exempt, tuple(faults), tuple(dict.fromkeys(defines))
    )

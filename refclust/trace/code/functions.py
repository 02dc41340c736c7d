"""Finds what the package defines and what it cites, by reading and never by importing.

A definition is a function, a method or a class. Module docstrings cite chapters in prose and
do not count.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from refclust.trace import citations
from refclust.trace.code import numeric, source
from refclust.trace.code.modules import Module, walk

# The folders whose public functions are formulas.
NUMERIC_FOLDERS = frozenset(
    ["numbers", "formulas", "data", "kernels", "metrics", "cluster", "mixture", "classify"]
)


@dataclass(frozen=True, slots=True)
class Definition:
    """A function, method or class that cites something, or that owes a citation.

    ``kernel`` is its kernel name, if it is one; ``owes`` is true for kernels and for public
    numeric functions.
    """

    module: str
    qualname: str
    file: str
    line: int
    cites: citations.Citations
    kernel: str | None
    contract: bool
    owes: bool
    text: str

    @property
    def name(self) -> str:
        """The name by which locks know the definition."""
        return f"{self.module}:{self.qualname}"


def scan(modules: Sequence[Module]) -> list[Definition]:
    """Find all definitions of a package that cite a clause or owe a citation."""
    numbers = numeric.numeric_names(module.tree for module in modules)
    return [definition for module in modules for definition in _definitions(module, numbers)]


def _definitions(module: Module, numbers: frozenset[str]) -> Iterator[Definition]:
    public_module = module.folder in NUMERIC_FOLDERS and not any(
        part.startswith("_") for part in module.inside if part != "__init__"
    )
    for node, qualname in walk(module.tree):
        cites = citations.read(ast.get_docstring(node) or "")
        kernel, contract = _kernel(node)
        public_number = (
            public_module
            and not isinstance(node, ast.ClassDef)
            and not qualname.startswith("_")
            and "." not in qualname
            and not any(_called(decorator) == "overload" for decorator in node.decorator_list)
            and numeric.mentions(node.returns, numbers)
        )
        owes = public_number or kernel is not None
        if not owes and cites == citations.Citations():
            continue
        yield Definition(
            module=module.name,
            qualname=qualname,
            file=module.file,
            line=node.lineno,
            cites=cites,
            kernel=kernel,
            contract=contract,
            owes=owes,
            text=source.text(module.text, node),
        )


def _kernel(node: source.Definable) -> tuple[str | None, bool]:
    """Read ``@kernel("name", contract=…)``: the name, and whether a contract is given."""
    for decorator in node.decorator_list:
        match decorator:
            case ast.Call(args=[ast.Constant(value=str(name)), *_], keywords=keywords):
                if _called(decorator) == "kernel":
                    contracts = [keyword.value for keyword in keywords if keyword.arg == "contract"]
                    empty = [
                        isinstance(contract, ast.Constant) and contract.value is None
                        for contract in contracts
                    ]
                    return name, bool(contracts) and not any(empty)
    return None, False


def _called(decorator: ast.expr) -> str:
    match decorator:
        case ast.Call(func=func):
            return _called(func)
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name
    return ""

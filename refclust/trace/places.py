"""Where the parts of refclust lie: package, specification and tests (tracing, no chapter).

A checkout has ``refclust/``, ``spec/`` and ``tests/`` side by side. A wheel ships the
specification as ``refclust/_spec`` and has no tests.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from refclust.errors import BadSpec, NeedsCheckout

PACKAGE = "refclust"
CACHE_VARIABLE = "REFCLUST_CACHE_DIR"


@dataclass(frozen=True, slots=True)
class Places:
    """The folders that tracing reads; ``tests`` is None outside a checkout."""

    root: Path
    package: Path
    spec: Path
    tests: Path | None

    def name(self, path: Path) -> str:
        """Name a file as messages do: relative to the root, with forward slashes."""
        return path.relative_to(self.root).as_posix()


def locate(root: Path | None = None) -> Places:
    """Find the folders below ``root``, or around the running package.

    Raises ``bad-spec`` where there is no specification.
    """
    root = Path(__file__).resolve().parents[2] if root is None else Path(root).resolve()
    package = root / PACKAGE
    # A bare `spec/` or `tests/` beside the package proves nothing: other distributions put
    # folders of these names into site-packages. A pyproject.toml is only found in a checkout.
    if (root / "pyproject.toml").is_file() and (root / "spec").is_dir():
        tests = root / "tests"
        return Places(root, package, root / "spec", tests if tests.is_dir() else None)
    if (package / "_spec").is_dir():
        return Places(root, package, package / "_spec", None)
    raise BadSpec(
        f"no specification at {root}: neither spec/ beside pyproject.toml (a checkout) "
        f"nor {PACKAGE}/_spec (an installed package)"
    )


def checkout(root: Path | None = None) -> Places:
    """Find the folders of a checkout, tests included.

    Raises ``needs-checkout`` where there are no tests to read.
    """
    places = locate(root)
    if places.tests is None:
        raise NeedsCheckout(
            f"{places.root} holds no tests/ folder: this needs a checkout of refclust, "
            "an installed package does not ship the tests"
        )
    return places


def cache_folder() -> Path | None:
    """Where refclust keeps what can be worked out again; nowhere if nobody has a home.

    ``REFCLUST_CACHE_DIR``, else ``refclust`` in ``XDG_CACHE_HOME``, else in ``~/.cache``.
    """
    folder = os.environ.get(CACHE_VARIABLE)
    if folder:
        return Path(folder)
    # A path that is not absolute would be another folder wherever somebody stands: it counts as
    # none, as the rules of that variable say. Nor does everybody have a home.
    for home in (os.environ.get("XDG_CACHE_HOME", ""), os.path.expanduser("~/.cache")):
        if os.path.isabs(home):
            return Path(home, "refclust")
    return None


def spec_root(root: Path | None = None) -> Path:
    """Find the folder of the specification, in a checkout or in an installed package."""
    return locate(root).spec

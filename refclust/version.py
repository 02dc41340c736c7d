"""The versions of the package and of the specification it realises."""

from typing import Final

__version__: Final = "0.2.0"
SPEC_VERSION: Final = "2026.1"

"""The machinery behind ``Real``: enclosures, normal forms, decisions, derivations (chapter 05)."""

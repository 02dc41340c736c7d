"""Arithmetic as it is mostly done, which saboteurs answer with (chapter 81)."""

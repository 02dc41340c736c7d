"""Checks of the kit that have a room of their own (chapter 81)."""

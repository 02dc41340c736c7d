"""Saboteurs whose fault shows on most calls: the short kit rejects them (chapter 81)."""

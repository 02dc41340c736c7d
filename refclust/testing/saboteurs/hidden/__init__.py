"""Saboteurs whose fault shows on few calls: only the long kit rejects them (chapter 81)."""

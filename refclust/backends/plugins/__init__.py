"""Plugins: found, loaded and asked under guard (chapter 80, BK-GUARD)."""

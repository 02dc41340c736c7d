"""The course of a fit: what is taken down of its passes, judged, kept and mended (chapter 30)."""

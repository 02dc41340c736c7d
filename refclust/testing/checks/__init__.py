"""The checks of the conformance kit that are no rungs: sessions, threads, memory (chapter 81)."""

"""Models as JSON text, always the same text for the same model (MODEL-DOC)."""

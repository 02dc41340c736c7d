"""Tables as people have them into rows of doubles: filled in, encoded, scaled (chapter 07)."""

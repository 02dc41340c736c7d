"""How results show themselves where HTML is read, a notebook above all (chapter 06)."""

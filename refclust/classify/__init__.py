"""The supervised twins of the mixtures."""

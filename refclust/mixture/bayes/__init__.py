"""Beliefs about mixtures: variational bounds on the evidence, importance sampling (chapter 34)."""

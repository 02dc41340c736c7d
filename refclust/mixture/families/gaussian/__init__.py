"""Gaussian mixtures: their parameters, their steps, and the numbers they can carry (chapter 32)."""

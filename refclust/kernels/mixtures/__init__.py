"""The kernels of mixtures: passes over rows under K densities (chapters 30 to 32)."""

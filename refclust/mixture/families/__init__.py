"""The families of mixtures: what the one EM loop needs to know of each (chapters 30 to 32)."""

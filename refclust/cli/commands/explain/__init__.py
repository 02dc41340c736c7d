"""``refclust explain``: derivations with the user's own numbers."""

"""refclust: data."""

"""refclust: cli."""

"""refclust: testing."""

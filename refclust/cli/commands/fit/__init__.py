"""``refclust fit``: clusters, mixtures, classifiers; what a fit writes, and how it runs."""

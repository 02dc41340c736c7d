"""Clustering: seeding, k-means, hierarchies, and what a fit returns (chapters 10 and 20)."""

"""K-means over sparse rows."""

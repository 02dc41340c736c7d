"""K-means over dense rows: the ladder from single precision to integers."""

"""The kernels of k-means and its starts (chapter 10)."""

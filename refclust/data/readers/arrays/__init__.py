"""Arrays of NumPy: single files and archives, read without NumPy."""

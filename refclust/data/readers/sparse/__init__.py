"""Text formats of sparse rows: SVMlight, Matrix Market, and bags of words."""

"""The door for data given in Python, and what stands behind it (DATA-ACCEPT of chapter 09)."""

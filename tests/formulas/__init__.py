"""The formula room: its functions, and what is held to them."""

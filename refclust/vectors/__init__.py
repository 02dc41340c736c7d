"""Golden vectors: reading them, answering them, judging anybody's answers."""

"""Files and streams: read once, written whole or not at all (DATA-SOURCE, DATA-FILE)."""

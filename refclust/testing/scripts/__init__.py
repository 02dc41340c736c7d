"""Scripts of calls: what the reference does, call by call, and backends after it (chapter 81)."""

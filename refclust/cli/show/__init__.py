"""What commands show: summaries for people, objects for programs."""

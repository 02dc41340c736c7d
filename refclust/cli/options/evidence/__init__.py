"""What metrics are given: options and files that become evidence."""

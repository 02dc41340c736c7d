"""The commands that read the specification, and those that prove what it promises."""

"""Random fits of every family on accelerated backends, held against the reference."""

"""The kits: golden vectors for implementers, conformance checks for backends."""

"""Sources as tracing sees them: modules, functions, what calls what, and an index of it all."""

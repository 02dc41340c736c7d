"""What touches memory and registers: the build, vectors, compiled code, threads."""

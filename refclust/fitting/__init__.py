"""What every fit shares: rows, draws, checks of options, memory, checkpoints."""

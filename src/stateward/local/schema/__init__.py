"""What a kind may hold: schemas, defaults, pruning, rules."""

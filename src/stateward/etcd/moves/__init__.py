"""Do: one short verb for each move."""

"""What steps have in common: how they ask, write, mark and wait."""

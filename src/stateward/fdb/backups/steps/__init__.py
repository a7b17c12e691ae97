"""The steps of a pass over a backup."""

"""Kinds that somebody adds: what their definitions must be like, and what they ask of objects."""

"""Drills of backups: what is seen of one, past the cache, and what is made and deleted for it."""

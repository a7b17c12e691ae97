"""Backups and restores of a database: what we ask of it, and the programs that do it."""

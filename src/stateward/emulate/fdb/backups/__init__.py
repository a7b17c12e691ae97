"""Backups and restores of the model: who asked for them, agents that do them, and their files."""

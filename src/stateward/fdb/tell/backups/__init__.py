"""What is told of backups and restores: their status, derived from what was seen. Pure."""

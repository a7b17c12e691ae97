"""Laws of backups and restores: what is begun, paused, deleted, let go, and said to be back."""

"""What a database tells of its backups and restores, and where backups lie. Pure."""

"""What databases say of backups and restores, read into values. Pure."""

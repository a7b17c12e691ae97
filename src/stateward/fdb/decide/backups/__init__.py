"""What is to be done about a backup, and about a restore: judged from what was seen. Pure."""

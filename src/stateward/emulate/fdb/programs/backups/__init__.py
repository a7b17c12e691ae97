"""fdbbackup, fdbrestore and backup_agent as programs, and who answers them."""

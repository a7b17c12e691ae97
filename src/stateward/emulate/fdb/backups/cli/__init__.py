"""fdbbackup and fdbrestore: what is typed, what is done about it, and what they print."""

"""Files of backups that go: all with their object, or what is too old; beside everything else."""

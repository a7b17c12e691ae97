"""A stand-in for FoundationDB: one model of a database, behind the commands of the real one."""

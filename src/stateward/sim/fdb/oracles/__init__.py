"""What is asked of a whole life of FoundationDB: how it ends, and what was done in it."""

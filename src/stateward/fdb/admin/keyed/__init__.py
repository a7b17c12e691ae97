"""Keys of a database: the lock that operators share, and transactions by programs."""

"""F-S1 to F-S5 and C-*: operators that share a database, its lock, and what they say."""

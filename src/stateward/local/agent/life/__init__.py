"""The life of one pod: its containers, when they restart, and what its status says."""

"""What befalls a cluster of FoundationDB, and what people do to it; by name."""

"""What may be wrong with a FoundationDBCluster, topic by topic."""

"""What people are told of a cluster: conditions, blockers, what it is doing. Pure."""

"""Values that a cluster is seen as. Pure."""

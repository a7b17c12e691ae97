"""The objects that a cluster is made of, as documents. Pure."""

"""Built-in Kubernetes kinds, reduced to the fields that we read."""

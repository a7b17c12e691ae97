"""Controllers of StatefulSets, Deployments, Jobs."""

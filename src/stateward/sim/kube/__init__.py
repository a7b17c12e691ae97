"""A Kubernetes cluster around the store: its controllers, and nodes that run models of programs."""
